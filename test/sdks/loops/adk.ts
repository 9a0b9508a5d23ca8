/** Google's Agent Development Kit: its runner, with a scripted model and its confirmations. */
import {
  BaseLlm,
  type BaseLlmConnection,
  FunctionTool,
  InMemoryRunner,
  LlmAgent,
  type LlmRequest,
  type LlmResponse,
} from "@google/adk";
import type { Content, Part } from "@google/genai";
import { toAdkTools } from "filewright/adk";
import { done, OPENING, ok, scene, TURNS, teaches, type Turn } from "./scene.js";

const stage = await scene();

class Script extends BaseLlm {
  readonly requests: LlmRequest[] = [];
  left: readonly Turn[] = [];
  async *generateContentAsync(request: LlmRequest): AsyncGenerator<LlmResponse, void> {
    this.requests.push({ ...request, contents: structuredClone(request.contents) });
    const [turn, ...rest] = this.left;
    this.left = rest;
    const part: Part =
      turn === undefined ? { text: "Done." } : { functionCall: { name: turn.tool, args: { ...turn.args } } };
    yield { content: { role: "model", parts: [part] } };
  }
  connect(): Promise<BaseLlmConnection> {
    throw new Error("not live");
  }
}

const model = new Script({ model: "script" });
const tools = toAdkTools(stage.ws, FunctionTool, { approve: ({ tool }) => tool === "delete" });
const agent = new LlmAgent({ name: "coder", model, tools });
const runner = new InMemoryRunner({ agent, appName: "loop" });
const session = await runner.sessionService.createSession({ appName: "loop", userId: "me" });

/** Says something to the agent and gives the parts of all it answers. */
async function say(message: Part[], turns: readonly Turn[], abortSignal?: AbortSignal): Promise<Part[]> {
  model.left = turns;
  const parts: Part[] = [];
  const newMessage: Content = { role: "user", parts: message };
  for await (const event of runner.runAsync({
    userId: "me",
    sessionId: session.id,
    newMessage,
    ...(abortSignal === undefined ? {} : { abortSignal }),
  })) {
    parts.push(...(event.content?.parts ?? []));
  }
  return parts;
}

await say([{ text: "Five tries." }], OPENING);
const shown = (call: number): string => JSON.stringify(model.requests[call]?.contents.at(-1)) ?? "";
const declared = JSON.stringify(model.requests[0]?.config?.tools);
ok("schema", declared.includes('"edit_file"') && declared.includes('"OBJECT"'), declared);
ok("list", shown(1).includes("[DIR] src"), shown(1));
ok("read", shown(2).includes("const retries = 3;"), shown(2));
ok("refused edit", shown(3).includes('"error":') && teaches(shown(3)), shown(3));
ok("corrected edit", shown(4).includes('"output":"Edited src/app.ts'), shown(4));
ok("image", shown(5).includes("kept as the artifact dot.png"), shown(5));
ok("outside", shown(6).includes("outside"), shown(6));

for (const confirmed of [false, true]) {
  const asked = await say([{ text: "Tidy up." }], [TURNS.remove]);
  const question = asked.find((part) => part.functionCall?.name === "adk_request_confirmation");
  ok(`asked ${confirmed}`, question !== undefined && stage.log(), asked);
  const functionResponse = {
    id: question?.functionCall?.id ?? "",
    name: "adk_request_confirmation",
    response: { confirmed },
  };
  await say([{ functionResponse }], []);
  ok(confirmed ? "approval" : "denial", stage.log() === !confirmed);
}

const stop = new AbortController();
const held = say([{ text: "Wait." }], [TURNS.held], stop.signal).catch(() => undefined);
await stage.held;
stop.abort();
await stage.cancelled;
await held;
ok("cancel", true);
await done(stage);
