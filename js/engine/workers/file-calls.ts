/** Runs functions of other folders on another thread, on Node; elsewhere they run in place. */
import { checkAborted, fromEngine } from "../errors.ts";

/** Runs the function `answerInWorker` of a built file, which a worker imports, on another thread. */
export type RunBuiltFile = (
  file: string,
  args: readonly unknown[],
  inPlace: () => unknown,
  options: { readonly signal?: AbortSignal | undefined },
) => Promise<unknown>;

let runBuiltFile: RunBuiltFile | undefined;

/** Sets how this platform runs built files on other threads. */
export function setRunBuiltFile(run: RunBuiltFile): void {
  runBuiltFile = run;
}

/** A function that is also the function `answerInWorker` of a built file, and its arguments, which are copied. */
export interface FileCall<Args extends readonly unknown[], T> {
  /** The path of the file below `dist`. */
  readonly file: string;
  readonly args: Args;
  readonly inPlace: (...args: Args) => Promise<T>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns the result of a function that runs on another thread on Node, and in place elsewhere. When the signal aborts, the thread is ended.
 * @throws FilewrightError CANCELLED; any error of the function
 */
export async function runOnThread<Args extends readonly unknown[], T>(call: FileCall<Args, T>): Promise<T> {
  const { file, args, inPlace, signal } = call;
  checkAborted(signal);
  if (runBuiltFile === undefined) return inPlace(...args);
  try {
    return (await runBuiltFile(file, args, () => inPlace(...args), { signal })) as T;
  } catch (error) {
    throw fromEngine(error);
  }
}
