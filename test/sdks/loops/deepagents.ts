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

const agent = createDeepAgent({
  model: model([
    { tool: "ls", args: { path: "/" } },
    { tool: "read_file", args: { file_path: "/src/app.ts" } },
    edit("const retries = 4; // tries"),
    edit("const retries = 3;"),
    { tool: "read_file", args: { file_path: "/dot.png" } },
    { tool: "read_file", args: { file_path: "/../secret" } },
    { tool: "grep", args: { pattern: "retries = 5", path: "/" } },
    { tool: "glob", args: { pattern: "**/*.ts", path: "/" } },
    { tool: "write_file", args: { file_path: "/notes/a.md", content: "one\n" } },
  ]),
  backend,
});
const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Five tries." }] });
const shown = results(messages);
ok("list", shown[0]?.includes("/src/ (directory)"), shown[0]);
ok("read", shown[1]?.includes("const retries = 3;"), shown[1]);
ok("refused edit", shown[2]?.includes("const retries = 3;"), shown[2]);
ok("corrected edit", stage.app().includes("const retries = 5;"), shown[3]);
ok("image", shown[4]?.includes("image/png"), shown[4]);
ok("outside", !shown[5]?.includes("what is outside"), shown[5]);
ok("grep", shown[6]?.includes("/src/app.ts"), shown[6]);
ok("glob", shown[7]?.includes("/src/app.ts"), shown[7]);
ok("write", (await stage.ws.readFile({ path: "notes/a.md" })).content === "one\n", shown[8]);

for (const approved of [false, true]) {
  const asking = createDeepAgent({
    model: model([{ tool: "delete", args: { file_path: "/old.log" } }]),
    backend,
    interruptOn: { delete: true },
    checkpointer: new MemorySaver(),
  });
  const config = { configurable: { thread_id: `thread-${approved}` } };
  const asked = await asking.invoke({ messages: [{ role: "user", content: "Tidy up." }] }, config);
  ok(`asked ${approved}`, JSON.stringify(asked).includes("__interrupt__") && stage.log(), asked);
  const decision = approved ? { type: "approve" } : { type: "reject", message: "Keep it." };
  await asking.invoke(new Command({ resume: { decisions: [decision] } }), config);
  ok(approved ? "approval" : "denial", stage.log() === !approved);
}

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
