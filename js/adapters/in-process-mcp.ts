/**
 * The part of the Model Context Protocol that a host in the same process needs for tools:
 * initialise, list, call, cancel, ping. The MCP server serves other clients.
 */
import { toMcpContent } from "./content.ts";
import { revisionFor } from "./mcp-revisions.ts";
import type { AdapterTool } from "./offer.ts";

/** A message of JSON-RPC. */
interface Message {
  readonly jsonrpc: "2.0";
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** The transport that the host connects. */
export interface InProcessTransport {
  onmessage?: ((message: never) => void) | undefined;
  onclose?: (() => void) | undefined;
  start(): Promise<void>;
  send(message: never): Promise<void>;
  close(): Promise<void>;
}

/** A server without a process or a socket. */
export interface InProcessServer {
  connect(transport: InProcessTransport): Promise<void>;
  close(): Promise<void>;
}

const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;

/** Serves tools to one host. */
export function inProcessServer(
  info: { readonly name: string; readonly version: string },
  tools: readonly AdapterTool[],
): InProcessServer {
  let connected: InProcessTransport | undefined;
  const running = new Map<unknown, AbortController>();

  const answers: Readonly<Record<string, (message: Message) => unknown>> = {
    initialize: ({ params }) => ({
      protocolVersion: revisionFor(params?.["protocolVersion"]),
      capabilities: { tools: {} },
      serverInfo: info,
    }),
    ping: () => ({}),
    "tools/list": () => ({
      tools: tools.map(({ name, title, description, inputSchema, annotations }) => ({
        name,
        title,
        description,
        inputSchema,
        annotations,
      })),
    }),
    "tools/call": ({ id, params }) => call(id, params ?? {}),
  };

  async function call(id: unknown, params: Readonly<Record<string, unknown>>): Promise<unknown> {
    const tool = tools.find(({ name }) => name === params["name"]);
    if (tool === undefined) throw new RangeError(`unknown tool ${String(params["name"])}`);
    const stop = new AbortController();
    running.set(id, stop);
    try {
      const result = await tool.call(params["arguments"] ?? {}, { signal: stop.signal, toolCall: params });
      return {
        content: toMcpContent(result),
        ...(result.ok ? {} : { isError: true }),
      };
    } finally {
      running.delete(id);
    }
  }

  async function receive(message: Message): Promise<void> {
    const { id, method, params } = message;
    if (method === "notifications/cancelled") running.get(params?.["requestId"])?.abort();
    if (id === undefined || method === undefined) return;
    const answer = answers[method];
    const reply = (body: object): Promise<void> | undefined =>
      connected?.send({ jsonrpc: "2.0", id, ...body } as never);
    if (answer === undefined) {
      await reply({ error: { code: METHOD_NOT_FOUND, message: `unknown method ${method}` } });
      return;
    }
    try {
      await reply({ result: await answer(message) });
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      await reply({ error: { code: INVALID_PARAMS, message: said } });
    }
  }

  const stopAll = (): void => {
    for (const stop of running.values()) stop.abort();
  };

  return {
    async connect(transport) {
      connected = transport;
      transport.onmessage = (message) => void receive(message).catch(() => undefined);
      transport.onclose = stopAll;
      await transport.start();
    },
    async close() {
      stopAll();
      await connected?.close();
      connected = undefined;
    },
  };
}
