/** The engine in use: set once by an entry, read by every room above. */
import type { Engine } from "./engine.ts";
import { FilewrightError } from "./errors.ts";
import type { TextEngine } from "./text-engine.ts";

let current: Engine | undefined;
let small: TextEngine | undefined;
let missing = new FilewrightError("INTERNAL", "the engine is not loaded; call `await ready()` first");

/** Makes `next` the engine in use. */
export function setEngine(next: Engine): void {
  current = next;
}

/** Makes `next` the engine for texts, for as long as there is no whole one. */
export function setTextEngine(next: TextEngine): void {
  small = next;
}

/** Remembers why there is no engine; whoever needs one is told. */
export function setNoEngine(reason: string): void {
  missing = new FilewrightError("UNSUPPORTED_PLATFORM", `no engine could be loaded: ${reason}`);
}

/** The engine in use. @throws FilewrightError INTERNAL before `ready()`, UNSUPPORTED_PLATFORM where none loads */
export function engine(): Engine {
  if (current !== undefined) return current;
  if (small === undefined) throw missing;
  throw new FilewrightError(
    "INTERNAL",
    "only the small engine is loaded, for diffs, edits and patches; call `await ready()` of filewright/engine",
  );
}

/** The engine for texts: the whole one, or the small one. @throws as {@link engine} */
export function textEngine(): TextEngine {
  return current ?? small ?? engine();
}
