/**
 * The part of the Model Context Protocol that a host in the same process needs for tools: initialise, list, call,
 * cancel, ping. The MCP server serves other clients.
 */
import { makeMessageHandler, UnknownToolError } from "../rpc/handler.ts";
import { toMcpContent } from "./content.ts";
import type { AdapterTool } from "./offer.ts";

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

/** Serves tools to one host. */
export function inProcessServer(
  info: { readonly name: string; readonly version: string },
  tools: readonly AdapterTool[],
): InProcessServer {
  let connected: InProcessTransport | undefined;
  const handler = makeMessageHandler(
    {
      initialize: () => ({ capabilities: { tools: {} }, serverInfo: info }),
      ping: () => ({}),
      "tools/list": async () => ({
        tools: tools.map(({ name, title, description, inputSchema, annotations }) => ({
          name,
          title,
          description,
          inputSchema,
          annotations,
        })),
      }),
      async "tools/call"({ name, args, params, signal }) {
        const tool = tools.find((one) => one.name === name);
        if (tool === undefined)
          throw new UnknownToolError(
            name,
            tools.map((one) => one.name),
          );
        const result = await tool.call(args, { signal, toolCall: params });
        return { content: toMcpContent(result), ...(result.ok ? {} : { isError: true }) };
      },
    },
    "refuse",
  );

  async function receive(message: unknown): Promise<void> {
    const reply = await handler.handle(message);
    if (reply !== undefined) await connected?.send(reply as never);
  }

  return {
    async connect(transport) {
      connected = transport;
      transport.onmessage = (message) => void receive(message).catch(() => undefined);
      transport.onclose = handler.close;
      await transport.start();
    },
    async close() {
      handler.close();
      await connected?.close();
      connected = undefined;
    },
  };
}
