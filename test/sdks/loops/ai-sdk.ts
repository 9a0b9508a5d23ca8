/** Vercel AI SDK: `generateText` with its own mock model, its approvals and its abort signal. */
import { generateText, isStepCount, type ModelMessage, type ToolSet } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { toAiSdk, toAiSdkApproval, ToolFailure } from "filewright/ai-sdk";
import { done, OPENING, ok, scene, TURNS, teaches, type Turn } from "./scene.js";

const stage = await scene();
const tools: ToolSet = toAiSdk(stage.ws, { agent: "ai-sdk" });

const usage = {
  inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: undefined, reasoning: undefined },
};
let calls = 0;
/** A model that makes these calls, one a turn, and then says that it is done. */
function model(turns: readonly Turn[]): MockLanguageModelV4 {
  let at = 0;
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const turn = turns[at++];
      const finish = turn === undefined ? "stop" : "tool-calls";
      return {
        content:
          turn === undefined
            ? [{ type: "text", text: "Done." }]
            : [
                {
                  type: "tool-call",
                  toolCallId: `call-${++calls}`,
                  toolName: turn.tool,
                  input: JSON.stringify(turn.args),
                },
              ],
        finishReason: { unified: finish, raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
}

/** Returns the last result of a call that the model was sent. */
function shown(mock: MockLanguageModelV4, call: number): unknown {
  const last = mock.doGenerateCalls.at(call)?.prompt.at(-1);
  return last?.role === "tool" ? last.content[0] : last;
}
const text = (part: unknown): string => JSON.stringify(part);

const first = model(OPENING);
const result = await generateText({ model: first, tools, prompt: "Five tries.", stopWhen: isStepCount(10) });
ok(
  "schema",
  first.doGenerateCalls[0]?.tools?.some((tool) => tool.type === "function" && tool.name === "grep"),
);
ok("list", text(shown(first, 1)).includes("[DIR] src"), shown(first, 1));
ok("read", text(shown(first, 2)).includes("const retries = 3;"), shown(first, 2));
const refusal = text(shown(first, 3));
ok("refused edit", refusal.includes('"error-text"') && teaches(refusal), refusal);
const failed = result.steps[2]?.content.find((part) => part.type === "tool-error");
ok("its code", failed?.error instanceof ToolFailure && failed.error.error.code === "MATCH_NOT_FOUND", failed);
ok("corrected edit", text(shown(first, 4)).includes("Edited src/app.ts"), shown(first, 4));
ok("image", text(shown(first, 5)).includes('"mediaType":"image/png"'), shown(first, 5));
ok("outside", text(shown(first, 6)).includes("outside"), shown(first, 6));

const toolApproval = toAiSdkApproval(stage.ws, "changes");
const messages: ModelMessage[] = [{ role: "user", content: "Tidy up." }];
for (const approved of [false, true]) {
  const asking = model([TURNS.remove]);
  const asked = await generateText({ model: asking, tools, toolApproval, messages });
  const request = asked.content.find((part) => part.type === "tool-approval-request");
  ok(`asked ${approved}`, request !== undefined && stage.log(), asked.content);
  messages.push(...asked.responseMessages);
  const { approvalId = "" } = request ?? {};
  messages.push({ role: "tool", content: [{ type: "tool-approval-response", approvalId, approved }] });
  const told = model([]);
  const after = await generateText({ model: told, tools, toolApproval, messages });
  messages.push(...after.responseMessages);
  ok(approved ? "approval" : "denial", stage.log() === !approved, shown(told, 0));
}

const stop = new AbortController();
const held = generateText({ model: model([TURNS.held]), tools, prompt: "Wait.", abortSignal: stop.signal });
await stage.held;
stop.abort();
await stage.cancelled;
await held.then(
  () => ok("cancel", true),
  () => ok("cancel", true),
);
await done(stage);
