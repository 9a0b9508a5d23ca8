// Opens workspaces and makes a batch in each, until each stands still at its stop: then this process waits to be killed.
//
// Its argument is a file with the list of `{ root, stateDir, operations, stop, last }`. `stop` is `begun` (before the first
// operation of the backend), `made` (before the write of the last file) or `committed` (before the answer).
import { readFileSync } from "node:fs";
import { LocalBackend, openWorkspace } from "../../../../dist/cli/library.js";

/** The operations of a backend that change files. */
const CHANGING = ["writeBytes", "delete", "mkdir", "rename", "copyFile", "copyTree", "removeTree", "chmod"];

/** A promise that never resolves. */
const forever = () => new Promise(() => undefined);

/** Wraps a backend, and what it confines, so that `before` runs before each change. */
function withStop(backend, before) {
  for (const name of CHANGING) {
    const method = backend[name].bind(backend);
    backend[name] = async (...all) => {
      await before(name, all[0]);
      return method(...all);
    };
  }
  const { confine } = backend;
  if (confine !== undefined) backend.confine = (policy) => withStop(confine.call(backend, policy), before);
  return backend;
}

/** Runs one batch up to its stop. */
function stopped({ root, stateDir, operations, stop, last }) {
  return new Promise((reached, failed) => {
    const halt = () => {
      reached();
      return forever();
    };
    const backend = withStop(new LocalBackend(), (_name, path) =>
      stop === "begun" || (stop === "made" && path === `${root}/${last}`) ? halt() : undefined,
    );
    const hooks = stop === "committed" ? [{ stage: "after", tool: "*", run: halt }] : [];
    openWorkspace({ root, stateDir, guard: "off", backend, hooks })
      .then((ws) => ws.call("batch", { operations }))
      .then(({ ok, text }) => failed(new Error(`${root} did not stop: ${ok} ${text}`)), failed);
  });
}

const cells = JSON.parse(readFileSync(process.argv[2], "utf8"));
for (const cell of cells) await stopped(cell);
console.log("stopped");
setInterval(() => undefined, 1000);
