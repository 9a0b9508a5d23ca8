/** Google GenAI SDK: automatic function calling against a loopback server that speaks its API. */
import { GoogleGenAI } from "@google/genai";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toGeminiTool } from "filewright/gemini";
import { CONVERSATION, done, ok, scene, TURNS, teaches, type Turn } from "./scene.js";

const answers = [false, true];
const stage = await scene({
  confirm: ({ tool }) =>
    tool !== "delete" || answers.shift() === true ? { outcome: "proceed_once" } : { outcome: "cancel" },
});
let left: readonly Turn[] = [];
const requests: { contents: unknown[]; tools: unknown }[] = [];
const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  requests.push(JSON.parse(body));
  const [turn, ...rest] = left;
  left = rest;
  const part =
    turn === undefined ? { text: "Done." } : { functionCall: { name: turn.tool, args: turn.args } };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(
    JSON.stringify({ candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP" }] }),
  );
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const ai = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl } });

async function loop(turns: readonly Turn[], signal?: AbortSignal): Promise<unknown> {
  left = turns;
  return ai.models.generateContent({
    model: "script",
    contents: "Five tries.",
    config: {
      tools: [toGeminiTool(stage.ws, { signal })],
      automaticFunctionCalling: { maximumRemoteCalls: 20 },
      ...(signal === undefined ? {} : { abortSignal: signal }),
    },
  });
}

await loop(CONVERSATION);
const shown = (call: number): string => JSON.stringify(requests[call]?.contents.at(-1)) ?? "";
ok("schema", JSON.stringify(requests[0]?.tools).includes('"parametersJsonSchema"'));
ok("list", shown(1).includes("[DIR] src"), shown(1));
ok("read", shown(2).includes("const retries = 3;"), shown(2));
ok("refused edit", shown(3).includes('"error":') && teaches(shown(3)), shown(3));
ok("corrected edit", shown(4).includes('"output":"Edited src/app.ts'), shown(4));
ok("image", shown(5).includes('"mimeType":"image/png"'), shown(5));
ok("outside", shown(6).includes("outside"), shown(6));
ok("denial", shown(7).includes('"error":'), shown(7));
ok("approval", !stage.log() && shown(8).includes('"output":'), shown(8));

const stop = new AbortController();
const held = loop([TURNS.held], stop.signal).catch(() => undefined);
await stage.held;
stop.abort();
await stage.cancelled;
await held;
ok("cancel", true);
server.closeAllConnections();
await done(stage);
