/**
 * Detects comments that stand for omitted code, such as `// ... rest of the file ...`.
 *
 * Models abbreviate with such comments. When one is written to a file, it replaces the lines it
 * stands for, and they are lost. An omission is a line that the change adds and that the old text
 * does not have, where the change removes lines.
 */
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { escapeControls } from "../../engine/escape.ts";
import { MIN_THREAD_BYTES } from "../../engine/threads.ts";
import { runOnThread } from "../../engine/workers/file-calls.ts";
import { Yielder } from "../../engine/yielder.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { type ReaderNames, phraseIfNamed, set, setPhrase } from "./tool.ts";

/** A line that stands for lines of the old content. */
export interface Omission {
  /** The line number in the new content, from 1. */
  readonly line: number;
  readonly text: string;
  /** The first and the last line of the old content that would be lost; undefined when no line would be. */
  readonly deletes?: readonly [first: number, last: number];
}

const COMMENT_OPENINGS = ["{/*", "<!--", "//", "/*", "--", "#", ";", "%", "*", '"""'];
const COMMENT_CLOSINGS = ["*/}", "-->", "*/", '"""'];

/** Words that show, in a comment with dots before and after it, that lines are omitted or unchanged. */
const OMISSION_WORDS =
  /\b(?:rest|remain(?:s|ing|der)?|existing|unchanged|omitted|same|previous|others?|keep|kept|continue[sd]?|more|snip(?:ped)?|truncated|unmodified|as before|as is|elided|skipped|code|lines?)\b/iu;

/**
 * Matches the whole text of a comment that stands for code, if dots precede but do not follow it. The text is
 * stricter than with dots on both sides.
 */
const PLACEHOLDER_TEXT =
  /^(?:(?:the )?(?:rest|remainder|remaining|existing)$|(?:the )?(?:rest|remainder) of (?:the |your |this |my )?[\w']+(?: [\w']+)?(?:,? (?:is |are |remains? |stays? |as )?(?:unchanged|(?:the )?same|unmodified|as before|as is|omitted|untouched|here|intact)(?: as before)?)?$|(?:\d+ )?(?:more|existing|remaining|unchanged|omitted|other|previous) [\w']+(?: [\w']+){0,2}(?: for brevity)?$|(?:code |lines? )?(?:unchanged|omitted|unmodified|elided|snip(?:ped)?|truncated|as before)\b|same as (?:before|above)$|keep (?:the )?(?:rest|existing|remaining|other)\b)/iu;

/** Match the whole text of a comment that says without dots that lines are omitted. */
const OMISSION_SENTENCES: readonly RegExp[] = [
  /^(?:the )?(?:rest|remainder) of (?:the |your |this |my )?(?:(?:original|existing|previous|old) )?(?:file|code|content|contents|function|method|class|module|component|implementation|logic|script|document|test|tests|lines)(?:'s (?:code|content))?(?: here| below| follows| goes here)?(?:,? (?:is |are |remains? |stays? |as )?(?:unchanged|(?:the )?same|unmodified|as before|as is|omitted|untouched|here|intact)(?: as before)?)?$/iu,
  /^(?:the )?(?:remaining|existing|previous|other|unchanged|original) (?:code|lines|content|functions?|methods?|implementation|tests?|imports?)(?: here| below| above)?(?: (?:is |are |remains? |stays? )?(?:unchanged|the same|same|unmodified|as before|as is|omitted(?: for brevity)?|goes here|here))?$/iu,
  /^(?:the )?(?:code|file|function|method|class) continues(?: here| below| as before| unchanged)?$/iu,
  /^(?:code |content )?(?:unchanged|same as (?:before|above|previous)|omitted(?: for brevity)?|truncated(?: for brevity)?|no changes?(?: here)?)$/iu,
  /^keep (?:the )?(?:rest|existing|remaining|other)\b[\w ]{0,40}$/iu,
];

/**
 * Match lines with which answers of this package end, such as `[lines 1-20 of 300; …]`. A model that copies
 * an answer may write them; they never belong to a file.
 */
const ANSWER_NOTICES: readonly RegExp[] = [
  /^\[lines \d+-\d+ of (?:at least )?\d+[;\]]/u,
  /^\[output cut at \d+ bytes; truncated\]$/u,
  /^\[File content truncated: showing lines \d+-\d+ of \d+ total lines\./u,
];

/**
 * The maximum length of a comment that can be an omission, in UTF-16 units. A longer one is never taken for
 * one.
 */
const MAX_COMMENT_CHARS = 200;

/** Returns true for a line with which an answer of this package ends. */
function isAnswerNotice(line: string): boolean {
  return ANSWER_NOTICES.some((notice) => notice.test(line.trim()));
}

/** Returns true for a line that is only a comment about omitted lines. */
export function isOmissionComment(line: string): boolean {
  const whole = line.trim();
  if (whole.length === 0 || whole.length > MAX_COMMENT_CHARS) return false;
  const bare = withoutCommentMarks(whole);
  const isComment = bare !== whole;
  // A line without a comment mark must begin with dots. This excludes nearly all code before the slower
  // tests.
  if (!isComment && !/^[([]?\s*(?:\.{3}|…)/u.test(whole)) return false;
  const body = bare.replace(/^[([]\s*|\s*[)\]]$/gu, "");
  const inner = body.replace(DOTS_BEFORE, "").replace(DOTS_BEHIND, "").trim();
  const [before, behind] = [DOTS_BEFORE.test(body), DOTS_BEHIND.test(body)];
  // The comment consists of dots only. Without a comment mark, `...` may be code, as in Python.
  if (inner === "") return isComment && (before || behind);
  if (!/^[\p{L}\p{N} _'’,.()/:-]+$/u.test(inner)) return false;
  const words = inner.replace(/^[\s(]+|[\s).:]+$/gu, "");
  if (OMISSION_SENTENCES.some((sentence) => sentence.test(words))) return isComment || (before && behind);
  if (before && behind) return isComment || OMISSION_WORDS.test(words);
  // If dots only precede the text, a comment may continue the sentence of the comment above, so its text must
  // be a known one.
  return isComment && before && PLACEHOLDER_TEXT.test(words);
}

const DOTS_BEFORE = /^(?:\.{3,}|…)\s*/u;
const DOTS_BEHIND = /\s*(?:\.{3,}|…)$/u;
/** Returns the text of a comment without its marks; any other text is returned unchanged. */
function withoutCommentMarks(line: string): string {
  const mark = COMMENT_OPENINGS.find((one) => line.startsWith(one));
  if (mark === undefined) return line;
  const text = line.slice(mark.length);
  const closing = COMMENT_CLOSINGS.find((one) => text.endsWith(one)) ?? "";
  // `###` and `///` are marks as well.
  return text
    .slice(0, text.length - closing.length)
    .replace(/^[/#*-]+/u, "")
    .trim();
}

/**
 * The codes of the characters with which an omission can begin: those of comment marks, dots, and a bracket
 * before dots.
 */
const OMISSION_OPENING_CODES: ReadonlySet<number> = new Set(
  [...COMMENT_OPENINGS, "(", "[", "."].map((opening) => opening.charCodeAt(0)),
);

/**
 * A quick filter before `isSuspectLine`, which is slower: matches every line that could say that lines are
 * omitted, and few others. Looks for dots, a word of `OMISSION_SENTENCES`, or the start of a notice
 * such as `[lines 1-20`.
 */
const OMISSION_CLUE =
  /\.{3}|…|rest|remainder|remaining|existing|previous|other|unchanged|original|continues|same|omitted|truncated|no change|keep|^\s*\[(?:lines|output|file) /imu;

/**
 * Returns the numbers, from 1, of the lines that could stand for omitted lines. Of most lines only the first
 * and the last character are examined, because a text may have a million lines.
 */
function suspectLineNumbers(text: string): ReadonlySet<number> {
  const suspects = new Set<number>();
  for (const _ of findSuspectsInSlices(text, suspects));
  return suspects;
}

/**
 * Adds the numbers of the suspect lines of a text to `suspects`. Yields after every `LINES_PER_SLICE`
 * lines, so that the caller can let other tasks run.
 */
function* findSuspectsInSlices(text: string, suspects: Set<number>): Generator<void> {
  for (let start = 0, number = 1; start < text.length; number++) {
    if (number % LINES_PER_SLICE === 0) yield;
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    if (mayBeOmissionLine(text, start, end)) {
      const line = withoutFinalCr(text.slice(start, end));
      if (OMISSION_CLUE.test(line) && isSuspectLine(line)) suspects.add(number);
    }
    start = end + 1;
  }
}

/** The number of lines that are examined between two yields. */
const LINES_PER_SLICE = 4096;

/**
 * Returns false if the first and the last character show that the line is no omission: it is no comment, does
 * not begin with dots, and does not end with the mark of a truncated line.
 */
function mayBeOmissionLine(text: string, start: number, end: number): boolean {
  let at = start;
  while (at < end && text.charCodeAt(at) <= 0x20) at++;
  const first = at < end ? text.charCodeAt(at) : 0;
  // A character beyond ASCII may be white space or an ellipsis.
  if (OMISSION_OPENING_CODES.has(first) || first > 0x7f) return true;
  const last = text.charCodeAt(end - 1) === 0x0d ? end - 2 : end - 1;
  return last > start && text.charCodeAt(last) === 0x5d; // "]"
}

/** Returns true when a text contains a line that could stand for omitted lines. */
export function mayContainOmission(text: string): boolean {
  // A short text is looked through at once: a clue is in few of them. In a long one most characters are skipped.
  if (text.length < MAX_CLUE_UNITS && !OMISSION_CLUE.test(text)) return false;
  return suspectLineNumbers(text).size > 0;
}

/** The UTF-16 units of a text that is looked through before its lines are. */
const MAX_CLUE_UNITS = 4096;

function isSuspectLine(line: string): boolean {
  return isOmissionComment(line) || isAnswerNotice(line) || line.endsWith(TRUNCATED_LINE_END);
}

/**
 * Finds the omissions of a change. Both contents are text as it is in the file. The old one is decoded only
 * if a line of the new one could be an omission, which is rare.
 */
function findOmissions(decodeBefore: () => string, after: string): readonly Omission[] {
  return omissionsAmongSuspects(suspectLineNumbers(after), decodeBefore, after);
}

/** The content of a file before a change, and its encoding. */
export interface EncodedContent {
  readonly bytes: Uint8Array;
  readonly encoding: string | undefined;
}

/**
 * Finds the omissions of a change from an old content to a new text. Lines of large contents are compared on another
 * thread where there is one. @throws CANCELLED
 */
export async function findOmissionsAsync(
  { bytes, encoding }: EncodedContent,
  after: string,
  signal?: AbortSignal,
): Promise<readonly Omission[]> {
  const args: Parameters<typeof omissionsOfText> = [bytes, encoding, after];
  if (Math.max(bytes.length, after.length) < MIN_THREAD_BYTES) return omissionsOfText(...args);
  const yielder = new Yielder({ signal });
  const suspects = new Set<number>();
  for (const _ of findSuspectsInSlices(after, suspects)) await yielder.yieldIfDue();
  if (suspects.size === 0) return [];
  return runOnThread({ file: "tools/lib/omission.js", args, inPlace: omissionsOfText, signal });
}

/** Does the same as {@link findOmissionsAsync} for a new content in the same encoding. @throws CANCELLED */
export async function findOmissionsOfFile(
  { bytes, encoding }: EncodedContent,
  after: Uint8Array,
  signal?: AbortSignal,
): Promise<readonly Omission[]> {
  const { text } = await engine().reading.decodeText(after, encoding, { signal });
  return findOmissionsAsync({ bytes, encoding }, text, signal);
}

async function omissionsOfText(
  bytes: Uint8Array,
  encoding: string | undefined,
  after: string,
): Promise<readonly Omission[]> {
  return findOmissions(() => engine().decodeText(bytes, encoding).text, after);
}

/** Answers a call in a worker. */
export const answerInWorker = (
  _: unknown,
  ...args: Parameters<typeof omissionsOfText>
): Promise<readonly Omission[]> => omissionsOfText(...args);

function omissionsAmongSuspects(
  suspects: ReadonlySet<number>,
  decodeBefore: () => string,
  after: string,
): readonly Omission[] {
  const before = suspects.size === 0 ? "" : decodeBefore();
  if (before === "") return [];
  const lines = splitLines(after);
  const old = splitLines(before);
  const left = occurrencesOf(old);
  const added = occurrencesOf(lines);
  // A line that occurs as often in the old text belongs to the file and is no omission.
  const isNew = (text: string): boolean => (added.get(text) ?? 0) > (left.get(text) ?? 0);
  const encoder = new TextEncoder();
  // Line endings are removed first, so that a change of line endings alone is no change of lines.
  const { hunks } = engine().diff(
    encoder.encode(`${old.join("\n")}\n`),
    encoder.encode(`${lines.join("\n")}\n`),
    { context: 0 },
  );
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines }) => {
    const found = lineNumbers(newStart, newLines).filter((line) => suspects.has(line));
    if (found.length === 0) return [];
    const removed = old.slice(oldStart - 1, oldStart - 1 + oldLines).map((line) => line.trim());
    const deletes = removed.some((text) => text !== "")
      ? ([oldStart, oldStart + oldLines - 1] as const)
      : undefined;
    return found
      .map((line) => withoutUndefined({ line, text: (lines[line - 1] as string).trim(), deletes }))
      .filter(({ text }) => !removed.includes(text) && isNew(text))
      .filter(({ text }) => deletes !== undefined || isAnswerNotice(text));
  });
}

/** Returns the numbers of so many lines. */
const lineNumbers = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => first + index);

/** The mark that a page appends to a line that it truncated. A model that copies the page may write it. */
const TRUNCATED_LINE_END = "... [truncated]";

function splitLines(text: string): readonly string[] {
  const lines = text.split("\n").map(withoutFinalCr);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function withoutFinalCr(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

/** Returns the number of occurrences of each line, after white space at both ends is removed. */
function occurrencesOf(lines: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) {
    const text = line.trim();
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return counts;
}

/** Returns a sentence about an omission; `what` names the text in which its line is counted. */
function describeOmission({ line, text, deletes }: Omission, what: string): string {
  const shown = escapeControls(text.length > 80 ? `${text.slice(0, 80)}…` : text);
  const gone =
    deletes === undefined
      ? "which is no part of a file"
      : `which stands for ${
          deletes[0] === deletes[1] ? `line ${deletes[0]}` : `lines ${deletes[0]}-${deletes[1]}`
        } of the file and would delete ${deletes[0] === deletes[1] ? "it" : "them"}`;
  return `line ${line} of ${what} is "${shown}", ${gone}`;
}

/** Creates the error for a change that omits lines. */
export function omissionError(
  tool: string,
  argument: string,
  omissions: readonly Omission[],
  remedy: string,
): FilewrightError {
  const [first] = omissions as readonly [Omission];
  const more = omissions.length > 1 ? ` ${omissions.length - 1} more such lines follow.` : "";
  return new FilewrightError(
    "INVALID_ARGUMENT",
    `Invalid argument '${argument}': ${describeOmission(first, "the new content")}.${more} ${remedy}`,
    {
      complete: true,
      details: { tool, argument, reason: "omission", omissions },
    },
  );
}

/** Returns warnings about omissions that were written, at most `MAX_REPORTED_OMISSIONS`. */
export function omissionWarnings(omissions: readonly Omission[]): readonly string[] {
  return omissions
    .slice(0, MAX_REPORTED_OMISSIONS)
    .map((one) => `${describeOmission(one, "the new content").replace("would delete", "deleted")}`);
}

const MAX_REPORTED_OMISSIONS = 5;

/**
 * Returns the advice of the error: to send the whole content, or to use the tool that changes only some
 * lines.
 */
export function wholeContentRemedy(names: ReaderNames): string {
  const edit = phraseIfNamed(
    names.tool("edit_file"),
    (tool) => `, or change only the lines that change with ${tool}`,
  );
  const whole = phraseIfNamed(
    setPhrase(names, set("whole_file", true)),
    (phrase) => `; ${phrase} if the file is to hold exactly this`,
  );
  return `Nothing was written: send the whole content${edit}${whole}.`;
}
