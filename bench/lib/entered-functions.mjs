// Prints what one warm call of each of four tools enters, as JSON: functions and files of dist by
// the precise coverage of V8, and the calls of the native engine, those that another thread answers
// and those that return at once.
import { mkdtempSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { platformName } from "../../scripts/lib/platform.mjs";
import { root } from "../../scripts/lib/run.mjs";
import { countEntered } from "./call-counts.mjs";
import { makeFiles } from "./file-calls.mjs";
import { median } from "./measure.mjs";

const WARM_UP_CALLS = 40;
/** The calls that are counted one by one; the median leaves out one that also did rare work. */
const COUNTED_CALLS = 9;

const engineCalls = observeEngine();
const scratch = mkdtempSync(join(tmpdir(), "filewright-bench-"));
makeFiles(join(scratch, "root"));
const { openWorkspace } = await import("../../dist/index.node.js");
const workspace = await openWorkspace({ root: join(scratch, "root"), stateDir: join(scratch, "state") });
const inspector = new Session();
inspector.connect();
await inspector.post("Profiler.enable");
const entered = {};
for (const [tool, args] of Object.entries(makeCalls()))
  entered[tool] = await countTool(async () => {
    const answer = await workspace.call(tool, args());
    if (!answer.ok) throw new Error(answer.text);
  });
await workspace.close();
rmSync(scratch, { recursive: true });
console.log(JSON.stringify(entered));

/** Returns the arguments of the next call, by the tool. Calls that change a file change it each time. */
function makeCalls() {
  let count = 0;
  const next = () => ++count;
  return {
    read_file: () => ({ path: "read0.txt" }),
    grep: () => ({ pattern: "line that is edited" }),
    edit_file: () => {
      const texts = ["the line that", "THE LINE that"];
      if (next() % 2 === 0) texts.reverse();
      return { path: "edited.txt", old_text: texts[0], new_text: texts[1] };
    },
    write_file: () => ({ path: "written.txt", content: `${next()}\n` }),
  };
}

/** Returns the medians of what some warm calls enter, and the calls of the engine of the last. */
async function countTool(call) {
  for (let count = 0; count < WARM_UP_CALLS; count++) await call();
  await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  const counts = [];
  for (let count = 0; count < COUNTED_CALLS; count++) {
    await inspector.post("Profiler.takePreciseCoverage");
    engineCalls.clear();
    await call();
    const { result } = await inspector.post("Profiler.takePreciseCoverage");
    counts.push(countEntered(result, pathToFileURL(join(root, "dist/")).href));
  }
  await inspector.post("Profiler.stopPreciseCoverage");
  const middle = (what) => median(counts.map((each) => each[what]));
  return { functions: middle("functions"), files: middle("files"), engine: Object.fromEntries(engineCalls) };
}

/**
 * Wraps the functions of the addon, which the library then takes from the cache of `require`.
 * Returns a map that counts the calls by `NAME` or, if they return a promise, by `async NAME`.
 */
function observeEngine() {
  const built = join(root, `dist/native/filewright.${platformName()}.node`);
  const engine = createRequire(import.meta.url)(process.env.FILEWRIGHT_ENGINE || built);
  const calls = new Map();
  const isClass = (value) => Object.getOwnPropertyNames(value.prototype ?? {}).length > 1;
  const wrap = (holder) => {
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(holder))) {
      const { value } = property;
      if (typeof value !== "function" || name === "constructor") continue;
      if (isClass(value)) {
        wrap(value.prototype);
        continue;
      }
      const observed = function observed(...args) {
        const result = value.apply(this, args);
        const key = result instanceof Promise ? `async ${name}` : name;
        calls.set(key, (calls.get(key) ?? 0) + 1);
        return result;
      };
      Object.defineProperty(holder, name, { ...property, value: observed });
    }
  };
  wrap(engine);
  return calls;
}
