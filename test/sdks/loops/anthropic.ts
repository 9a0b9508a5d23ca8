/** Anthropic SDK: its tool runner against a loopback server that speaks the Messages API. */
import Anthropic from "@anthropic-ai/sdk";
import type { BetaRunnableTool } from "@anthropic-ai/sdk/lib/tools/BetaRunnableTool";
import type { BetaMessageParam } from "@anthropic-ai/sdk/resources/beta.js";
import { toAnthropicMemory, toAnthropicRunnable, toAnthropicTextEditor } from "filewright/anthropic";
import { messagesServer } from "./messages-server.js";
import { CONVERSATION, done, ok, scene, TURNS, teaches, type Turn } from "./scene.js";

const answers: boolean[] = [false, true];
const stage = await scene({
  confirm: ({ tool }) =>
    tool !== "delete" || answers.shift() === true
      ? { outcome: "proceed_once" }
      : { outcome: "cancel", payload: { reason: "keep the log" } },
});
const server = await messagesServer();
const client = new Anthropic({ apiKey: "none", baseURL: server.url, maxRetries: 0 });
const messages: BetaMessageParam[] = [{ role: "user", content: "Five tries." }];

async function loop(turns: readonly Turn[], tools: BetaRunnableTool[], signal?: AbortSignal) {
  server.play(turns);
  const runner = client.beta.messages.toolRunner(
    { model: "script", max_tokens: 1000, messages, tools },
    signal === undefined ? {} : { signal },
  );
  return await runner.runUntilDone();
}

const tools = toAnthropicRunnable(stage.ws);
await loop(CONVERSATION, tools);
const shown = (call: number): string => JSON.stringify(server.requests[call]?.messages.at(-1)) ?? "";
ok("list", shown(1).includes("[DIR] src"), shown(1));
ok("read", shown(2).includes("const retries = 3;"), shown(2));
ok("refused edit", shown(3).includes('"is_error":true') && teaches(shown(3)), shown(3));
ok("said once", !shown(3).includes("Error: Error:"), shown(3));
ok("corrected edit", shown(4).includes("Edited src/app.ts") && !shown(4).includes("is_error"), shown(4));
ok("image", shown(5).includes('"media_type":"image/png"'), shown(5));
ok("outside", shown(6).includes("outside"), shown(6));
ok("denial", shown(7).includes("keep the log") && shown(7).includes("is_error"), shown(7));
ok("approval", !stage.log(), shown(8));

const stop = new AbortController();
const held = loop([TURNS.held], tools, stop.signal).catch(() => undefined);
await stage.held;
stop.abort();
await stage.cancelled;
await held;
ok("cancel", true);

const editor = (args: Record<string, unknown>): Turn => ({ tool: "str_replace_based_edit_tool", args });
server.requests.length = 0;
await loop(
  [
    editor({ command: "view", path: "src/app.ts" }),
    editor({ command: "str_replace", path: "src/app.ts", old_str: "retries = 6", new_str: "retries = 7" }),
    editor({ command: "insert", path: "src/app.ts", insert_line: 0, insert_text: "// first\n" }),
    { tool: "memory", args: { command: "create", path: "/memories/a.md", file_text: "hello\n" } },
    { tool: "memory", args: { command: "view", path: "/memories" } },
    { tool: "memory", args: { command: "view", path: "/etc/passwd" } },
  ],
  [toAnthropicTextEditor(stage.ws), toAnthropicMemory(stage.ws)],
);
ok("defined tools", JSON.stringify(server.requests[0]?.tools).includes("text_editor_20250728"));
ok("editor views", shown(1).includes("const retries = 5;"), shown(1));
ok("editor refuses", shown(2).includes("is_error"), shown(2));
ok("editor inserts", stage.app().startsWith("// first\n"), shown(3));
ok("memory keeps", shown(5).includes("a.md"), shown(5));
ok("memory stays", shown(6).includes("is_error"), shown(6));
server.close();
await done(stage);
