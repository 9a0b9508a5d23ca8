/** A server on loopback that speaks as much of Anthropic's Messages API as a tool loop needs. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Turn } from "./scene.js";

/** A request as it arrived. */
export interface MessagesRequest {
  readonly messages: readonly unknown[];
  readonly tools?: readonly unknown[];
  readonly stream?: boolean;
  readonly thread?: unknown;
}

/** The server, and its requests. */
export interface MessagesServer {
  readonly url: string;
  readonly requests: MessagesRequest[];
  /** The calls that the model makes from now on, one a turn. */
  play(turns: readonly Turn[]): void;
  close(): void;
}

/** Starts it. `named`: what the client calls a tool of ours. */
export async function messagesServer(
  named: (tool: string) => string = (tool) => tool,
): Promise<MessagesServer> {
  const requests: MessagesRequest[] = [];
  let left: readonly Turn[] = [];
  let calls = 0;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (!request.url?.includes("/v1/messages") || request.url.includes("count_tokens")) {
      response.writeHead(request.url?.includes("count_tokens") ? 200 : 404, {
        "content-type": "application/json",
      });
      response.end('{"input_tokens":1}');
      return;
    }
    const asked = JSON.parse(body) as MessagesRequest;
    // A client may send other requests, such as for a title: only those of the loop have tools, or continue a thread.
    const inLoop = (asked.tools?.length ?? 0) > 0 || asked.thread !== undefined;
    if (inLoop) requests.push(asked);
    const [turn, ...rest] = inLoop ? left : [];
    if (inLoop) left = rest;
    calls += 1;
    const content =
      turn === undefined
        ? [{ type: "text", text: "Done." }]
        : [{ type: "tool_use", id: `toolu_${calls}`, name: named(turn.tool), input: turn.args }];
    const message = {
      id: `msg_${calls}`,
      type: "message",
      role: "assistant",
      model: "script",
      content,
      stop_reason: turn === undefined ? "end_turn" : "tool_use",
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    if (asked.stream !== true) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(message));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (type: string, data: object): void => {
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    };
    send("message_start", { message: { ...message, content: [], stop_reason: null } });
    for (const [index, block] of content.entries()) {
      const { input, text, ...bare } = block as { input?: unknown; text?: string; type: string };
      const start = block.type === "text" ? { ...bare, text: "" } : { ...bare, input: {} };
      send("content_block_start", { index, content_block: start });
      const delta =
        block.type === "text"
          ? { type: "text_delta", text }
          : { type: "input_json_delta", partial_json: JSON.stringify(input) };
      send("content_block_delta", { index, delta });
      send("content_block_stop", { index });
    }
    send("message_delta", {
      delta: { stop_reason: message.stop_reason, stop_sequence: null },
      usage: { output_tokens: 1 },
    });
    send("message_stop", {});
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    play(turns) {
      left = turns;
    },
    close: () => server.closeAllConnections(),
  };
}
