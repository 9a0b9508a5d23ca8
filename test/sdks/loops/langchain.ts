/** LangChain: `createAgent` with its fake model, its human-in-the-loop middleware and its signal. */
import { fakeModel } from "@langchain/core/testing";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createAgent, humanInTheLoopMiddleware, tool, ToolMessage } from "langchain";
import { toInterruptOn, toLangChain } from "filewright/langchain";
import { done, OPENING, ok, scene, TURNS, teaches, type Turn } from "./scene.js";

const stage = await scene();
const tools = toLangChain(stage.ws, { tool, ToolMessage });

let calls = 0;
function model(turns: readonly Turn[]): ReturnType<typeof fakeModel> {
  const fake = fakeModel();
  for (const { tool: name, args } of turns) {
    calls += 1;
    fake.respondWithTools([{ name, args: { ...args }, id: `call-${calls}` }]);
  }
  return fake.respond(new AIMessage("Done."));
}
const results = (messages: readonly BaseMessage[]): ToolMessage[] =>
  messages.filter((message): message is ToolMessage => message.getType() === "tool");

const agent = createAgent({
  model: model(OPENING),
  tools,
});
const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Five tries." }] });
const shown = results(messages).map((message) => `${message.status} ${JSON.stringify(message.content)}`);
ok("list", shown[0]?.includes("[DIR] src"), shown[0]);
ok("read", shown[1]?.includes("const retries = 3;"), shown[1]);
ok("refused edit", shown[2]?.startsWith("error ") && teaches(shown[2]), shown[2]);
ok("corrected edit", /^success .*Edited src\/app.ts/.test(shown[3] ?? ""), shown[3]);
ok("image", shown[4]?.includes('"mimeType":"image/png"'), shown[4]);
ok("outside", shown[5]?.includes("outside"), shown[5]);
const artifact = results(messages)[2]?.artifact as { error?: { code?: string } } | undefined;
ok("its code", artifact?.error?.code === "MATCH_NOT_FOUND", artifact);

const interruptOn = toInterruptOn(stage.ws, "changes");
for (const approved of [false, true]) {
  const asking = createAgent({
    model: model([TURNS.remove]),
    tools,
    middleware: [humanInTheLoopMiddleware({ interruptOn })],
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
const waiting = createAgent({ model: model([TURNS.held]), tools });
const held = waiting
  .invoke({ messages: [{ role: "user", content: "Wait." }] }, { signal: stop.signal })
  .catch(() => undefined);
await stage.held;
stop.abort();
await stage.cancelled;
await held;
ok("cancel", true);
await done(stage);
