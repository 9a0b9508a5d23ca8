/** deepagents: `createDeepAgent` over our backend, with its own tools, interrupts and signal. */
import { fakeModel } from "@langchain/core/testing";
import { AIMessage, type BaseMessage, type ToolMessage } from "@langchain/core/messages";
import { Command, getConfig, MemorySaver } from "@langchain/langgraph";
import { type BackendProtocolV2, createDeepAgent } from "deepagents";
import { toDeepAgentsBackend } from "filewright/deepagents";
import { done, ok, scene, type Turn } from "./scene.js";

const stage = await scene();
const backend: BackendProtocolV2 = toDeepAgentsBackend(stage.ws, { signal: () => getConfig()?.signal });

let calls = 0;
function model(turns: readonly Turn[]): ReturnType<typeof fakeModel> {
  const fake = fakeModel();
  for (const { tool: name, args } of turns) {
    calls += 1;
    fake.respondWithTools([{ name, args: { ...args }, id: `call-${calls}` }]);
  }
  return fake.respond(new AIMessage("Done."));
}
const results = (messages: readonly BaseMessage[]): string[] =>
  messages
    .filter((message): message is ToolMessage => message.getType() === "tool")
    .map((message) => JSON.stringify(message.content));
const edit = (old_string: string): Turn => ({
  tool: "edit_file",
  args: { file_path: "/src/app.ts", old_string, new_string: "const retries = 5;" },
});

/** Plays a conversation and gives what each of its calls answered. Long ones are summarised by a further call. */
async function converse(turns: readonly Turn[]): Promise<readonly string[]> {
  const agent = createDeepAgent({ model: model(turns), backend });
  const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Five tries." }] });
  return results(messages);
}

const changed = await converse([
  { tool: "ls", args: { path: "/" } },
  { tool: "read_file", args: { file_path: "/src/app.ts" } },
  edit("const retries = 4; // tries"),
  edit("const retries = 3;"),
]);
ok("list", changed[0]?.includes("/src/ (directory)"), changed[0]);
ok("read", changed[1]?.includes("const retries = 3;"), changed[1]);
ok("refused edit", changed[2]?.includes("const retries = 3;"), changed[2]);
ok("corrected edit", stage.app().includes("const retries = 5;"), changed[3]);

const found = await converse([
  { tool: "read_file", args: { file_path: "/dot.png" } },
  { tool: "read_file", args: { file_path: "/../secret" } },
  { tool: "grep", args: { pattern: "retries = 5", path: "/" } },
  { tool: "glob", args: { pattern: "**/*.ts", path: "/" } },
]);
ok("image", found[0]?.includes("image/png"), found[0]);
ok("outside", !found[1]?.includes("what is outside"), found[1]);
ok("grep", found[2]?.includes("/src/app.ts"), found[2]);
ok("glob", found[3]?.includes("/src/app.ts"), found[3]);

const isWritten = async (path: string): Promise<boolean> => (await stage.ws.call("stat", { path })).ok;
for (const approved of [false, true]) {
  const asking = createDeepAgent({
    model: model([{ tool: "write_file", args: { file_path: "/notes/a.md", content: "one\n" } }]),
    backend,
    interruptOn: { write_file: true },
    checkpointer: new MemorySaver(),
  });
  const config = { configurable: { thread_id: `thread-${approved}` } };
  const asked = await asking.invoke({ messages: [{ role: "user", content: "Write." }] }, config);
  ok(
    `asked ${approved}`,
    JSON.stringify(asked).includes("__interrupt__") && !(await isWritten("notes/a.md")),
    asked,
  );
  const decision = approved ? { type: "approve" } : { type: "reject", message: "Leave it." };
  await asking.invoke(new Command({ resume: { decisions: [decision] } }), config);
  ok(approved ? "approval" : "denial", (await isWritten("notes/a.md")) === approved);
}
ok("write", (await stage.ws.readFile({ path: "notes/a.md" })).content === "one\n");

// Earlier versions of deepagents have no tool that deletes.
const [removed = ""] = await converse([{ tool: "delete", args: { file_path: "/old.log" } }]);
ok("delete", !stage.log() || /delete\W* (?:is )?not (?:a valid tool|found)/iu.test(removed), removed);
if (stage.log()) await stage.ws.call("delete", { path: "old.log" });

const stop = new AbortController();
const waiting = createDeepAgent({
  model: model([{ tool: "read_file", args: { file_path: "/held.txt" } }]),
  backend,
});
const held = waiting
  .invoke({ messages: [{ role: "user", content: "Wait." }] }, { signal: stop.signal })
  .catch(() => undefined);
await stage.held;
stop.abort();
await stage.cancelled;
await held;
ok("cancel", true);

const encoder = new TextEncoder();
const uploaded = await backend.uploadFiles?.([
  ["/up.bin", new Uint8Array([0, 255, 1])],
  ["/../up.bin", encoder.encode("x")],
]);
ok("upload", uploaded?.[0]?.error === null && uploaded[1]?.error === "permission_denied", uploaded);
const fetched = await backend.downloadFiles?.(["/up.bin", "/none", "/src", "/../secret"]);
ok(
  "download",
  fetched?.[0]?.content?.[1] === 255 &&
    fetched
      .slice(1)
      .map(({ error }) => error)
      .join() === "file_not_found,is_directory,permission_denied",
  fetched,
);
await done(stage);
