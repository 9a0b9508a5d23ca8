/** The results of calls. */
import { FilewrightError, makeError } from "../engine/errors.ts";
import type { Outcome } from "../hooks/confirm.ts";
import { adviceForOtherTool } from "./wording/other-tools.ts";
import { nearest } from "../schema/nearest.ts";
import { escapeControls } from "../engine/escape.ts";
import type { ContentBlock } from "../tools/lib/tool.ts";
import type { BatchData } from "../tools/index.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";

/** Facts about the call itself. */
export interface Meta {
  /** The milliseconds from the call to its result. */
  readonly duration_ms: number;
  /** The milliseconds that the call waited for its turn; absent when it did not wait. */
  readonly queued_ms?: number;
  /** True when the text, or the list in it, was truncated. */
  readonly truncated: boolean;
  /** The id that `undo` takes; present when the call may have changed files. */
  readonly call_id?: string;
  /**
   * True when the history has what `undo` needs for the call. False for a call that changed nothing or failed, without a
   * history, and for a change that is too large to be kept, which the text says.
   */
  readonly undoable: boolean;
  /** True when a hook changed the arguments. */
  readonly modified_by_hook?: true;
  /** True when the reviewer changed the content. */
  readonly modified_by_user?: true;
  /**
   * The version of the shared storage that was searched or listed: the answer has every commit up to it, and may have
   * later ones. Absent for every other call and storage.
   */
  readonly version?: string;
  /** Present when a reviewer approved the call. */
  readonly approval?: MetaApproval;
}

/** The approval of a call. */
export interface MetaApproval {
  /** The reviewer's decision. */
  readonly outcome: Outcome;
  /** The hash of the approved bytes, which are the written ones. */
  readonly hash?: string;
  /** The reviewer, when known. */
  readonly by?: string;
  /** The accepted parts of each change, with the outcome `proceed_parts`. */
  readonly parts?: readonly AcceptedPart[];
}

/** The parts of the change of one path that a reviewer accepted. */
export interface AcceptedPart {
  /** The path, relative to the working directory if it is inside. */
  readonly path: string;
  /** The number of accepted hunks; hunks of which only some lines were accepted do not count. */
  readonly accepted: number;
  /** The number of hunks of the change. */
  readonly of: number;
}

/** An error as data. `code` is stable, `message` is not. */
export interface ErrorData {
  /** One of a closed list, for programs. */
  readonly code: FilewrightError["code"];
  /** The problem in a sentence for the model. */
  readonly message: string;
  /** The path that the error is about, as the caller wrote it. */
  readonly path?: string;
  /** The remedy. */
  readonly hint?: string;
  /** Facts for programs, depending on the code. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A call that succeeded. */
export interface Success<Data> {
  /** True for a success. */
  readonly ok: true;
  /** The result as text for the model. */
  readonly text: string;
  /** The result as text for people: a line about it, and the diff of a change. */
  readonly display: string;
  /** The result, for programs. */
  readonly data: Data;
  /** Blocks in addition to the text, such as images. */
  readonly content?: readonly ContentBlock[];
  /** Facts about the call itself. */
  readonly meta: Meta;
  /** Absent for a success. */
  readonly error?: undefined;
}

/** A call that failed. */
export interface Failure {
  /** False for a failure. */
  readonly ok: false;
  /** The error as text for the model: `Error:` and the message. */
  readonly text: string;
  /** The error as text for people, without remedies that only a model can use. */
  readonly display: string;
  /** The error, for programs. */
  readonly error: ErrorData;
  /** Present only for a batch, at run time: the results so far, as `BatchData`. */
  readonly data?: undefined;
  /** Absent for a failure. */
  readonly content?: undefined;
  /** Facts about the call itself. */
  readonly meta: Meta;
}

/** The result of `ws.call`, which rejects only with an error that a hook raised. */
export type ToolResult<Data = unknown> = Success<Data> | Failure;

/** Returns an error as plain data. */
export function toErrorData(error: FilewrightError): ErrorData {
  const { code, message, path, hint, details } = error;
  return withoutUndefined({ code, message, path, hint, details });
}

/** Returns the data of a call. @throws FilewrightError the error of one that failed */
export function dataOrThrow<Data>(result: ToolResult<Data>): Data {
  if (result.ok) return result.data;
  throw errorOfData(result.error);
}

/** Returns the error of a failed call, whose message is worded already. */
export function errorOfData({ code, message, ...rest }: ErrorData): FilewrightError {
  return makeError(code, message, { ...rest, complete: true });
}

/** Returns the refusal of an unknown tool, with the nearest known one. */
export function unknownToolFailure(name: string, known: Iterable<string>): Failure {
  const names = [...known];
  const other = adviceForOtherTool(String(name), (ours) => (names.includes(ours) ? ours : undefined));
  const close = other === undefined ? nearest(String(name), names) : undefined;
  const shown = escapeControls(String(name).slice(0, 80));
  return refusedFailure(
    "UNKNOWN_TOOL",
    other !== undefined
      ? `There is no tool '${shown}': ${other}.`
      : close === undefined
        ? `There is no tool '${shown}'. Tools: ${names.join(", ")}`.slice(0, 199)
        : `There is no tool '${shown}'. Did you mean '${close}'?`,
  );
}

/** Returns a failure from before any tool ran. */
export function refusedFailure(
  code: FilewrightError["code"],
  message: string,
  details?: Readonly<Record<string, unknown>>,
): Failure {
  const error = new FilewrightError(code, message, { details });
  return {
    ok: false,
    text: `Error: ${message}`,
    display: message,
    error: toErrorData(error),
    meta: { duration_ms: 0, truncated: false, undoable: false },
  };
}

/** A failed batch: the error of one operation, and the results of the others. */
export class BatchFailed extends FilewrightError {
  readonly data: BatchData;
  /** True when the message is the unchanged text of a hook. */
  readonly verbatim: boolean;

  constructor(index: number, tool: string, error: ErrorData, data: BatchData) {
    const { code, message, path, hint, details } = error;
    const hooked = code === "HOOK_BLOCKED";
    super(code, hooked ? message : withShortFirstLine(`operations[${index}] (${tool}): ${message}`), {
      path,
      hint,
      complete: true,
      details: { ...details, index, tool, applied: data.applied, rolled_back: data.rolled_back },
    });
    this.data = data;
    this.verbatim = hooked && details?.["verbatim"] === true;
  }
}

/** The maximum length of the first line of a message, in UTF-16 units. */
const MAX_MESSAGE_LINE_LENGTH = 200;

function withShortFirstLine(message: string): string {
  const [first = "", ...rest] = message.split("\n");
  if (first.length <= MAX_MESSAGE_LINE_LENGTH) return message;
  const at = first.lastIndexOf(" ", MAX_MESSAGE_LINE_LENGTH - 1);
  return [`${first.slice(0, at)}…`, first.slice(at + 1), ...rest].join("\n");
}
