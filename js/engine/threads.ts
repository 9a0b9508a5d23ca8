/**
 * Calls of the engine, whose errors become those of this package. They run where they do not block the caller: on
 * another thread for a large input, where the binding has threads, and in place for a small one. What another thread
 * does ends for the caller when its signal aborts.
 */
import { checkAborted, fromEngine } from "./errors.ts";
import type { CancelToken } from "./generated/binding.ts";

export type { CancelToken } from "./generated/binding.ts";

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

/**
 * The size of an input, in bytes or UTF-16 units, from which its call runs on another thread. Below it, the work takes
 * less than a millisecond, and the hand-over would take longer than small work.
 */
export const MIN_THREAD_BYTES: number = 64 * 1024;

/**
 * Returns the result of `inPlace` for a small input or without `elsewhere`, otherwise that of `elsewhere`, which runs on
 * another thread. Errors become those of this package. When the signal aborts, the result of a thread is dropped.
 * @throws FilewrightError CANCELLED; any error of the function
 */
export async function onThread<T>(
  input: { readonly size: number; readonly signal?: AbortSignal | undefined },
  inPlace: () => T,
  elsewhere: (() => Promise<T> | undefined) | undefined,
): Promise<T> {
  const { size, signal } = input;
  checkAborted(signal);
  try {
    const running = size < MIN_THREAD_BYTES ? undefined : elsewhere?.();
    return running === undefined ? inPlace() : await untilAborted(signal, running);
  } catch (error) {
    throw fromEngine(error);
  }
}

/**
 * Runs a native call that changes nothing, and cancels it when the signal aborts. Errors of the engine become
 * {@link FilewrightError}s. The promise rejects at once; the engine checks its token between directories or
 * blocks and stops there.
 */
export async function runCancellable<T, Token extends Pick<CancelToken, "cancel">>(
  signal: AbortSignal | undefined,
  Cancel: new () => Token,
  call: (token: Token | undefined) => Promise<T>,
): Promise<T> {
  checkAborted(signal);
  if (signal === undefined) return call(undefined).catch(throwTranslated);
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
 * Returns the result of `work`, or rejects as soon as the signal aborts. A thread that cannot be stopped then
 * finishes its work, and the result is dropped. @throws CANCELLED
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
