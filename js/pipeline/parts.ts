/**
 * Turns what a reviewer chose or wrote into the contents of a plan. Bytes are composed by the engine, from the
 * content before the change and the chosen hunks.
 */
import { byteLength } from "../backends/paths.ts";
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import { escapeControls, plural } from "../engine/escape.ts";
import type { HunkChoice } from "../engine/text/hunks.ts";
import { EMPTY_BYTES, equalBytes } from "../engine/wire/bytes.ts";
import {
  acceptedHunks,
  commonEncodingOf,
  type ConfirmedChange,
  type ConfirmedPart,
  partsProblem,
} from "../hooks/changed-files.ts";
import { type ConfirmPayload, denied } from "../hooks/confirm.ts";
import { diffContents, encodeLikeShown } from "../tools/render/preview.ts";
import type { ChosenFiles, PreviewChange } from "../tools/change/change.ts";
import type { AcceptedPart } from "./result.ts";

/** A reviewer's change of a plan. The same revision can be applied to an equal plan again. */
export interface Revision {
  readonly files: ChosenFiles;
  /** True when the contents consist of planned lines and lines that were there before. */
  readonly isSelection: boolean;
}

/** The changes of a question, and the planned changes in the same order. */
export interface ShownChanges {
  readonly changes: readonly ConfirmedChange[];
  readonly planned: readonly PreviewChange[];
}

/** The parts of a change that a reviewer accepted. */
export interface Selection {
  /** Undefined when everything was accepted. */
  readonly revision: Revision | undefined;
  readonly parts: readonly AcceptedPart[];
  /** A sentence for the model about what was left out, with a diff; undefined when everything was accepted. */
  readonly note: string | undefined;
}

/** Returns true when parts of a change can be accepted: there are several paths, or a file that is edited. */
export function hasParts(changes: readonly PreviewChange[]): boolean {
  return (
    changes.length > 1 || changes.some(({ kind, contents }) => kind === "edit" && contents !== undefined)
  );
}

/** Returns true when a reviewer can write another content for one of the changes. */
export function hasEditableText(changes: readonly ConfirmedChange[]): boolean {
  return changes.some(({ after }) => after !== null);
}

/**
 * Returns the contents that a reviewer has written, in the encodings of the planned ones.
 * @throws FilewrightError APPROVAL_DENIED for a path without a planned text, or named twice
 */
export function writtenRevision(
  { changes, planned }: ShownChanges,
  { newContent, contents }: ConfirmPayload,
): Revision {
  const first = changes.find(({ after }) => after !== null);
  const given =
    contents ??
    (newContent === undefined || first === undefined ? [] : [{ path: first.path, content: newContent }]);
  if (given.length === 0 || new Set(given.map(({ path }) => path)).size < given.length)
    throw denied("The reviewer's change of the content cannot be used.");
  const files = new Map<string, Uint8Array>();
  for (const { path, content } of given) {
    const index = changes.findIndex((change) => change.path === path && change.after !== null);
    const { path: own, contents: bytes } = planned[index] ?? {};
    if (own === undefined || bytes?.after == null)
      throw denied("The reviewer's content is for a file that the call does not write.");
    files.set(own, encodeAsPlanned(content, bytes.after));
  }
  return { files, isSelection: false };
}

function encodeAsPlanned(content: string, planned: Uint8Array): Uint8Array {
  try {
    return encodeLikeShown(content, planned);
  } catch (cause) {
    if (!(cause instanceof FilewrightError)) throw cause;
    throw denied(`The reviewer's content cannot be used: ${cause.message}.`, cause);
  }
}

/**
 * Returns what a reviewer accepted; undefined when the reviewer accepted nothing.
 * @throws FilewrightError APPROVAL_DENIED for a part that the question does not have
 */
export function selectParts(shown: ShownChanges, parts: readonly ConfirmedPart[]): Selection | undefined {
  const { changes, planned } = shown;
  const problem = partsProblem(changes, parts);
  if (problem !== undefined) throw denied(`The reviewer's choice cannot be used: ${problem}.`);
  const byPath = new Map(parts.map((part) => [part.path, part]));
  const files = new Map<string, Uint8Array | null>();
  const accepted: AcceptedPart[] = [];
  const left: LeftOut[] = [];
  for (const [index, change] of changes.entries()) {
    const of = change.hunks.length;
    const choice = acceptedHunks(change, byPath.get(change.path));
    const wholly = choice.filter(({ rows }) => rows === undefined).length;
    accepted.push({ path: change.display, accepted: wholly, of });
    if (wholly === of) continue;
    const { path, contents } = planned[index] as PreviewChange;
    const bytes = choice.length === 0 ? null : composeChoice(contents, choice);
    const isSame = bytes !== null && equalBytes(bytes, contents?.before ?? EMPTY_BYTES);
    files.set(path, isSame ? null : bytes);
    left.push({ change, contents, bytes, partly: choice.length - wholly });
  }
  if (left.length === 0) return { revision: undefined, parts: accepted, note: undefined };
  if (left.length === changes.length && [...files.values()].every((bytes) => bytes === null))
    return undefined;
  return { revision: { files, isSelection: true }, parts: accepted, note: noteAbout(accepted, left) };
}

function composeChoice(contents: PreviewChange["contents"], choice: readonly HunkChoice[]): Uint8Array {
  const encoding = contents === undefined ? undefined : commonEncodingOf(contents);
  if (contents === undefined || encoding === undefined)
    throw denied("The reviewer's choice is a part of a change that can only be made as one.");
  const { before, after } = contents;
  return engine().composeHunks(before ?? EMPTY_BYTES, after ?? EMPTY_BYTES, choice, encoding);
}

/** A change of which something was left out. */
interface LeftOut {
  readonly change: ConfirmedChange;
  readonly contents: PreviewChange["contents"];
  /** The content that is written; null when nothing is. */
  readonly bytes: Uint8Array | null;
  /** The number of hunks of which some lines were accepted. */
  readonly partly: number;
}

/** The size in bytes of the diff of what a reviewer left out, as the model sees it. */
const MAX_LEFT_OUT_DIFF_BYTES = 2000;
/** The maximum length of a line of that diff in code points; a longer line is cut around its first difference. */
const MAX_LEFT_OUT_LINE_CHARS = 300;
/** The number of files that are named in a note about what a reviewer left out. */
const MAX_NOTED_FILES = 10;

/** Returns a sentence for the model about what a reviewer has written instead, with a diff; undefined if it is the same. */
export function noteAboutWritten(
  { changes, planned }: ShownChanges,
  { files }: Revision,
): string | undefined {
  let diff = "";
  for (const [path, bytes] of files) {
    const index = planned.findIndex((one) => one.path === path);
    const room = MAX_LEFT_OUT_DIFF_BYTES - byteLength(diff);
    if (index < 0 || bytes === null || room <= 0) continue;
    diff += diffContents(planned[index]?.contents?.after ?? EMPTY_BYTES, bytes, {
      oldName: changes[index]?.display ?? "",
      limits: { bytes: room, line: MAX_LEFT_OUT_LINE_CHARS },
    }).text;
  }
  return diff === ""
    ? undefined
    : `content modified by the reviewer before it was approved; what the reviewer changed:\n${diff.replace(/\n$/u, "")}`;
}

/** Returns a sentence such as `the reviewer accepted 2 of 3 hunks of src/a.ts; left out:`, and a diff. */
function noteAbout(accepted: readonly AcceptedPart[], left: readonly LeftOut[]): string {
  const byPath = new Map(accepted.map((part) => [part.path, part]));
  const phrases = left.slice(0, MAX_NOTED_FILES).map(({ change, bytes, partly }) => {
    const name = escapeControls(change.display);
    if (bytes === null) return `nothing of ${name}`;
    const { accepted: whole = 0, of = 0 } = byPath.get(change.display) ?? {};
    const lines = partly === 0 ? "" : ` and some lines of ${partly} more`;
    return `${whole} of ${plural(of, "hunk")}${lines} of ${name}`;
  });
  const more =
    left.length > MAX_NOTED_FILES ? [`not all of ${left.length - MAX_NOTED_FILES} more files`] : [];
  const names = [...phrases, ...more];
  const sentence = `the reviewer accepted ${names.join(", ")}`;
  let diff = "";
  for (const { change, contents, bytes } of left) {
    const [written, planned] = [bytes ?? contents?.before ?? EMPTY_BYTES, contents?.after ?? EMPTY_BYTES];
    const room = MAX_LEFT_OUT_DIFF_BYTES - byteLength(diff);
    if (room <= 0) break;
    if (change.binary !== undefined || contents === undefined) continue;
    const { text } = diffContents(written, planned, {
      oldName: change.display,
      limits: { bytes: room, line: MAX_LEFT_OUT_LINE_CHARS },
    });
    diff += text;
  }
  return diff === "" ? sentence : `${sentence}; left out:\n${diff.replace(/\n$/u, "")}`;
}
