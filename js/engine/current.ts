/**
 * The engine that this process uses. The entry that is imported sets it once; every other folder reads it
 * from here.
 */
import type { Engine } from "./engine.ts";
import { FilewrightError } from "./errors.ts";
import type { TextEngine } from "./text/text-engine.ts";

let currentEngine: Engine | undefined;
let smallTextEngine: TextEngine | undefined;
let missingEngineError = new FilewrightError(
  "INTERNAL",
  "the engine is not loaded; call `await ready()` first",
);

/** Sets the engine in use. */
export function setEngine(next: Engine): void {
  currentEngine = next;
}

/** Sets the small engine, which can only compare and change texts. It is used until a full one is set. */
export function setTextEngine(next: TextEngine): void {
  smallTextEngine = next;
}

/** Stores the error of later calls, which says why no engine is loaded. */
export function setNoEngine(error: FilewrightError): void {
  missingEngineError = error;
}

/**
 * Returns the engine in use. @throws FilewrightError INTERNAL when `ready()` was not awaited,
 * UNSUPPORTED_PLATFORM when no engine could be loaded
 */
export function engine(): Engine {
  if (currentEngine !== undefined) return currentEngine;
  if (smallTextEngine === undefined) throw missingEngineError;
  throw new FilewrightError(
    "INTERNAL",
    "only the small engine is loaded, for diffs, edits and patches; call `await ready()` of filewright/engine",
  );
}

/**
 * Returns the engine for texts: the full engine if one is set, otherwise the small one. @throws as
 * {@link engine}
 */
export function textEngine(): TextEngine {
  return currentEngine ?? smallTextEngine ?? engine();
}
