/**
 * `filewright/engine` on Node: uses the native addon if it loads, otherwise WebAssembly.
 *
 * @module filewright/engine
 */
import { debug, DEBUG_AREAS, type DebugArea } from "./debug.ts";
import { engine, setEngine, setNoEngine } from "./current.ts";
import { type EngineInfo, makeEngine } from "./engine.ts";
import { FilewrightError } from "./errors.ts";
import { loadNative, loadWasm } from "./load.node.ts";
import { escapeControls } from "./escape.ts";
import { setRunBuiltFile } from "./workers/file-calls.ts";
import type { WorkerPool } from "./workers/pool.ts";
import { withWorkerPool } from "./workers/worker-calls.ts";

export { engine } from "./current.ts";
export * from "./errors.ts";
export * from "./functions.ts";

const ALL_AREAS = Object.keys(DEBUG_AREAS) as readonly DebugArea[];

/** Prints a line to standard error, preceded by its area and the milliseconds since the process began. */
function printDebugLine(area: string, line: string): void {
  const time = performance.now().toFixed(1);
  process.stderr.write(`filewright ${area} ${time} ${escapeControls(line)}\n`);
}

/**
 * Switches on the debug areas of a list such as `call,search`, the value of `FILEWRIGHT_DEBUG`; `all` means
 * every area. An unknown area is reported on standard error with the known ones.
 */
function enableDebug(list: string): void {
  for (const name of list.split(",").map((part) => part.trim())) {
    if (name === "") continue;
    const areas = name === "all" ? ALL_AREAS : ALL_AREAS.filter((area) => area === name);
    if (areas.length === 0)
      printDebugLine(
        "debug",
        `FILEWRIGHT_DEBUG: there is no area '${name}'; known: all, ${ALL_AREAS.join(", ")}`,
      );
    for (const area of areas) debug[area] = (line) => printDebugLine(area, line);
  }
}

enableDebug(process.env["FILEWRIGHT_DEBUG"] ?? "");

/** The pool of worker threads. Its module is loaded at the first call, because most processes need no thread. */
const backgroundPool: Pick<WorkerPool, "run"> = {
  async run(name, args, inPlace, options) {
    const { runInBackground } = await import("./workers/background.node.ts");
    return runInBackground(name, args, inPlace, options);
  },
};
setRunBuiltFile(backgroundPool.run);

const loadedAddon = loadNative();
if ("binding" in loadedAddon) {
  debug.engine?.("native");
  setEngine(makeEngine(loadedAddon.binding, { kind: "native" }));
} else {
  const { code, message, remedy } = loadedAddon.failure;
  // A misspelt value must not choose another engine than the one that was meant.
  if (code === "setting")
    setNoEngine(new FilewrightError("INVALID_ARGUMENT", `${message}; ${remedy}`, { hint: remedy }));
  else if (process.env["FILEWRIGHT_ENGINE"] === "native")
    setNoEngine(
      new FilewrightError(
        "UNSUPPORTED_PLATFORM",
        `FILEWRIGHT_ENGINE=native needs the native addon: ${message}; ${remedy}`,
        { hint: remedy, details: { reason: code } },
      ),
    );
  else {
    const wasm = loadWasm();
    debug.engine?.(`${"binding" in wasm ? "wasm" : `none: ${wasm.reason}`}; ${message}`);
    if ("binding" in wasm)
      setEngine(makeEngine(withWorkerPool(wasm.binding, backgroundPool), { kind: "wasm", reason: message }));
    else
      setNoEngine(
        new FilewrightError("UNSUPPORTED_PLATFORM", `no engine could be loaded: ${message}; ${wasm.reason}`, {
          hint: remedy,
        }),
      );
  }
}

/**
 * Resolves at once on Node, where the engine is loaded with the module. It exists so that the same code runs
 * on every platform.
 */
export async function ready(): Promise<EngineInfo> {
  return engine().info;
}
