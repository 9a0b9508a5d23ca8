/** Claude Agent SDK: the Claude Code it brings along, our server in this process, a Messages API on loopback. */
import { type CanUseTool, query, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { toAllowedTools, toClaudeAgentServer } from "filewright/claude-agent";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messagesServer } from "./messages-server.js";
import { CONVERSATION, done, ok, scene, TURNS, teaches, type Turn } from "./scene.js";

const stage = await scene();
const server = await messagesServer((tool) => `mcp__filewright__${tool}`);
const home = mkdtempSync(join(tmpdir(), "filewright-claude-"));
const answers = [false, true];
const asked: string[] = [];
const canUseTool: CanUseTool = async (name, input) => {
  asked.push(name);
  if (!name.endsWith("__delete") || answers.shift() === true)
    return { behavior: "allow", updatedInput: input };
  return { behavior: "deny", message: "Keep the log." };
};

async function* prompt(text: string): AsyncGenerator<SDKUserMessage> {
  yield { type: "user", message: { role: "user", content: text }, parent_tool_use_id: null };
}

/** One conversation; gives how it ended. */
async function loop(turns: readonly Turn[], abortController = new AbortController()): Promise<string> {
  server.play(turns);
  const stream = query({
    prompt: prompt("Five tries."),
    options: {
      abortController,
      cwd: stage.dir,
      model: "claude-sonnet-4-5",
      tools: [],
      mcpServers: { filewright: toClaudeAgentServer(stage.ws) },
      allowedTools: toAllowedTools(stage.ws, "changes"),
      permissionMode: "default",
      canUseTool,
      settingSources: [],
      env: {
        PATH: process.env["PATH"],
        HOME: home,
        ANTHROPIC_API_KEY: "sk-ant-api03-none",
        ANTHROPIC_BASE_URL: server.url,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_TELEMETRY: "1",
        DISABLE_AUTOUPDATER: "1",
        CLAUDE_CODE_MAX_RETRIES: "0",
      },
      stderr: (line) => console.error(line),
    },
  });
  let end = "";
  for await (const message of stream) if (message.type === "result") end = message.subtype;
  return end;
}

const end = await loop(CONVERSATION);
ok("conversation", end === "success", end);
const shown = (call: number): string => JSON.stringify(server.requests[call]?.messages.at(-1)) ?? "";
ok("list", shown(1).includes("[DIR] src"), shown(1));
ok("read", shown(2).includes("const retries = 3;"), shown(2));
ok("refused edit", shown(3).includes('"is_error":true') && teaches(shown(3)), shown(3));
ok("corrected edit", shown(4).includes("Edited src/app.ts"), shown(4));
ok("image", shown(5).includes("image/png"), shown(5));
ok("outside", shown(6).includes("outside"), shown(6));
ok("denial", shown(7).includes("Keep the log."), shown(7));
ok("approval", !stage.log(), shown(8));
ok(
  "asked about changes alone",
  asked.every((name) => /__(edit_file|delete)$/.test(name)),
  asked,
);

const stop = new AbortController();
const held = loop([TURNS.held], stop).catch(() => "cancelled");
await stage.held;
stop.abort();
await stage.cancelled;
ok("cancel", (await held) !== "success");
server.close();
await done(stage);
