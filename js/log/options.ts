/** The options of a log whose records are in a store, and the limits of its records. */
import type { LargestUndo } from "./log.ts";
import type { JournalStore, RecordFiles } from "./store.ts";

/** The largest contents and the largest number of steps that one record has. */
interface RecordLimits {
  readonly maxBytes: number;
  readonly maxSteps: number;
}

const BYTES_PER_MIB = 1024 * 1024;
/**
 * The limits of the recorded contents and steps: `try` for a single operation, which is made unrecorded beyond
 * them; `always` for a change that must be atomic, which is refused.
 */
export const TRANSACTION_LIMITS: Readonly<Record<"try" | "always", RecordLimits>> = Object.freeze({
  try: { maxBytes: 64 * BYTES_PER_MIB, maxSteps: 2000 },
  always: { maxBytes: 256 * BYTES_PER_MIB, maxSteps: 20_000 },
});
/** The maximum number of paths whose final state is recorded; a change of more paths cannot be undone. */
export const MAX_RECORDED_PATHS = 5000;

/** The largest record that the history keeps of one call. */
export const LARGEST_UNDO: LargestUndo = Object.freeze({
  bytes: TRANSACTION_LIMITS.try.maxBytes,
  // Made on use: the first number in words takes 16 ms.
  get words() {
    const { maxBytes, maxSteps } = TRANSACTION_LIMITS.try;
    return [
      `at most ${maxBytes / BYTES_PER_MIB} MiB of what it replaced or removed, `,
      `${maxSteps.toLocaleString("en-US")} steps and ${MAX_RECORDED_PATHS.toLocaleString("en-US")} paths`,
    ].join("");
  },
});

/** The options of a log whose records are in a store. */
export interface LogOptions {
  readonly store: JournalStore;
  /** The working directory, which identifies the history. */
  readonly cwd: string;
  /** The id of the storage that the paths belong to; absent for the local disk. */
  readonly storage?: string | undefined;
  /** True when the records of finished changes are kept, so that they can be undone. */
  readonly keep: boolean;
  /** True when every record is flushed to the disk before the next step. */
  readonly durable: boolean;
  /** The same store, where the disk may write its records together with the change. */
  readonly files?: RecordFiles | undefined;
}
