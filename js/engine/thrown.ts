/** Errors of any kind: the message of one, and errors of the engine as errors of this package. */
import { fromEngine } from "./errors.ts";

/** Returns the message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Throws an error of the engine after converting it to a `FilewrightError`. */
export function throwTranslated(error: unknown): never {
  throw fromEngine(error);
}

/** Returns the result of a call of the engine. @throws its errors as errors of this package */
export function asEngineCall<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw fromEngine(error);
  }
}
