/** The engine in use: set once by an entry, read by every room above. */
import type { Engine } from "./engine.ts";
import { FilewrightError } from "./errors.ts";

let current: Engine | undefined;
let missing = new FilewrightError("INTERNAL", "the engine is not loaded; call `await ready()` first");

/** Makes `next` the engine in use. */
export function setEngine(next: Engine): void {
  current = next;
}

/** Remembers why there is no engine; whoever needs one is told. */
export function setNoEngine(reason: string): void {
  missing = new FilewrightError("UNSUPPORTED_PLATFORM", `no engine could be loaded: ${reason}`);
}

/** The engine in use. @throws FilewrightError INTERNAL before `ready()`, UNSUPPORTED_PLATFORM where none loads */
export function engine(): Engine {
  if (current === undefined) throw missing;
  return current;
}
