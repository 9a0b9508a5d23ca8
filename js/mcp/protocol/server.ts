/**
 * A server of the Model Context Protocol, by the SDK: assigns each request to the function that answers it.
 * Transports, and state that outlives a connection, are in other modules.
 */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { describeServer } from "./direct.ts";
import { callSignal, callTool, listTools, NO_DIRECTORY_MESSAGE, type SharedRequestParts } from "./call.ts";
import { getPrompt, listPrompts } from "./prompts.ts";
import { completePath, listResources, readResource, FILE_TEMPLATE } from "./resources.ts";
import type { ServedWorkspace } from "../host.ts";
import { ProtocolError, ProtocolErrorCode, Server, type ServerContext } from "./sdk.ts";
import type { ResourceWatch } from "./watch.ts";

/** The dependencies of a server for one connection or one request. */
export interface ServerParts extends SharedRequestParts {
  readonly version: string;
  /** Watches resources to which the client has subscribed; undefined when it cannot subscribe. */
  readonly watch?: ResourceWatch | undefined;
  /** True when each request can state a log level. */
  readonly logsRequests?: boolean | undefined;
  /**
   * Called before a request that needs the directories, so that they can first be replaced by the client's
   * roots.
   */
  readonly before?: ((context: ServerContext, server: Server) => Promise<unknown>) | undefined;
}

/** The key under which a request of the newer protocol revision states the client's capabilities. */
const CLIENT_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

/** Returns the capabilities of the client: those that the request states, or those of the handshake. */
export function clientCapabilitiesOf(
  context: ServerContext,
  server: Server,
): Readonly<Record<string, unknown>> {
  const envelope = context.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  return (envelope?.[CLIENT_CAPABILITIES_KEY] ?? server.getClientCapabilities() ?? {}) as Readonly<
    Record<string, unknown>
  >;
}

/** Creates the server. */
export function makeMcpServer(parts: ServerParts): Server {
  const { host, watch, approvals, clientLog } = parts;
  const { serverInfo, capabilities, instructions } = describeServer(parts, parts.version, {
    subscribe: watch !== undefined,
    logging: clientLog !== undefined || parts.logsRequests === true,
  });
  const server = new Server(
    serverInfo,
    withoutUndefined({
      capabilities,
      instructions,
      requestState: approvals === undefined ? undefined : { verify: approvals.verify },
    }),
  );
  const served = async (): Promise<ServedWorkspace> => {
    const found = await host.workspace();
    if (found === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, NO_DIRECTORY_MESSAGE);
    return found;
  };

  server.setRequestHandler("tools/list", async () => ({ tools: (await listTools(parts)) as never }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const first = await parts.before?.(context, server);
    if (first !== undefined) return first as never;
    const canAsk = clientCapabilitiesOf(context, server)["elicitation"] !== undefined;
    const call = withShutdownSignal(context, parts.ending);
    const round = await approvals?.begin(call, canAsk);
    return (await callTool(parts, params.name, params.arguments ?? {}, {
      mcpReq: call.mcpReq,
      round,
    })) as never;
  });
  server.setRequestHandler("resources/list", async ({ params }, { mcpReq }) => {
    const found = await host.workspace();
    if (found === undefined) return { resources: [] };
    return (await listResources(found, params?.cursor, mcpReq.signal)) as never;
  });
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [FILE_TEMPLATE] }));
  server.setRequestHandler("resources/read", async ({ params }, { mcpReq }) => ({
    contents: [await readResource(await served(), params.uri, mcpReq.signal)],
  }));
  server.setRequestHandler("prompts/list", async () => {
    const found = await host.workspace();
    return { prompts: found === undefined ? [] : (listPrompts(found) as never) };
  });
  server.setRequestHandler("prompts/get", async ({ params }, { mcpReq }) => {
    const prompt = await getPrompt(await served(), params.name, params.arguments ?? {}, mcpReq.signal);
    return prompt as never;
  });
  server.setRequestHandler("completion/complete", async ({ params }, { mcpReq }) => {
    const { ref, argument } = params;
    const ours =
      ref.type === "ref/resource" && ref.uri === FILE_TEMPLATE.uriTemplate && argument.name === "path";
    const values = ours ? await completePath(await served(), argument.value, mcpReq.signal) : [];
    return {
      completion: { values: values.slice(0, 100), total: values.length, hasMore: values.length > 100 },
    };
  });
  if (watch !== undefined) handleSubscriptions(server, watch);
  if (clientLog !== undefined)
    server.setRequestHandler("logging/setLevel", { params: ANY_PARAMS_SCHEMA }, (params) => {
      clientLog.setLevel((params as { readonly level?: unknown }).level);
      return {};
    });
  return server;
}

/**
 * A schema that accepts all parameters, because the log checks the level itself and suggests the nearest
 * name.
 */
const ANY_PARAMS_SCHEMA = {
  "~standard": { version: 1, vendor: "filewright", validate: (value: unknown) => ({ value }) },
} as const;

/** Returns a context whose signal also aborts when a server that shuts down stops waiting for calls. */
function withShutdownSignal(context: ServerContext, ending: AbortSignal | undefined): ServerContext {
  if (ending === undefined) return context;
  const signal = { value: callSignal(context.mcpReq.signal, ending) };
  return { ...context, mcpReq: Object.create(context.mcpReq, { signal }) as ServerContext["mcpReq"] };
}

/** Handles subscriptions over lasting connections. For single requests the transport handles them. */
function handleSubscriptions(server: Server, watch: ResourceWatch): void {
  const stops = new Map<string, () => void>();
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    if (stops.has(uri)) return {};
    const { ready, stop } = watch.add([uri]);
    stops.set(uri, stop);
    await ready;
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    stops.get(uri)?.();
    stops.delete(uri);
    return {};
  });
  const before = server.onclose;
  server.onclose = () => {
    before?.();
    for (const stop of stops.values()) stop();
  };
}
