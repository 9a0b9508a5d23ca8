/**
 * The changes that a question covers: a summary of each, and its contents and hunks, which are computed when they are
 * read for the first time.
 *
 * Only the summary is enumerable, so a question as JSON stays small; {@link changeDetails} returns one change with
 * its contents as plain data.
 */
import { engine } from "../engine/current.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import type { DecodedText } from "../engine/read.ts";
import type { HunkChoice, HunkRange } from "../engine/text/hunks.ts";
import { EMPTY_BYTES } from "../engine/wire/bytes.ts";
import { encodeUtf8 } from "../tools/lib/text.ts";
import { decodeIfText } from "../tools/render/preview.ts";

/** The summary of a change of one path. */
export interface ChangeSummary {
  /** The absolute path of the entry. */
  readonly path: string;
  /** The path for people and models: relative to the working directory if it is inside. */
  readonly display: string;
  /** The kind of change of the entry. */
  readonly kind: "create" | "edit" | "delete" | "move" | "copy";
  /** The type of the entry. */
  readonly type: "file" | "dir" | "symlink" | "other";
  /** The absolute path from which the entry is moved or copied. */
  readonly from?: string;
  /** `sha256:` of the new content, when known. */
  readonly hash?: string;
  /** The new permission bits in octal, when the call sets them. */
  readonly mode?: string;
}

/** One line of a hunk. Lines count from 1. */
export interface HunkRow {
  /** The side that has the line: both, the old content, or the new one. */
  readonly kind: "same" | "removed" | "added";
  /** The line in the old content; null for an added line. */
  readonly old: number | null;
  /** The line in the new content; null for a removed line. */
  readonly new: number | null;
  /** The text of the line without its line ending. */
  readonly text: string;
  /** The line ending; empty for a last line without one. */
  readonly end: "\n" | "\r\n" | "";
}

/** A hunk of a change. Lines count from 1; a side without lines has the number of the line before it. */
export interface ChangeHunk {
  /** The first line of the hunk in the old content. */
  readonly oldStart: number;
  /** The number of its lines in the old content. */
  readonly oldLines: number;
  /** The first line of the hunk in the new content. */
  readonly newStart: number;
  /** The number of its lines in the new content. */
  readonly newLines: number;
  /** The lines in order. Empty where the change has no text: of binary content, a directory, or only a name or mode. */
  readonly rows: readonly HunkRow[];
}

/** A content that is not text. */
export interface BinaryContent {
  /** The number of bytes. */
  readonly size: number;
  /** `sha256:` of the bytes. */
  readonly hash: string;
}

/** The contents of a change. */
export interface ChangeContents {
  /** The text before; null where there was no file, or its content is not text. */
  readonly before: string | null;
  /** The text after; null where there is no file, or its content is not text. */
  readonly after: string | null;
  /** The contents that are not text; null for a side that is text or does not exist. Absent where both are. */
  readonly binary?: {
    /** The content before the change. */
    readonly before: BinaryContent | null;
    /** The content after the change. */
    readonly after: BinaryContent | null;
  };
  /** The hunks, at least one. */
  readonly hunks: readonly ChangeHunk[];
  /**
   * True when the change can only be accepted as one, with all of its hunks: a file that is created, removed or moved,
   * gets another mode or encoding, or is not text.
   */
  readonly whole: boolean;
}

/** One path that a question covers. The members of {@link ChangeContents} are not enumerable. */
export interface ConfirmedChange extends ChangeSummary, ChangeContents {}

/** A change as plain data, with its contents. */
export interface ChangeDetails extends ChangeSummary, ChangeContents {}

/** The bytes of a changed file. */
export interface ChangedBytes {
  /** Null where there is no file. */
  readonly before: Uint8Array | null;
  /** Null where there is no file. */
  readonly after: Uint8Array | null;
}

/** Not enumerable, because nothing that is shown or sent may contain whole files. */
const BYTES: unique symbol = Symbol("bytes");

/**
 * Creates a change for a question. `bytes` are the contents of a file, when they are known; `isJoined` is true for what
 * several operations make of one path, which can only be made as one.
 */
export function confirmedChange(
  summary: ChangeSummary,
  bytes: ChangedBytes = NO_BYTES,
  isJoined = false,
): ConfirmedChange {
  const texts = once(() => decodeBoth(bytes));
  const hunks = once(() => readHunks(summary, bytes, texts()));
  const lazy = (get: () => unknown): PropertyDescriptor => ({ enumerable: false, get });
  const change = Object.defineProperties(
    { ...summary },
    {
      [BYTES]: { value: bytes },
      before: lazy(() => texts().before?.text ?? null),
      after: lazy(() => texts().after?.text ?? null),
      binary: lazy(once(() => binaryOf(bytes, texts()))),
      hunks: lazy(() => hunks().hunks),
      whole: lazy(() => isJoined || hunks().whole),
    },
  );
  return Object.freeze(change) as ConfirmedChange;
}

/** Returns the bytes of a change of a question; undefined for an object that is a copy. */
export function changedBytesOf(change: ConfirmedChange): ChangedBytes | undefined {
  // One that is shown without its contents has another as its prototype.
  return Object.hasOwn(change, BYTES) ? (change as { readonly [BYTES]?: ChangedBytes })[BYTES] : undefined;
}

/** Returns a function that computes a value when it is called for the first time. */
function once<T>(compute: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: compute() };
    return made.value;
  };
}

/** Returns a change of a question as plain data, with its contents. */
export function changeDetails(change: ConfirmedChange): ChangeDetails {
  const { before, after, binary, hunks, whole } = change;
  return { ...change, before, after, ...withoutUndefined({ binary }), hunks, whole };
}

/** The accepted part of one change. Nothing of a change without a part is made. */
export interface ConfirmedPart {
  /** The `path` of the change in the question. */
  readonly path: string;
  /** The accepted hunks: their indexes in `hunks` of the change. Of a `whole` change all of them or none. */
  readonly hunks: readonly number[];
  /** Hunks of which only some lines are accepted. */
  readonly lines?: readonly ConfirmedLines[];
}

/** The accepted lines of one hunk. */
export interface ConfirmedLines {
  /** The index of the hunk, which is not in `hunks` of the part. */
  readonly hunk: number;
  /**
   * The indexes of removed and added lines in `rows` of the hunk. A removed line that is not accepted stays, an added
   * one is left out.
   */
  readonly rows: readonly number[];
}

/** Returns what is wrong with a choice of parts of these changes, as a clause; undefined when it is valid. */
export function partsProblem(
  changes: readonly ConfirmedChange[],
  parts: readonly ConfirmedPart[],
): string | undefined {
  const byPath = new Map(changes.map((change) => [change.path, change]));
  if (new Set(parts.map(({ path }) => path)).size < parts.length) return "it names a path twice";
  const problems = parts.map((part) => partProblem(byPath.get(part.path), part));
  return problems.find((problem) => problem !== undefined);
}

function partProblem(
  change: ConfirmedChange | undefined,
  { hunks, lines = [] }: ConfirmedPart,
): string | undefined {
  if (change === undefined) return "it names a path that the change does not have";
  const numbers = [...hunks, ...lines.map(({ hunk }) => hunk)];
  if (new Set(numbers).size < numbers.length) return "it names a hunk twice";
  if (numbers.some((number) => change.hunks[number] === undefined))
    return "it names a hunk that the change does not have";
  for (const { hunk, rows } of lines) {
    if (rows.length === 0 || new Set(rows).size < rows.length) return "it names a line twice, or none";
    if (rows.some((row) => (change.hunks[hunk]?.rows[row]?.kind ?? "same") === "same"))
      return "it names a line that the hunk does not change";
  }
  const isCut = change.whole && numbers.length > 0 && hunks.length < change.hunks.length;
  return isCut ? "it has a part of a change that can only be made as one" : undefined;
}

/** Returns the accepted hunks of a change, in order. A hunk with all of its changed lines is the whole hunk. */
export function acceptedHunks(
  { hunks }: ConfirmedChange,
  part: ConfirmedPart | undefined,
): readonly HunkChoice[] {
  const inPart = (part?.lines ?? []).map(({ hunk, rows }) => {
    const changed = hunks[hunk]?.rows.filter(({ kind }) => kind !== "same").length;
    return rows.length === changed ? { hunk } : { hunk, rows };
  });
  const whole = (part?.hunks ?? []).map((hunk) => ({ hunk }));
  return [...whole, ...inPart].sort((a, b) => a.hunk - b.hunk);
}

/** Returns true when a valid choice accepts every hunk of every change. */
export function acceptsEverything(
  changes: readonly ConfirmedChange[],
  parts: readonly ConfirmedPart[],
): boolean {
  if (partsProblem(changes, parts) !== undefined) return false;
  return changes.every((change) => {
    const accepted = acceptedHunks(
      change,
      parts.find(({ path }) => path === change.path),
    );
    return accepted.filter(({ rows }) => rows === undefined).length === change.hunks.length;
  });
}

/** The hunk of a change without text: accepting it accepts the change. */
const HUNK_WITHOUT_ROWS: ChangeHunk = Object.freeze({
  oldStart: 0,
  oldLines: 0,
  newStart: 0,
  newLines: 0,
  rows: Object.freeze([]),
});

const NO_BYTES: ChangedBytes = Object.freeze({ before: null, after: null });

/** The two contents of a file as text. */
interface ChangedTexts {
  readonly before: DecodedText | null;
  readonly after: DecodedText | null;
}

/** Returns both contents as text; null for one that is not text, or does not exist. */
function decodeBoth({ before: old, after: now }: ChangedBytes): ChangedTexts {
  const before = old === null ? null : decodeIfText(old);
  const after = now === null ? null : decodeIfText(now);
  if (before === null || after === null || now === null) return { before, after };
  if (before.encoding === after.encoding || isUnicode(after.encoding) || isUnicode(before.encoding))
    return { before, after };
  // Which of the older encodings a text has is guessed, so a few changed words may change the guess.
  try {
    return { before, after: engine().decodeText(now, before.encoding) };
  } catch {
    return { before, after };
  }
}

const UTF_8_ENCODINGS: ReadonlySet<string> = new Set(["utf-8", "ascii", "us-ascii"]);

const isUtf16 = (encoding: string): boolean => encoding.startsWith("utf-16");

const isUnicode = (encoding: string): boolean => UTF_8_ENCODINGS.has(encoding) || isUtf16(encoding);

/**
 * Returns the encoding in which lines of both contents can be combined; undefined when they have different ones. Text
 * with only ASCII characters fits every encoding except UTF-16.
 */
export function commonEncodingOf(bytes: ChangedBytes): string | undefined {
  return commonEncoding(bytes, decodeBoth(bytes));
}

function commonEncoding({ before: old, after: now }: ChangedBytes, texts: ChangedTexts): string | undefined {
  const sides: DecodedText[] = [];
  for (const [content, text] of [
    [old, texts.before],
    [now, texts.after],
  ] as const) {
    if (content === null || content.length === 0) continue;
    if (text === null) return undefined;
    sides.push(text);
  }
  const [first, second = first] = sides;
  if (first === undefined || second === undefined) return "utf-8";
  if (first.encoding === second.encoding) return first.encoding;
  if (isUtf16(first.encoding) || isUtf16(second.encoding)) return undefined;
  if (UTF_8_ENCODINGS.has(first.encoding) && UTF_8_ENCODINGS.has(second.encoding)) return "utf-8";
  if (ONLY_ASCII.test(first.text)) return second.encoding;
  return ONLY_ASCII.test(second.text) ? first.encoding : undefined;
}

const ONLY_ASCII = /^[\0-\x7f]*$/u;

/** Returns the contents that are not text; undefined when all are. */
function binaryOf({ before: old, after: now }: ChangedBytes, texts: ChangedTexts): ChangeContents["binary"] {
  const side = (content: Uint8Array | null, text: DecodedText | null): BinaryContent | null =>
    content === null || text !== null ? null : { size: content.length, hash: engine().sha256(content) };
  const [before, after] = [side(old, texts.before), side(now, texts.after)];
  return before === null && after === null ? undefined : { before, after };
}

function readHunks(
  { kind, mode }: ChangeSummary,
  bytes: ChangedBytes,
  texts: ChangedTexts,
): Pick<ChangeContents, "hunks" | "whole"> {
  const { before: old, after: now } = bytes;
  const isBinary = (old !== null && texts.before === null) || (now !== null && texts.after === null);
  if (isBinary) return { hunks: [HUNK_WITHOUT_ROWS], whole: true };
  const [before, after] = [texts.before?.text ?? "", texts.after?.text ?? ""];
  const encoding = commonEncoding(bytes, texts);
  const ranges =
    encoding === undefined
      ? engine().hunksBetween(encodeUtf8(before), encodeUtf8(after))
      : engine().hunksBetween(old ?? EMPTY_BYTES, now ?? EMPTY_BYTES, encoding);
  if (ranges.length === 0) return { hunks: [HUNK_WITHOUT_ROWS], whole: true };
  const lines = { old: splitLines(before), new: splitLines(after) };
  const hunks = ranges.map((range) => hunkOf(range, lines));
  return { hunks, whole: kind !== "edit" || mode !== undefined || encoding === undefined };
}

/** The lines of both contents, each with its line ending. */
interface ChangedLines {
  readonly old: readonly string[];
  readonly new: readonly string[];
}

/** Returns the lines of a text, each with its line ending. */
const splitLines = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/gu) ?? [];

/** Returns a hunk with its rows. */
function hunkOf(range: HunkRange, lines: ChangedLines): ChangeHunk {
  const rows: HunkRow[] = [];
  const add = (kind: HunkRow["kind"], old: number, now: number): void => {
    const line = (kind === "added" ? lines.new[now] : lines.old[old]) ?? "";
    const end = line.endsWith("\r\n") ? "\r\n" : line.endsWith("\n") ? "\n" : "";
    rows.push({
      kind,
      old: kind === "added" ? null : old + 1,
      new: kind === "removed" ? null : now + 1,
      text: line.slice(0, line.length - end.length),
      end,
    });
  };
  let [old, now] = [range.oldStart, range.newStart];
  const keepUntil = (end: number): void => {
    while (old < end) add("same", old++, now++);
  };
  for (const change of range.changes) {
    keepUntil(change.oldStart);
    for (let left = change.oldLines; left > 0; left--) add("removed", old++, now);
    for (let left = change.newLines; left > 0; left--) add("added", old, now++);
  }
  keepUntil(range.oldStart + range.oldLines);
  const { oldLines, newLines } = range;
  return {
    oldStart: range.oldStart + (oldLines === 0 ? 0 : 1),
    oldLines,
    newStart: range.newStart + (newLines === 0 ? 0 : 1),
    newLines,
    rows,
  };
}
