/**
 * The surroundings of one run of a program: its streams, its environment and its signals.
 *
 * A run takes streams and signals only from here, so that several runs can follow each other in one process; some
 * modules still read `process.env` and the working directory. `process` is such a value.
 */

/** The part of `process` that a run uses. */
export interface Program {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Calls `told` at each signal. */
  on(signal: NodeJS.Signals, told: () => void): unknown;
  off(signal: NodeJS.Signals, told: () => void): unknown;
  /** The pid of the process that has started this one; undefined where a test runs the program. */
  readonly ppid?: number;
}

/**
 * Calls `told` at the first of each of these signals; a second one ends the process, as it does without a handler.
 * Returns a function that removes the handlers.
 */
export function onFirstSignal(
  program: Program,
  signals: readonly NodeJS.Signals[],
  told: () => void,
): () => void {
  const handlers = signals.map((signal) => {
    const handler = (): void => {
      program.off(signal, handler);
      told();
    };
    program.on(signal, handler);
    return () => program.off(signal, handler);
  });
  return () => {
    for (const remove of handlers) remove();
  };
}
