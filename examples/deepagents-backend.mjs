// A deep agent whose files are those of a workspace: its tools keep their names,
// and get our edits, confinement, locks, history and reviewers. A fake model plays
// a script; give `createDeepAgent` a real one instead.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWorkspace } from "filewright";
import { toDeepAgentsBackend } from "filewright/deepagents";
import { needs } from "./needs.mjs";

const packages = "deepagents langchain @langchain/core @langchain/langgraph";
const { AIMessage } = await needs("@langchain/core/messages", packages);
const { fakeModel } = await needs("@langchain/core/testing", packages);
const { getConfig } = await needs("@langchain/langgraph", packages);
const { createDeepAgent } = await needs("deepagents", packages);

const dir = mkdtempSync(join(tmpdir(), "filewright-example-"));
writeFileSync(join(dir, "config.ts"), "export const retries = 3;\n");
const model = fakeModel()
  .respondWithTools([{ name: "read_file", args: { file_path: "/config.ts" }, id: "1" }])
  .respondWithTools([
    {
      name: "edit_file",
      args: { file_path: "/config.ts", old_string: "retries = 3", new_string: "retries = 5" },
      id: "2",
    },
  ])
  .respond(new AIMessage("Done."));

const ws = await openWorkspace(dir);
const backend = toDeepAgentsBackend(ws, { signal: () => getConfig()?.signal });
const agent = createDeepAgent({ model, backend });
const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Retry five times." }] });

console.log(`model: ${messages.at(-1)?.content}`);
console.log(readFileSync(join(dir, "config.ts"), "utf8").trim());
for (const { tool, paths } of await ws.history())
  console.log(`can be undone: ${tool} of ${paths.join(", ")}`);
await ws.close();
rmSync(dir, { recursive: true });
