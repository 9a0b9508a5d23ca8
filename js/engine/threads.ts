/**
 * Runs functions of the engine where they do not block the caller: on another thread for a large input, where the
 * binding has threads, and in place for a small one.
 */
import { checkAborted, fromEngine } from "./errors.ts";
import { untilAborted } from "./yielder.ts";

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
