/** Builds the results of calls: a success within its size budget, or a failure with its message. */
import type { Files } from "../backends/files.ts";
import type { Location } from "../policy/index.ts";
import { fromEngine, type FilewrightError, makeError } from "../engine/errors.ts";
import { lazilyEarly } from "../engine/lazy.ts";
import { Yielder } from "../engine/yielder.ts";
import { notifySafely } from "../hooks/events.ts";
import type { Undoability } from "../log/index.ts";
import type { CanonicalCall } from "../presets/preset.ts";
import { TOOL_BY_NAME } from "../tools/index.ts";
import { countLines } from "../tools/lib/text.ts";
import { translatedRetries } from "../tools/lib/retry.ts";
import {
  type AnyReadingTool,
  type Answer,
  type AnyTool,
  CANONICAL_NAMES,
  type Call,
  type PathUse,
} from "../tools/lib/tool.ts";
import { BatchFailed, toErrorData, type ErrorData, type Failure, type Meta, type Success } from "./result.ts";
import type { Fact, Facts } from "./facts.ts";
import { readableRoots } from "./paths/look-alikes.ts";
import type { FailedCall, WordedError } from "./wording/messages.ts";
import type { Session } from "./session.ts";
import { type TextLimit, textLimitOf } from "./text-limit.ts";
import { TOOL_FOR_ACCESS } from "../schema/tool-facts.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";

/** The error codes of calls that a person, a rule or a hook refused. */
const REFUSAL_CODES: ReadonlySet<string> = new Set(["APPROVAL_DENIED", "HOOK_BLOCKED", "GRANT_DENIED"]);

/** The note in an answer without the entries that need an approval. */
const UNAPPROVED_LEFT_OUT_NOTE = "what a rule wants to be asked about is left out: name a path to be asked";

/** The form of a text. Notes can be added to `lines`, but not to a text of `fixed` form or to `json`. */
type TextForm = "lines" | "fixed" | "json";

/** A call that succeeded. */
export interface Succeeded {
  readonly tool: AnyTool;
  readonly args: object;
  readonly call: Call;
  readonly answer: Answer<unknown>;
  /** The record of its change in the history. */
  readonly undo: Undoability;
  /** Its facts. */
  readonly facts: Facts;
  /** The names of the arguments that hooks changed. */
  readonly modifiedByHook: readonly string[];
  /** The notes about paths that replaced missing ones, which are added to the answer later. */
  readonly replacedNotes: readonly string[];
  /** When the call began, as `performance.now()` counts. */
  readonly started: number;
  /** The canonical call, where a preset has another text. */
  readonly meant: CanonicalCall | undefined;
}

/** Data and its text, which fits the budget. */
interface FittingText {
  readonly data: unknown;
  readonly text: string;
  readonly isCut: boolean;
}

/** Returns the result of a successful call. */
export async function successResult(done: Succeeded): Promise<Success<unknown>> {
  const { tool, args, call, answer, facts, modifiedByHook, started } = done;
  const reviewed = facts.last("reviewed");
  const form = formOf(done);
  const warnings = [...(call.reach.leavesOut ? [UNAPPROVED_LEFT_OUT_NOTE] : []), ...(answer.warnings ?? [])];
  // JSON cannot have further lines, so the warnings are rendered with the data.
  const whole = form === "json" ? withWarnings(answer.data, warnings) : answer.data;
  const notes = notesOf(modifiedByHook, reviewed);
  const below = formatNotes(form === "lines" ? [...warnings, ...notes] : notes);
  const later = formatNotes(done.replacedNotes);
  const limit = textLimitOf(tool, args, call, below + later);
  let data = whole;
  let text = textOf(done, whole);
  let isCut = false;
  if (!limit.fits(text)) ({ data, text, isCut } = await fittingText(done, { data, text }, limit));
  if (form !== "json") data = withWarnings(data, warnings);
  if (reviewed?.note !== undefined) data = withWarnings(data, [reviewed.note]);
  text += below;
  const tokens = limit.tokensOf(text + later);
  if (tokens !== undefined) data = { ...(data as object), tokens };
  const display =
    (tool.texts.display?.(data, args, TOOL_BY_NAME) ?? tool.title) + formatNotes([...warnings, ...notes]);
  const isTruncated = isCut || (data as { readonly truncated?: unknown }).truncated === true;
  const meta = metaOf(done, reviewed, performance.now() - started, isTruncated);
  return answer.content === undefined
    ? { ok: true, text, display, data, meta }
    : { ok: true, text, display, data, content: answer.content, meta };
}

/** Returns the notes about a call that somebody changed. */
function notesOf(
  modifiedByHook: readonly string[],
  reviewed: Extract<Fact, { what: "reviewed" }> | undefined,
): readonly string[] {
  const byReviewer = reviewed?.isModified === true;
  return [
    ...(modifiedByHook.length > 0 ? [`arguments modified by a hook: ${modifiedByHook.join(", ")}`] : []),
    ...(byReviewer ? [reviewed.note ?? "content modified by the reviewer before it was approved"] : []),
  ];
}

/** Returns the form of the text of a call. */
function formOf({ meant, args }: Pick<Succeeded, "meant" | "args">): TextForm {
  if (isJson(meant, args)) return "json";
  return meant?.fixedText === true ? "fixed" : "lines";
}

/** Returns true for a call whose text is JSON, to which nothing can be added. */
export function isJson(meant: CanonicalCall | undefined, args: object): boolean {
  return meant?.json === true || (args as { readonly format?: unknown }).format === "json";
}

/** Returns the text of data of a call. */
function textOf({ tool, args, call, meant, answer }: Succeeded, data: unknown): string {
  return (meant?.text ?? tool.texts.render)(data, args, call, answer.shownDiff);
}

/** Returns the data and the text of a call with fewer results, or cut, so that it fits. */
async function fittingText(
  done: Succeeded,
  large: Omit<FittingText, "isCut">,
  limit: TextLimit,
): Promise<FittingText> {
  const { tool, args, call } = done;
  let { data, text } = large;
  // A text beyond the limit took some milliseconds.
  const yielder = new Yielder({});
  await yielder.yieldNow();
  let lines = limit.linesThatFit(text);
  const { fit } = (tool as AnyReadingTool).texts;
  const shrinking = fit !== undefined && "shrink" in fit ? fit : undefined;
  for (let round = 0; shrinking !== undefined && lines > 0; round++) {
    data = await shrinking.shrink(data, args, lines, call);
    await yielder.yieldNow();
    text = textOf(done, data);
    if (limit.fitsShortened(text)) break;
    // One result may take several lines of this text.
    const fitting = Math.floor((lines * limit.linesThatFit(text)) / countLines(text));
    lines = limit.fewerLines(lines, fitting, round + 1);
  }
  if (limit.fitsShortened(text)) return { data, text, isCut: false };
  const cut = { ...(data as object), truncated: true };
  return { data: cut, text: limit.cut(text), isCut: true };
}

function metaOf(
  { tool, call, undo, modifiedByHook }: Succeeded,
  reviewed: Extract<Fact, { what: "reviewed" }> | undefined,
  duration: number,
  truncated: boolean,
): Meta {
  return withoutUndefined({
    duration_ms: duration,
    truncated,
    call_id: tool.kind === "read" ? undefined : call.about.callId,
    undoable: undo === "undoable",
    modified_by_hook: modifiedByHook.length > 0 ? true : undefined,
    modified_by_user: reviewed?.isModified === true ? true : undefined,
    approval: reviewed?.approval,
  });
}

/** Returns the notes as lines in brackets, to be added below a text. */
function formatNotes(notes: readonly string[]): string {
  return notes.map((note) => `\n[${note}]`).join("");
}

function withWarnings(data: unknown, warnings: readonly string[]): unknown {
  if (warnings.length === 0) return data;
  const { warnings: others = [] } = data as { readonly warnings?: readonly string[] };
  return { ...(data as object), warnings: [...others, ...warnings] };
}

/**
 * Returns the storage that the failure of a call without an approval may reveal. If every call of the tool needs
 * an approval, the rules for `stat` decide.
 */
function viewWithoutApprovals({ gates: { rules }, files: { views } }: Session, tool: string): Files {
  const own = rules.forCall(tool);
  return views.of({
    rules: own.decide([]) === "ask" ? rules.forCall(TOOL_FOR_ACCESS.look) : own,
    hidden: ["deny", "ask"],
  });
}

/** A call that failed, as far as it came. */
export interface Failed {
  readonly tool: Pick<AnyTool, "name" | "title">;
  readonly thrown: unknown;
  readonly uses: readonly PathUse[];
  readonly locations: readonly Location[];
  /** When the call began, as `performance.now()` counts. */
  readonly started: number;
  readonly meant: CanonicalCall | undefined;
  /** The storage as the call saw it; undefined for one that did not get that far. */
  readonly fs: Files | undefined;
  /** The id of the call in the history; empty without one. */
  readonly callId: string;
}

/** Returns a call that failed before its paths were known. */
export function failedEarly(tool: Pick<AnyTool, "name" | "title">, thrown: unknown): Failed {
  const started = performance.now();
  return { tool, thrown, uses: [], locations: [], started, meant: undefined, fs: undefined, callId: "" };
}

/** Returns the result of a failed call. */
export async function failureResult(session: Session, failed: Failed): Promise<Failure> {
  const { tool, thrown, uses, locations, meant, callId } = failed;
  const meta: Meta = {
    duration_ms: performance.now() - failed.started,
    truncated: false,
    undoable: false,
  };
  if (thrown instanceof BatchFailed) {
    const { verbatim, data } = thrown;
    return {
      ok: false,
      text: verbatim ? thrown.message : `Error: ${thrown.message}`,
      display: verbatim ? thrown.message : `${tool.title} failed: ${thrown.message}`,
      error: toErrorData(thrown),
      // The type hides the data, so that `data` of a result has one type for each tool.
      data: data as unknown as undefined,
      meta,
    };
  }
  const { error, told, shown } = await worded(thrown, {
    tool: tool.name,
    uses,
    locations,
    fs: failed.fs ?? viewWithoutApprovals(session, tool.name),
    cwd: session.files.resolver.policy.cwd,
    roots: readableRoots(session.files.resolver.policy),
    display: session.files.resolver.display,
    names: meant?.names ?? CANONICAL_NAMES,
  });
  const message = meant?.refuse?.(error, told) ?? told;
  if (REFUSAL_CODES.has(error.code)) {
    const { code, message } = error;
    const id = callId === "" ? {} : { callId };
    notifySafely(session.gates.notify, { type: "call_denied", tool: tool.name, code, message, ...id });
  }
  const verbatim = error.code === "HOOK_BLOCKED" && error.details?.["verbatim"] === true;
  return {
    ok: false,
    text: verbatim ? error.message : `Error: ${message}`,
    display: verbatim ? error.message : `${tool.title} failed: ${shown}`,
    error: errorDataFor(error, meant),
    meta,
  };
}

const wording = lazilyEarly("the words of errors", () => import("./wording/messages.ts"));

/**
 * Returns the error in words. Where they cannot be loaded, as in a process that can open no more files, it has its code
 * alone: only the words know which paths may be shown. That a part could not be loaded is said with its remedy.
 */
async function worded(thrown: unknown, failed: FailedCall): Promise<WordedError> {
  const words = await wording().catch(() => undefined);
  if (words !== undefined) return words.wordError(thrown, failed);
  const cause = fromEngine(thrown);
  const isLoad = cause.details?.["part"] !== undefined;
  const told = `${failed.tool} failed with ${isLoad ? `${cause.message}; ${cause.hint}` : cause.code}`;
  return { error: makeError(cause.code, told, { cause, complete: true }), told, shown: told };
}

/** Returns an error as data, with the calls to send instead as calls of the caller's preset. */
function errorDataFor(error: FilewrightError, meant: CanonicalCall | undefined): ErrorData {
  const data = toErrorData(error);
  const resend = meant?.resend;
  if (resend === undefined || data.details === undefined) return data;
  return { ...data, details: translatedRetries(data.details, resend) };
}
