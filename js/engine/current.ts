/** The engine in use: set once by an entry, read by every room above. */
import type { Engine } from "./engine.ts";
import { FilewrightError } from "./errors.ts";

let current: Engine | undefined;

/** Makes `next` the engine in use. */
export function setEngine(next: Engine): void {
  current = next;
}

/** The engine in use. @throws FilewrightError INTERNAL before an entry has loaded one */
export function engine(): Engine {
  if (current === undefined) {
    throw new FilewrightError("INTERNAL", "the engine is not loaded; call `await ready()` first");
  }
  return current;
}
