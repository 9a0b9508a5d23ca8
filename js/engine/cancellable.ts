/** Calls of the engine that a signal ends. */
import { checkAborted, fromEngine } from "./errors.ts";
import type { CancelToken } from "./generated/binding.ts";

export type { CancelToken } from "./generated/binding.ts";

/**
 * Runs a call that changes nothing and that a signal may cancel; its errors become `FilewrightError`s.
 * It ends with the signal: the engine looks at its token only between directories or blocks, and stops there.
 */
export async function cancellable<T, Token extends Pick<CancelToken, "cancel">>(
  signal: AbortSignal | undefined,
  Cancel: new () => Token,
  call: (token: Token | undefined) => Promise<T>,
): Promise<T> {
  checkAborted(signal);
  if (signal === undefined) return call(undefined).catch(translated);
  const token = new Cancel();
  const onAbort = () => token.cancel();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const result = await untilAborted(signal, call(token));
    // The signal may abort between the result and this line.
    checkAborted(signal);
    return result;
  } catch (error) {
    throw fromEngine(error);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * Rejects when the signal aborts, without waiting for the work: a thread that cannot be stopped finishes it,
 * and its result is dropped. @throws CANCELLED
 */
export function untilAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      try {
        checkAborted(signal);
      } catch (error) {
        reject(error as Error);
      }
    };
    signal.addEventListener("abort", onAbort, { once: true });
    onAbort();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** Throws an error of the engine as a `FilewrightError`. */
export function translated(error: unknown): never {
  throw fromEngine(error);
}
