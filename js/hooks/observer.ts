/**
 * Observers: called when a call begins and when it has ended. They cannot change anything and are
 * not awaited, and calls without observers have no overhead.
 */

import { callback, flag, instance, type Options } from "../schema/option.ts";

/** The beginning of a call. */
export interface CallBegin {
  /** Unique in this process. */
  readonly id: string;
  readonly tool: string;
  /** The name of the tool in a preset. */
  readonly called_as?: string;
  readonly agent?: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * The effect of a call on one file. Hashes of the whole content; null where no file existed, or
 * exists.
 */
export interface CallEffect {
  /** Absolute. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** The end of a call. */
export interface CallEnd extends CallBegin {
  readonly ok: boolean;
  /** The error code of a failure. */
  readonly code?: string;
  readonly duration_ms: number;
  /** The absolute paths that its arguments named, as far as they were allowed. */
  readonly paths: readonly string[];
  /** True when the tool changes files. */
  readonly changes: boolean;
  /** Present when an observer requests hashes, and files were changed. */
  readonly effects?: readonly CallEffect[];
  /** The answer to a question about the call. */
  readonly approval?: { readonly outcome: string; readonly hash?: string; readonly by?: string };
  /** The UTF-16 length of the answer's text. */
  readonly text_chars: number;
  readonly truncated: boolean;
}

/** Watches calls. Its exceptions are ignored. */
export interface Observer {
  /** Requests hashes of contents before and after: each changed file is read twice more. */
  readonly hashes?: boolean;
  /** A call begins. The returned function is called when it has ended. */
  begin?(call: CallBegin): ((end: CallEnd) => void) | undefined;
  /** A call has ended. */
  end?(call: CallEnd): void;
  /** The workspace is closed. */
  close?(): void | Promise<void>;
}

/** An observer: it must have at least one of the functions. */
export const OBSERVER: Options<Observer> = instance<Observer>(
  "Observer",
  "an observer",
  { hashes: flag(), begin: callback(), end: callback(), close: callback() },
  {
    test: ({ begin, end }) =>
      begin === undefined && end === undefined ? "has neither 'begin' nor 'end'" : undefined,
  },
);
