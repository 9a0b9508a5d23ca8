// An agent of the Vercel AI SDK with the tools of a workspace: it looks, it edits,
// and it asks before it changes anything. Name a model to talk to a real one
// (`MODEL=anthropic/claude-sonnet-4.5`, with the gateway's key); without one the
// SDK's mock plays a script.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWorkspace } from "filewright";
import { toAiSdk, toAiSdkApproval } from "filewright/ai-sdk";
import { needs } from "./needs.mjs";

const { generateText, isStepCount } = await needs("ai");

const dir = mkdtempSync(join(tmpdir(), "filewright-example-"));
writeFileSync(join(dir, "config.ts"), "export const retries = 3;\n");
const model = process.env.MODEL ?? (await script());

const ws = await openWorkspace(dir);
const tools = toAiSdk(ws);
const toolApproval = toAiSdkApproval(ws, "changes");

const messages = [{ role: "user", content: "Retry five times instead of three." }];
for (;;) {
  const { content, responseMessages, text } = await generateText({
    model,
    tools,
    toolApproval,
    messages,
    stopWhen: isStepCount(20),
  });
  messages.push(...responseMessages);
  const questions = content.filter(({ type }) => type === "tool-approval-request");
  if (questions.length === 0) {
    console.log(`model: ${text}`);
    break;
  }
  for (const { approvalId, toolCall } of questions) {
    console.log(`may it? ${toolCall.toolName} ${JSON.stringify(toolCall.input)}`);
    messages.push({
      role: "tool",
      content: [{ type: "tool-approval-response", approvalId, approved: true }],
    });
  }
}
console.log(readFileSync(join(dir, "config.ts"), "utf8").trim());
await ws.close();
rmSync(dir, { recursive: true });

/** A model that greps, edits and says so. */
async function script() {
  const { MockLanguageModelV4 } = await import("ai/test");
  const calls = [
    ["grep", { pattern: "retries" }],
    ["edit_file", { path: "config.ts", edits: [{ old_text: "retries = 3", new_text: "retries = 5" }] }],
  ];
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  let at = 0;
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const [toolName, input] = calls[at] ?? [];
      at += 1;
      return {
        content:
          toolName === undefined
            ? [{ type: "text", text: "Done." }]
            : [{ type: "tool-call", toolCallId: `call-${at}`, toolName, input: JSON.stringify(input) }],
        finishReason: { unified: toolName === undefined ? "stop" : "tool-calls", raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
}
