// An agent on a page: it works on an overlay, so that what it does can be looked at
// before it happens. A script stands in for the model; a model would be given
// `ws.tools` and make the same calls.
//
// With a bundler these lines are imports from "filewright/backends", "filewright/engine" and "filewright".
import {
  FileSystemAccessBackend,
  MemoryBackend,
  OpfsBackend,
  OverlayBackend,
} from "./filewright/backends/index.js";
import { diff, ready } from "./filewright/engine/index.js";
import { openWorkspace } from "./filewright/filewright.js";
import { diffView } from "./diff-view.js";

const at = (id) => document.getElementById(id);
const loaded = ready(new URL("./filewright/wasm/filewright_bg.wasm", import.meta.url));

/** What is open: the storage, the overlay over it, and the workspace over that. */
let open;

const SAMPLES = {
  "/src/client.ts": "export class Client {\n  retries = 3;\n  timeout = 1000;\n}\n",
  "/src/config.ts": "const retries = 3;\nexport { retries };\n",
  "/README.md": "# A project\nBy default `retries = 3`.\n",
};

function say(text) {
  at("status").textContent = text;
}

/** Runs what a button does, and says what went wrong. */
function whenClicked(id, run) {
  at(id).addEventListener("click", () => run().catch((error) => say(`It failed: ${error.message}`)));
}

async function use(backend, what) {
  await loaded;
  await open?.ws.close();
  const overlay = new OverlayBackend(backend);
  open = { backend, overlay, ws: await openWorkspace({ backend: overlay, root: "/" }) };
  at("calls").replaceChildren();
  await showFiles();
  await showChanges();
  at("run").disabled = false;
  say(`${what} is open.`);
}

async function showFiles() {
  const { matches, truncated } = await open.ws.glob({ pattern: "*", limit: 200 });
  const items = matches.map((path) => {
    const item = document.createElement("li");
    item.textContent = path;
    return item;
  });
  if (truncated) items.push(Object.assign(document.createElement("li"), { textContent: "…" }));
  at("files").replaceChildren(...items);
}

/** One call of the agent, written down as it happens. */
async function call(tool, args) {
  const result = await open.ws.call(tool, args);
  const item = document.createElement("li");
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  summary.textContent = `${tool} ${args.path ?? args.pattern ?? ""}${result.ok ? "" : `: ${result.error.code}`}`;
  const text = document.createElement("pre");
  text.textContent = result.text;
  details.append(summary, text);
  item.append(details);
  at("calls").append(item);
  return result;
}

/** The script: search, then edit what was found. */
async function runTask({ pattern, oldText, newText }) {
  at("calls").replaceChildren();
  const found = await call("grep", { pattern, output: "files", max_results: 100 });
  if (!found.ok) return say(`The search failed: ${found.error.message}`);
  const files = found.data.files ?? [];
  let edited = 0;
  for (const path of files) {
    const edits = [{ old_text: oldText, new_text: newText, replace_all: true }];
    const { ok } = await call("edit_file", { path, edits, match: "exact" });
    if (ok) edited += 1;
  }
  await showFiles();
  await showChanges();
  say(`${files.length} files matched, ${edited} would change.`);
  at("changes-title").focus();
}

const textOf = (backend, path) => backend.readText(path).catch(() => "");

async function showChanges() {
  const changes = (await open.overlay.changes()).filter(({ type }) => type === "file");
  const views = [];
  for (const { path, change } of changes) {
    const [before, after] = [await textOf(open.backend, path), await textOf(open.overlay, path)];
    views.push(diffView(path, change, diff(before, after)));
  }
  at("changes").replaceChildren(...views);
  at("no-changes").hidden = views.length > 0;
  for (const id of ["apply", "discard"]) at(id).disabled = views.length === 0;
}

whenClicked("open-memory", () => use(new MemoryBackend(SAMPLES), "A project in memory"));

whenClicked("open-storage", async () => {
  const backend = new OpfsBackend({ directory: "filewright-example" });
  if ((await backend.listDir("/")).length === 0) {
    for (const [path, text] of Object.entries(SAMPLES))
      await backend.writeText(path, text, { createDirs: true });
  }
  await use(backend, "This browser’s storage");
});

whenClicked("open-folder", async () => {
  const handle = await globalThis.showDirectoryPicker({ mode: "readwrite" }).catch(() => undefined);
  if (handle !== undefined) await use(new FileSystemAccessBackend(handle), `The folder ${handle.name}`);
});

whenClicked("apply", async () => {
  const { written } = await open.overlay.commit();
  await showChanges();
  say(`${written} files written.`);
});

whenClicked("discard", async () => {
  await open.overlay.discard();
  await showFiles();
  await showChanges();
  say("The changes are forgotten.");
});

at("task").addEventListener("submit", (event) => {
  event.preventDefault();
  const form = new FormData(event.target);
  const task = { pattern: form.get("pattern"), oldText: form.get("old"), newText: form.get("new") };
  runTask(task).catch((error) => say(`It failed: ${error.message}`));
});

if (typeof globalThis.showDirectoryPicker !== "function") {
  at("open-folder").disabled = true;
  at("folder-note").hidden = false;
}
