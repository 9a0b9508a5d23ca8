/** The message of a caught error, and the conversion of errors of the engine to errors of this package. */
import { fromEngine } from "./errors.ts";

/** Returns the message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Throws an error of the engine after converting it to a `FilewrightError`. */
export function throwTranslated(error: unknown): never {
  throw fromEngine(error);
}

/** Calls the engine, and throws its errors as errors of this package. A promise needs `.catch(throwTranslated)`. */
export function asEngineCall<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw fromEngine(error);
  }
}
