/**
 * One server of the Model Context Protocol over a host: which requests there are,
 * and who answers them. Transports, and what lasts longer than a connection, are
 * elsewhere.
 */
import { aboutServer } from "./about.ts";
import { callSignal, callTool, listTools, NO_DIRECTORY, type Serving } from "./call.ts";
import { getPrompt, listPrompts } from "./prompts.ts";
import { completePath, listResources, readResource, TEMPLATE } from "./resources.ts";
import type { Room } from "./host.ts";
import { ProtocolError, ProtocolErrorCode, Server, type ServerContext } from "./sdk.ts";
import type { Watch } from "./watch.ts";

/** What a server of one connection, or of one request, is made with. */
export interface ServerParts extends Serving {
  readonly version: string;
  /** Where subscriptions are possible. */
  readonly watch?: Watch | undefined;
  /** Before a request that needs the directories: learns them where the client knows better. */
  readonly before?: ((context: ServerContext, server: Server) => Promise<unknown>) | undefined;
}

/** The key of a request's envelope that tells what its client can do. */
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

/** What the client of a request can do: as the request says, or as it was said once. */
export function capabilitiesOf(context: ServerContext, server: Server): Readonly<Record<string, unknown>> {
  const envelope = context.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  return (envelope?.[CAPABILITIES] ?? server.getClientCapabilities() ?? {}) as Readonly<
    Record<string, unknown>
  >;
}

/** Makes the server. */
export function makeServer(parts: ServerParts): Server {
  const { host, watch, approvals } = parts;
  const { serverInfo, capabilities, instructions } = aboutServer(parts, parts.version, watch !== undefined);
  const server = new Server(serverInfo, {
    capabilities,
    instructions,
    ...(approvals === undefined ? {} : { requestState: { verify: approvals.verify } }),
  });
  const room = async (): Promise<Room> => {
    const found = await host.room();
    if (found === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, NO_DIRECTORY);
    return found;
  };

  server.setRequestHandler("tools/list", async () => ({ tools: (await listTools(parts)) as never }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const first = await parts.before?.(context, server);
    if (first !== undefined) return first as never;
    const canAsk = capabilitiesOf(context, server)["elicitation"] !== undefined;
    const call = withEnding(context, parts.ending);
    const round = approvals?.begin(call, canAsk);
    return (await callTool(parts, params.name, params.arguments ?? {}, call, round)) as never;
  });
  server.setRequestHandler("resources/list", async ({ params }, { mcpReq }) => {
    const found = await host.room();
    if (found === undefined) return { resources: [] };
    return (await listResources(found, params?.cursor, mcpReq.signal)) as never;
  });
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [TEMPLATE] }));
  server.setRequestHandler("resources/read", async ({ params }, { mcpReq }) => ({
    contents: [await readResource(await room(), params.uri, mcpReq.signal)],
  }));
  server.setRequestHandler("prompts/list", async () => {
    const found = await host.room();
    return { prompts: found === undefined ? [] : (listPrompts(found) as never) };
  });
  server.setRequestHandler("prompts/get", async ({ params }, { mcpReq }) => {
    const prompt = await getPrompt(await room(), params.name, params.arguments ?? {}, mcpReq.signal);
    return prompt as never;
  });
  server.setRequestHandler("completion/complete", async ({ params }, { mcpReq }) => {
    const { ref, argument } = params;
    const ours = ref.type === "ref/resource" && ref.uri === TEMPLATE.uriTemplate && argument.name === "path";
    const values = ours ? await completePath(await room(), argument.value, mcpReq.signal) : [];
    return {
      completion: { values: values.slice(0, 100), total: values.length, hasMore: values.length > 100 },
    };
  });
  if (watch !== undefined) subscriptions(server, watch);
  return server;
}

/** The context of a call that is also cancelled once an ending server waits no longer. */
function withEnding(context: ServerContext, ending: AbortSignal | undefined): ServerContext {
  if (ending === undefined) return context;
  const signal = { value: callSignal(context.mcpReq.signal, ending) };
  return { ...context, mcpReq: Object.create(context.mcpReq, { signal }) as ServerContext["mcpReq"] };
}

/** Subscriptions of connections that last; those of single requests are the transport's. */
function subscriptions(server: Server, watch: Watch): void {
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
