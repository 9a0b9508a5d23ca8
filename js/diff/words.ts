/** Compares texts word by word, where white space is no difference. */
import {
  answer,
  type Callback,
  type ChangeObject,
  changes,
  diffWordsWithSpace,
  type DiffResult,
  LETTERS,
  optionsOf,
  type TokenOptions,
} from "./changes.ts";

/** How texts are split into words, and compared. */
export interface WordOptions<T = ChangeObject[]> extends TokenOptions<T> {
  /** The segmenter that splits texts into words. Its granularity must be `word`. */
  readonly intlSegmenter?: Intl.Segmenter | undefined;
  /** False to compare as `diffWordsWithSpace` does. Default true. */
  readonly ignoreWhitespace?: boolean | undefined;
}

const WORD_TOKENS = new RegExp(`[${LETTERS}]+|\\s+|[^${LETTERS}]`, "gu");

/** Compares two texts word by word. Differences in white space alone are ignored. */
export function diffWords<O extends WordOptions | Callback<ChangeObject[]> = WordOptions>(
  before: string,
  after: string,
  options?: O,
): DiffResult<ChangeObject[], O> {
  const given = optionsOf<WordOptions>(options);
  if (given.ignoreWhitespace === false) return diffWordsWithSpace(before, after, options);
  const words = (text: string): string[] => wordsOf(text, given.intlSegmenter);
  return answer(given, () => {
    const found = changes(words(before), words(after), trimmed, given, withSpaceOnce);
    return found === undefined || given.oneChangePerToken === true
      ? found
      : withoutDoubleSpace(found, given.intlSegmenter);
  }) as DiffResult<ChangeObject[], O>;
}

function trimmed(word: string): string {
  return word.trim();
}

/** Returns the words and punctuation marks of a text, each with the white space on both of its sides. */
function wordsOf(text: string, segmenter: Intl.Segmenter | undefined): string[] {
  const parts = segmenter === undefined ? (text.match(WORD_TOKENS) ?? []) : segments(text, segmenter);
  const words: string[] = [];
  let previous: string | undefined;
  for (const part of parts) {
    if (previous !== undefined && isSpace(part)) words.push(`${words.pop()}${part}`);
    else if (previous !== undefined && isSpace(previous)) {
      // White space at the beginning of the text follows no word, so it belongs to the first one only.
      if (words.at(-1) === previous) words.pop();
      words.push(previous + part);
    } else words.push(part);
    previous = part;
  }
  return words;
}

/**
 * Joins words of one text. White space between two words is in both of them, so it is removed from the
 * second.
 */
function withSpaceOnce(words: readonly string[]): string {
  return words.map((word, at) => (at === 0 ? word : word.trimStart())).join("");
}

function isSpace(part: string): boolean {
  return /\s/u.test(part);
}

/**
 * Returns the segments of a text. Neighbouring segments of white space are joined, because the segmenter
 * divides at each line ending.
 */
function segments(text: string, segmenter: Intl.Segmenter): string[] {
  if (segmenter.resolvedOptions().granularity !== "word") {
    throw new Error('The segmenter passed must have a granularity of "word"');
  }
  const parts: string[] = [];
  for (const { segment } of segmenter.segment(text)) {
    const last = parts.at(-1);
    if (last !== undefined && isSpace(last) && isSpace(segment)) parts[parts.length - 1] = last + segment;
    else parts.push(segment);
  }
  return parts;
}

type Draft = { -readonly [Key in keyof ChangeObject]: ChangeObject[Key] };

/**
 * Removes white space that both an unchanged part and its neighbouring change contain. It stays in the change
 * if only one side has it, otherwise in the unchanged part.
 */
function withoutDoubleSpace(
  found: readonly ChangeObject[],
  segmenter: Intl.Segmenter | undefined,
): ChangeObject[] {
  const drafts: Draft[] = found.map((change) => ({ ...change }));
  const ends = (text: string): [string, string] => spaceAround(text, segmenter);
  let [before, removed, added]: (Draft | undefined)[] = [];
  const settle = (after: Draft | undefined): void => {
    if (removed !== undefined && added !== undefined) settleBoth(before, removed, added, after, ends);
    else if (added !== undefined) settleAdded(before, added, after, ends);
    else if (removed !== undefined) settleRemoved(before, removed, after, ends);
    [removed, added] = [undefined, undefined];
  };
  for (const draft of drafts) {
    if (draft.added) added = draft;
    else if (draft.removed) removed = draft;
    else {
      settle(draft);
      before = draft;
    }
  }
  settle(undefined);
  return drafts;
}

type Ends = (text: string) => [start: string, end: string];

/** Handles a replacement: white space that both sides have is moved to the neighbouring unchanged parts. */
function settleBoth(
  before: Draft | undefined,
  removed: Draft,
  added: Draft,
  after: Draft | undefined,
  ends: Ends,
): void {
  const [[oldStart, oldEnd], [newStart, newEnd]] = [ends(removed.value), ends(added.value)];
  if (before !== undefined) {
    const shared = commonStart(oldStart, newStart);
    before.value = withoutEnd(before.value, newStart) + shared;
    removed.value = removed.value.slice(shared.length);
    added.value = added.value.slice(shared.length);
  }
  if (after !== undefined) {
    const shared = commonEnd(oldEnd, newEnd);
    after.value = shared + after.value.slice(newEnd.length);
    removed.value = withoutEnd(removed.value, shared);
    added.value = withoutEnd(added.value, shared);
  }
}

/**
 * Handles an addition: all white space belongs to the new text, so each part keeps the white space at its
 * end.
 */
function settleAdded(before: Draft | undefined, added: Draft, after: Draft | undefined, ends: Ends): void {
  if (before !== undefined) added.value = added.value.slice(ends(added.value)[0].length);
  if (after !== undefined) after.value = after.value.slice(ends(after.value)[0].length);
}

/**
 * Handles a removal: white space that the new text has between the neighbouring words stays with them; the
 * rest was removed.
 */
function settleRemoved(
  before: Draft | undefined,
  removed: Draft,
  after: Draft | undefined,
  ends: Ends,
): void {
  if (before !== undefined && after !== undefined) {
    const [between] = ends(after.value);
    const [start, end] = ends(removed.value);
    const first = commonStart(between, start);
    removed.value = removed.value.slice(first.length);
    const last = commonEnd(between.slice(first.length), end);
    removed.value = withoutEnd(removed.value, last);
    after.value = last + after.value.slice(between.length);
    before.value = withoutEnd(before.value, between) + withoutEnd(between, last);
  } else if (after !== undefined) {
    const shared = overlap(ends(removed.value)[1], ends(after.value)[0]);
    removed.value = withoutEnd(removed.value, shared);
  } else if (before !== undefined) {
    const shared = overlap(ends(before.value)[1], ends(removed.value)[0]);
    removed.value = removed.value.slice(shared.length);
  }
}

/** Returns the white space at the beginning and at the end of a text. */
function spaceAround(text: string, segmenter: Intl.Segmenter | undefined): [start: string, end: string] {
  if (segmenter === undefined) {
    return [text.slice(0, text.length - text.trimStart().length), text.slice(text.trimEnd().length)];
  }
  const parts = segments(text, segmenter);
  const space = (part: string | undefined): string => (part !== undefined && isSpace(part) ? part : "");
  return [space(parts[0]), space(parts.at(-1))];
}

function commonStart(one: string, other: string): string {
  let length = 0;
  while (length < one.length && length < other.length && one[length] === other[length]) length++;
  return one.slice(0, length);
}

function commonEnd(one: string, other: string): string {
  let length = 0;
  while (length < one.length && length < other.length && one.at(-1 - length) === other.at(-1 - length)) {
    length++;
  }
  return one.slice(one.length - length);
}

/** Returns the longest end of one text with which the other text begins. */
function overlap(one: string, other: string): string {
  let length = Math.min(one.length, other.length);
  while (!one.endsWith(other.slice(0, length))) length--;
  return other.slice(0, length);
}

function withoutEnd(text: string, end: string): string {
  return text.slice(0, text.length - end.length);
}
