/** OpenAI Agents SDK: `run` with its own scripted model, interruptions, and `apply_patch` over our editor. */
import { Agent, applyPatchTool, RunContext, run, type Tool, Runner } from "@openai/agents";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents-core/testing";
import { toOpenAIAgents, toOpenAIEditor } from "filewright/openai-agents";
import { done, OPENING, ok, scene, TURNS, teaches, type Turn } from "./scene.js";

process.env["OPENAI_AGENTS_DISABLE_TRACING"] = "1";
const stage = await scene();
const tools: Tool[] = toOpenAIAgents(stage.ws, { approve: ({ tool }) => tool === "delete" });

let calls = 0;
function model(turns: readonly Turn[]): ScriptedModel {
  return new ScriptedModel([
    ...turns.map(({ tool, args }) => [functionCall(tool, { ...args }, { callId: `call-${++calls}` })]),
    [assistantMessage("Done.")],
  ]);
}

/** Returns the last item of the input of the model's nth call. */
function shown(scripted: ScriptedModel, call: number): string {
  const { input } = scripted.calls[call]?.request ?? {};
  return JSON.stringify(typeof input === "string" ? input : input?.at(-1));
}

const first = model(OPENING);
await run(new Agent({ name: "coder", model: first, tools }), "Five tries.");
const schemas = first.firstCall?.request.tools ?? [];
ok(
  "schema",
  schemas.some((tool) => tool.type === "function" && tool.name === "edit_file" && tool.strict) &&
    schemas.some((tool) => tool.type === "function" && tool.name === "batch" && !tool.strict),
  schemas,
);
ok("list", shown(first, 1).includes("[DIR] src"), shown(first, 1));
ok("read", shown(first, 2).includes("const retries = 3;"), shown(first, 2));
ok("refused edit", teaches(shown(first, 3)), shown(first, 3));
ok("corrected edit", shown(first, 4).includes("Edited src/app.ts"), shown(first, 4));
ok("image", shown(first, 5).includes("image/png"), shown(first, 5));
ok("outside", shown(first, 6).includes("outside"), shown(first, 6));

for (const approved of [false, true]) {
  const agent = new Agent({ name: "coder", model: model([TURNS.remove]), tools });
  const asked = await run(agent, "Tidy up.");
  const [question] = asked.interruptions;
  ok(`asked ${approved}`, question !== undefined && stage.log());
  if (question !== undefined) {
    if (approved) asked.state.approve(question);
    else asked.state.reject(question);
  }
  await run(agent, asked.state);
  ok(approved ? "approval" : "denial", stage.log() === !approved);
}

const stop = new AbortController();
const runner = new Runner({ tracingDisabled: true });
const held = runner.run(new Agent({ name: "coder", model: model([TURNS.held]), tools }), "Wait.", {
  signal: stop.signal,
});
await stage.held;
stop.abort();
await stage.cancelled;
await held.catch(() => undefined);
ok("cancel", true);

const editor = toOpenAIEditor(stage.ws);
const patching = applyPatchTool({ editor });
const operations = [
  { type: "create_file", path: "notes.md", diff: "+one\n+two\n" },
  { type: "update_file", path: "notes.md", diff: "@@\n one\n-two\n+three\n" },
  { type: "update_file", path: "notes.md", diff: "@@\n one\n-four\n+five\n" },
  { type: "update_file", path: "notes.md", diff: "@@\n-one\n+One\n*** Delete File: src/app.ts\n" },
  { type: "delete_file", path: "notes.md" },
] as const;
const patcher = new ScriptedModel([
  ...operations.map((operation) => [
    { type: "apply_patch_call" as const, callId: `call-${++calls}`, status: "completed" as const, operation },
  ]),
  [assistantMessage("Done.")],
]);
await run(new Agent({ name: "patcher", model: patcher, tools: [patching] }), "Write notes.");
ok("editor creates", shown(patcher, 1).includes('"completed"'), shown(patcher, 1));
ok("editor updates", shown(patcher, 2).includes('"completed"'), shown(patcher, 2));
ok("editor refuses", /"failed".*three/.test(shown(patcher, 3)), shown(patcher, 3));
ok("editor minds one file", /"failed".*another file/.test(shown(patcher, 4)), shown(patcher, 4));
ok("editor deletes", shown(patcher, 5).includes('"completed"'), shown(patcher, 5));
ok("context", new RunContext() !== undefined);
await done(stage);
