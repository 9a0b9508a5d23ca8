/**
 * Observers: called when a call begins and when it has ended. They cannot change anything and are
 * not awaited, and calls without observers have no overhead.
 */

import type { AllowedBy } from "../backends/transaction/step.ts";
import { callback, flag, instance, type Options } from "../schema/option.ts";

/** The beginning of a call. */
export interface CallBegin {
  /** Unique in this process. */
  readonly id: string;
  readonly tool: string;
  /** The name of the tool in a preset. */
  readonly called_as?: string;
  readonly agent?: string;
  /** The person for whom the host makes it: the option `by` of `ws.undo` and `ws.rewind`. */
  readonly by?: string;
  /** The id of the call in questions about it and in the history; absent for a call that only reads. */
  readonly call_id?: string;
  /** The time at which the call began, in milliseconds since 1970. */
  readonly at: number;
}

/** The hashes of the whole content of a file before and after a call; null when the file did not exist. */
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
  /** The message of its error, as the caller gets it. */
  readonly message?: string;
  readonly duration_ms: number;
  /** The absolute paths that its arguments named, as far as they were allowed. */
  readonly paths: readonly string[];
  /** The path that the error is about, as the caller wrote it; absent for a call without such an error. */
  readonly error_path?: string;
  /** True when the tool changes files. */
  readonly changes: boolean;
  /** The changed files; only if an observer requests hashes and files were changed. */
  readonly effects?: readonly CallEffect[];
  /** The time for which a change waited for the locks of its paths, in milliseconds; absent where it took none. */
  readonly lock_wait_ms?: number;
  /** The answer of the reviewer; absent if nobody was asked. */
  readonly approval?: { readonly outcome: string; readonly hash?: string; readonly by?: string };
  /**
   * The reasons why a change was allowed: several for a batch whose operations were allowed in several ways. Absent where
   * the workspace neither asks nor reviews.
   */
  readonly allowed_by?: readonly AllowedBy[];
  /** The call that it undid; for `ws.undo` alone. */
  readonly undo_of?: string;
  /** The calls that a person has reviewed and keeps, with the person if known; for `ws.keep` alone. */
  readonly kept?: { readonly calls: readonly string[]; readonly by?: string };
  /** The UTF-16 length of the answer's text. */
  readonly text_chars: number;
  readonly truncated: boolean;
}

/** Watches calls. Its exceptions are ignored. */
export interface Observer {
  /** Requests hashes of contents before and after: each changed file is read twice more. */
  readonly hashes?: boolean;
  /** Called when a call begins. The function that it returns is called when the call has ended. */
  begin?(call: CallBegin): ((end: CallEnd) => void) | undefined;
  /** Called when a call has ended. */
  end?(call: CallEnd): void;
  /**
   * Runs a call in a context of the observer, such as that of a span: it calls `run` once and at once, and whatever the
   * call does happens in the context in which `run` was called. Called after `begin`.
   */
  within?(call: CallBegin, run: () => void): void;
  /** Returns the bytes of the log that the observer keeps, from its beginning, for exports. */
  exportLog?(): AsyncIterable<Uint8Array>;
  /** Called when the workspace is closed. */
  close?(): void | Promise<void>;
}

/** The description of an observer: an object with at least one of these functions. */
export const OBSERVER: Options<Observer> = instance<Observer>(
  "Observer",
  "an observer",
  {
    hashes: flag(),
    begin: callback(),
    end: callback(),
    within: callback(),
    exportLog: callback(),
    close: callback(),
  },
  {
    test: ({ begin, end }) =>
      begin === undefined && end === undefined ? "has neither 'begin' nor 'end'" : undefined,
  },
);
