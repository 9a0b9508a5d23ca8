/** What a call gives back. */
import { FilewrightError } from "../engine/errors.ts";
import type { Outcome } from "../hooks/confirm.ts";
import { otherTool } from "./other-tools.ts";
import { nearest } from "../schema/nearest.ts";
import { escapeControls } from "../engine/escape.ts";
import type { ContentBlock } from "../tools/tool.ts";

/** Facts about the call itself. */
export interface Meta {
  /** Milliseconds from the call to its result. */
  readonly duration_ms: number;
  /** How long the call waited for its turn among others that walk a tree; left out where it did not. */
  readonly queued_ms?: number;
  /** Whether the text, or the list behind it, was cut. */
  readonly truncated: boolean;
  /** Of a call that may have changed something: what `undo` takes. */
  readonly call_id?: string;
  /** Whether a hook changed the arguments. */
  readonly modified_by_hook?: true;
  /** Whether the reviewer changed the content. */
  readonly modified_by_user?: true;
  /** Present where somebody was asked and agreed. */
  readonly approval?: MetaApproval;
}

/** How a call was approved. */
export interface MetaApproval {
  /** What was decided. */
  readonly outcome: Outcome;
  /** Of the bytes that were approved, which are those that were written. */
  readonly hash?: string;
  /** Who decided, where that is known. */
  readonly by?: string;
}

/** A failure as data. `code` is stable, `message` is not. */
export interface ErrorData {
  /** One of a closed list; programs decide by it. */
  readonly code: FilewrightError["code"];
  /** What is wrong, in a sentence for the model. */
  readonly message: string;
  /** As the caller wrote it. */
  readonly path?: string;
  /** What to do about it. */
  readonly hint?: string;
  /** Facts that programs can use, by code. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A call that succeeded. */
export interface Success<Data> {
  /** True: the call succeeded. */
  readonly ok: true;
  /** For the model. */
  readonly text: string;
  /** For people: what was done, in a line, and the difference that a change made. */
  readonly display: string;
  /** The result, for programs. */
  readonly data: Data;
  /** Blocks beside the text, such as images. */
  readonly content?: readonly ContentBlock[];
  /** Facts about the call itself. */
  readonly meta: Meta;
  /** A success has no error. */
  readonly error?: undefined;
}

/** A call that failed. */
export interface Failure {
  /** False: the call failed. */
  readonly ok: false;
  /** For the model: `Error:` and the message. */
  readonly text: string;
  /** For people: what failed, without what only a model could do about it. */
  readonly display: string;
  /** What failed, for programs. */
  readonly error: ErrorData;
  /** Only a batch has some: the results until then, as `BatchData`. */
  readonly data?: undefined;
  /** A failure has no blocks. */
  readonly content?: undefined;
  /** Facts about the call itself. */
  readonly meta: Meta;
}

/** What `ws.call` gives; it rejects only with what a hook raised. */
export type ToolResult<Data = unknown> = Success<Data> | Failure;

/** An error as plain data. */
export function errorData(error: FilewrightError): ErrorData {
  return {
    code: error.code,
    message: error.message,
    ...(error.path === undefined ? {} : { path: error.path }),
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    ...(error.details === undefined ? {} : { details: error.details }),
  };
}

/** The refusal of a tool that does not exist, with the nearest that does. */
export function unknownTool(name: string, known: Iterable<string>): Failure {
  const names = [...known];
  const other = otherTool(String(name), (ours) => (names.includes(ours) ? ours : undefined));
  const close = other === undefined ? nearest(String(name), names) : undefined;
  const shown = escapeControls(String(name).slice(0, 80));
  return refused(
    "UNKNOWN_TOOL",
    other !== undefined
      ? `There is no tool '${shown}': ${other}.`
      : close === undefined
        ? `There is no tool '${shown}'. Tools: ${names.join(", ")}`.slice(0, 199)
        : `There is no tool '${shown}'. Did you mean '${close}'?`,
  );
}

/** A failure before any tool was at work. */
export function refused(
  code: FilewrightError["code"],
  message: string,
  details?: Readonly<Record<string, unknown>>,
): Failure {
  const error = new FilewrightError(code, message, { details });
  return {
    ok: false,
    text: `Error: ${message}`,
    display: message,
    error: errorData(error),
    meta: { duration_ms: 0, truncated: false },
  };
}
