/**
 * Observers: told of every call when it begins and when it has ended. They watch
 * and cannot change anything; nobody waits for them, and none costs anything
 * where there is none.
 */

import { callback, flag, instance, type Options } from "../schema/option.ts";

/** A call that begins. */
export interface CallBegin {
  /** Unique in this process. */
  readonly id: string;
  readonly tool: string;
  /** The name that a preset gives the tool. */
  readonly called_as?: string;
  readonly agent?: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** What a call did to one file. Hashes of the whole content; null where there was, or is, no file. */
export interface CallEffect {
  /** Absolute. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** A call that has ended. */
export interface CallEnd extends CallBegin {
  readonly ok: boolean;
  /** Of the failure. */
  readonly code?: string;
  readonly duration_ms: number;
  /** The absolute paths that its arguments named, as far as they were allowed. */
  readonly paths: readonly string[];
  /** Whether the tool changes files. */
  readonly changes: boolean;
  /** Present where an observer asks for hashes, and files were changed. */
  readonly effects?: readonly CallEffect[];
  /** What somebody said when asked. */
  readonly approval?: { readonly outcome: string; readonly hash?: string; readonly by?: string };
  /** UTF-8 bytes of the answer's text, about: its UTF-16 length. */
  readonly text_chars: number;
  readonly truncated: boolean;
}

/** Watches calls. What it throws is passed over. */
export interface Observer {
  /** Whether it wants to know contents by their hashes before and after: each changed file is read twice more. */
  readonly hashes?: boolean;
  /** A call begins. What is returned is told when it has ended. */
  begin?(call: CallBegin): ((end: CallEnd) => void) | undefined;
  /** A call has ended. */
  end?(call: CallEnd): void;
  /** The workspace is closed. */
  close?(): void | Promise<void>;
}

/** An observer: it must be told something. */
export const OBSERVER: Options<Observer> = instance<Observer>(
  "Observer",
  "an observer",
  { hashes: flag(), begin: callback(), end: callback(), close: callback() },
  {
    test: ({ begin, end }) =>
      begin === undefined && end === undefined ? "has neither 'begin' nor 'end'" : undefined,
  },
);
