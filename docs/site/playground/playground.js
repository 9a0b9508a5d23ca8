// The playground: a workspace in the tab, an agent that is a list of calls, and the review page over a transport
// without a server. The build bundles it with the package (scripts/site.mjs).
import { MemoryBackend, openWorkspace } from "filewright";
import { FileSystemAccessBackend } from "filewright/backends";
import { ready } from "filewright/engine";
import { hubTransport, reviewHub } from "filewright/review";
import "filewright/review/elements";

const REPOSITORY = {
  "/README.md": "# Shop\nRefunds are limited to what was paid.\n",
  "/src/refund.ts":
    'import { total } from "./cart.ts";\n\nexport function refund(order) {\n  const due = total(order);\n  if (due < 0) return;\n  return pay(order.id, due);\n}\n\n// TODO: remove\nexport const RETRIES = 3;\n',
  "/src/cart.ts": "export const total = (order) => order.items.reduce((sum, one) => sum + one.price, 0);\n",
  "/.env": "TOKEN=a secret of the shop\n",
};

const PATCH = `*** Begin Patch
*** Update File: src/cart.ts
@@
-export const total = (order) => order.items.reduce((sum, one) => sum + one.price, 0);
+/** The sum of an order, with the number of each item. */
+export const total = (order) => order.items.reduce((sum, one) => sum + one.price * one.count, 0);
*** Update File: README.md
@@
 # Shop
-Refunds are limited to what was paid.
+Refunds are limited to what was paid, and are paid at once.
*** End Patch
`;

/** The session of the agent: each call as a model would make it. */
const SESSION = [
  ["read_file", { path: "src/refund.ts" }],
  ["grep", { pattern: "total\\(" }],
  [
    "edit_file",
    {
      path: "src/refund.ts",
      edits: [
        { old_text: "if (due < 0) return;", new_text: "if (due <= 0) throw new NothingDue(order.id);" },
        { old_text: "// TODO: remove\nexport const RETRIES = 3;\n", new_text: "export const RETRIES = 5;\n" },
      ],
    },
  ],
  ["write_file", { path: ".env", content: "TOKEN=stolen\n" }],
  ["apply_patch", { patch: PATCH }],
];

const at = (id) => document.getElementById(id);
const loaded = ready(new URL("./filewright_bg.wasm", import.meta.url));

/** The open workspace with its hub, and the number of the next call. */
let session;

function say(text) {
  at("status").textContent = text;
}

async function start(backend) {
  await loaded;
  session?.hub.close();
  await session?.ws.close();
  const hub = reviewHub({ subject: "the workspace in this tab" });
  const ws = await openWorkspace({
    backend,
    root: "/",
    guard: "off",
    confirm: hub.confirm,
    observers: [hub.observer],
  });
  hub.attach(ws);
  session = { hub, ws, backend, next: 0 };
  document.querySelector("filewright-review").transport = hubTransport(hub, { role: "manage", by: "you" });
  at("calls").replaceChildren();
  at("next").disabled = false;
  at("again").disabled = false;
  say(`${SESSION.length} calls, one at a time. The first one reads a file.`);
}

/** Makes the next call of the agent, which may wait for an answer. */
async function step() {
  const running = session;
  const [tool, args] = SESSION[running.next++];
  at("next").disabled = true;
  say(`${tool}: if it changes something, it waits for your answer.`);
  const item = document.createElement("li");
  const told = document.createElement("pre");
  item.append(`${tool} ${args.path ?? args.pattern ?? ""}`, told);
  told.textContent = "waits…";
  at("calls").append(item);
  const { text } = await running.ws.call(tool, args);
  told.textContent = text;
  if (running !== session) return;
  const isLast = running.next === SESSION.length;
  at("next").disabled = isLast;
  say(
    isLast ? "The session is over. The timeline has what was changed." : `Next: ${SESSION[running.next][0]}.`,
  );
}

const failed = (error) => say(`It failed: ${error.message}`);
at("next").addEventListener("click", () => step().catch(failed));
at("again").addEventListener("click", () => start(new MemoryBackend(REPOSITORY)).catch(failed));
at("folder").addEventListener("click", async () => {
  try {
    const folder = await showDirectoryPicker({ mode: "readwrite" });
    await start(new FileSystemAccessBackend(folder));
    say("Your folder is open. The agent's calls name files that it may not have: they then change nothing.");
  } catch (error) {
    if (error.name !== "AbortError") failed(error);
  }
});
at("folder").hidden = !("showDirectoryPicker" in globalThis);
globalThis.playground = { content: (path) => session.backend.readText(path) };
start(new MemoryBackend(REPOSITORY)).catch(failed);
