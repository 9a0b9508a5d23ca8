/** Mastra: an agent with its own workspace tools over our filesystem, its approvals and its signal. */
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import * as mastra from "@mastra/core/workspace";
import { toMastraFilesystem } from "filewright/mastra";
import { done, ok, scene, type Turn } from "./scene.js";

const stage = await scene();
const stop = new AbortController();
const filesystem = toMastraFilesystem(stage.ws, mastra, { signal: stop.signal });
const workspace = new mastra.Workspace({
  filesystem,
  tools: { mastra_workspace_delete: { requireApproval: true } },
});

let calls = 0;
const prompts: string[] = [];
/** A model that makes these calls, one a turn, and then says that it is done. */
function model(turns: readonly Turn[]) {
  let left = turns;
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const next = (prompt: readonly unknown[]) => {
    prompts.push(JSON.stringify(prompt.at(-1)));
    const [turn, ...rest] = left;
    left = rest;
    calls += 1;
    return turn === undefined
      ? undefined
      : { toolCallId: `call-${calls}`, toolName: turn.tool, input: JSON.stringify(turn.args) };
  };
  return {
    specificationVersion: "v2" as const,
    provider: "script",
    modelId: "script",
    supportedUrls: {},
    async doGenerate({ prompt }: { prompt: readonly unknown[] }) {
      const call = next(prompt);
      return {
        content:
          call === undefined
            ? [{ type: "text" as const, text: "Done." }]
            : [{ type: "tool-call" as const, ...call }],
        finishReason: call === undefined ? ("stop" as const) : ("tool-calls" as const),
        usage,
        warnings: [],
      };
    },
    async doStream({ prompt }: { prompt: readonly unknown[] }) {
      const call = next(prompt);
      const parts =
        call === undefined
          ? [
              { type: "text-start" as const, id: "1" },
              { type: "text-delta" as const, id: "1", delta: "Done." },
              { type: "text-end" as const, id: "1" },
            ]
          : [{ type: "tool-call" as const, ...call }];
      const finishReason = call === undefined ? ("stop" as const) : ("tool-calls" as const);
      const all = [
        { type: "stream-start" as const, warnings: [] },
        ...parts,
        { type: "finish" as const, usage, finishReason },
      ];
      const stream = new ReadableStream<(typeof all)[number]>({
        start(controller) {
          for (const part of all) controller.enqueue(part);
          controller.close();
        },
      });
      return { stream };
    },
  };
}

function coder(turns: readonly Turn[]): Agent {
  const agent = new Agent({
    id: "coder",
    name: "coder",
    instructions: "Work.",
    model: model(turns),
    workspace,
  });
  new Mastra({ agents: { coder: agent }, storage: new InMemoryStore(), logger: false });
  return agent;
}
const edit = (old_string: string): Turn => ({
  tool: "mastra_workspace_edit_file",
  args: { path: "/src/app.ts", old_string, new_string: "const retries = 5;", replace_all: false },
});

await coder([
  { tool: "mastra_workspace_list_files", args: { path: "/" } },
  { tool: "mastra_workspace_read_file", args: { path: "/src/app.ts" } },
  edit("const retries = 4; // tries"),
  edit("const retries = 3;"),
  { tool: "mastra_workspace_read_file", args: { path: "/../secret" } },
  { tool: "mastra_workspace_write_file", args: { path: "/notes/a.md", content: "one\n" } },
  { tool: "mastra_workspace_write_file", args: { path: "/../up.md", content: "one\n" } },
  { tool: "mastra_workspace_file_stat", args: { path: "/none" } },
]).generate("Five tries.", { maxSteps: 20 });
const shown = (call: number): string => prompts[call] ?? "";
ok("list", shown(1).includes("app.ts") || shown(1).includes("src"), shown(1));
ok("read", shown(2).includes("const retries = 3;"), shown(2));
ok("refused edit", /not found/i.test(shown(3)), shown(3));
ok("corrected edit", stage.app().includes("const retries = 5;"), shown(4));
ok("outside", shown(5).includes("outside") && !shown(5).includes("what is outside"), shown(5));
ok("write", (await stage.ws.readFile({ path: "notes/a.md" })).content === "one\n", shown(6));
ok("write outside", shown(7).includes("outside"), shown(7));
ok("stat", shown(8).includes("not found"), shown(8));

for (const approved of [false, true]) {
  const agent = coder([{ tool: "mastra_workspace_delete", args: { path: "/old.log" } }]);
  const asked = await agent.generate("Tidy up.", { maxSteps: 3 });
  const { toolCallId = "" } = (asked.suspendPayload ?? {}) as { toolCallId?: string };
  ok(`asked ${approved}`, asked.finishReason === "suspended" && stage.log(), asked.finishReason);
  const answer = { runId: asked.runId ?? "", toolCallId };
  if (approved) await agent.approveToolCallGenerate(answer);
  else await agent.declineToolCallGenerate(answer);
  ok(approved ? "approval" : "denial", stage.log() === !approved);
}

const held = coder([{ tool: "mastra_workspace_read_file", args: { path: "/held.txt" } }])
  .generate("Wait.", { abortSignal: stop.signal })
  .catch(() => undefined);
await stage.held;
stop.abort();
await stage.cancelled;
await held;
ok("cancel", true);
await done(stage);
