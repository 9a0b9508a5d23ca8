// A workspace that touches no disk: for tests, browsers, edge functions and trial
// runs. The tools, the edits and the search are those of a real directory.
import { MemoryBackend, openWorkspace } from "filewright";

const backend = new MemoryBackend({
  "/project/src/app.ts": "const retries = 3;\nexport { retries };\n",
  "/project/README.md": "# A project\n",
});
const ws = await openWorkspace({ backend, root: "/project" });
const before = backend.snapshot();

const { matches } = await ws.grep({ pattern: "retries = \\d" });
console.log(`found in ${matches?.[0]?.path}, line ${matches?.[0]?.line}`);

const edits = [{ old_text: "retries = 3", new_text: "retries = 5" }];
const { diff } = await ws.editFile({ path: "src/app.ts", edits });
console.log(diff.trimEnd());

backend.restore(before);
const { content } = await ws.readFile({ path: "src/app.ts" });
console.log(content.includes("retries = 3") ? "back to the snapshot" : "something is wrong");
console.log(Object.keys(backend.toJSON()).length > 0 ? "and it can be written down as JSON" : "");
await ws.close();
