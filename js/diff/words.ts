/** Compares texts word by word, where white space is no difference. */
import {
  returnOrCallBack,
  type Callback,
  type ChangeObject,
  changesBetween,
  diffWordsWithSpace,
  type DiffResult,
  WORD_LETTERS_CLASS,
  withCallbackAsOption,
  type TokenOptions,
} from "./changes.ts";

/** How texts are split into words, and compared. */
export interface WordOptions<T = ChangeObject[]> extends TokenOptions<T> {
  /** The segmenter that splits texts into words. Its granularity must be `word`. */
  readonly intlSegmenter?: Intl.Segmenter | undefined;
  /** False to compare as `diffWordsWithSpace` does. Default true. */
  readonly ignoreWhitespace?: boolean | undefined;
}

const WORD_TOKENS = new RegExp(`[${WORD_LETTERS_CLASS}]+|\\s+|[^${WORD_LETTERS_CLASS}]`, "gu");

/** Compares two texts word by word. Differences in white space alone are ignored. */
export function diffWords<O extends WordOptions | Callback<ChangeObject[]> = WordOptions>(
  before: string,
  after: string,
  options?: O,
): DiffResult<ChangeObject[], O> {
  const given = withCallbackAsOption<WordOptions>(options);
  if (given.ignoreWhitespace === false) return diffWordsWithSpace(before, after, options);
  const words = (text: string): string[] => wordsWithSpace(text, given.intlSegmenter);
  return returnOrCallBack(given, () => {
    const found = changesBetween(words(before), words(after), trimWord, given, joinWords);
    return found === undefined || given.oneChangePerToken === true
      ? found
      : withoutDoubleSpace(found, given.intlSegmenter);
  }) as DiffResult<ChangeObject[], O>;
}

function trimWord(word: string): string {
  return word.trim();
}

/** Returns the words and punctuation marks of a text, each with the white space on both of its sides. */
function wordsWithSpace(text: string, segmenter: Intl.Segmenter | undefined): string[] {
  const parts = segmenter === undefined ? (text.match(WORD_TOKENS) ?? []) : segmentsOf(text, segmenter);
  const words: string[] = [];
  let previous: string | undefined;
  for (const part of parts) {
    if (previous !== undefined && isWhiteSpace(part)) words.push(`${words.pop()}${part}`);
    else if (previous !== undefined && isWhiteSpace(previous)) {
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
function joinWords(words: readonly string[]): string {
  return words.map((word, at) => (at === 0 ? word : word.trimStart())).join("");
}

function isWhiteSpace(part: string): boolean {
  return /\s/u.test(part);
}

/**
 * Returns the segments of a text. Neighbouring segments of white space are joined, because the segmenter
 * divides at each line ending.
 */
function segmentsOf(text: string, segmenter: Intl.Segmenter): string[] {
  if (segmenter.resolvedOptions().granularity !== "word") {
    throw new Error('The segmenter passed must have a granularity of "word"');
  }
  const parts: string[] = [];
  for (const { segment } of segmenter.segment(text)) {
    const last = parts.at(-1);
    if (last !== undefined && isWhiteSpace(last) && isWhiteSpace(segment))
      parts[parts.length - 1] = last + segment;
    else parts.push(segment);
  }
  return parts;
}

type MutableChange = { -readonly [Key in keyof ChangeObject]: ChangeObject[Key] };

/**
 * Removes white space that both an unchanged part and its neighbouring change contain. It stays in the change
 * if only one side has it, otherwise in the unchanged part.
 */
function withoutDoubleSpace(
  found: readonly ChangeObject[],
  segmenter: Intl.Segmenter | undefined,
): ChangeObject[] {
  const drafts: MutableChange[] = found.map((change) => ({ ...change }));
  const ends = (text: string): [string, string] => spaceAround(text, segmenter);
  let [before, removed, added]: (MutableChange | undefined)[] = [];
  const settle = (after: MutableChange | undefined): void => {
    if (removed !== undefined && added !== undefined)
      moveSharedSpaceOfReplacement(before, removed, added, after, ends);
    else if (added !== undefined) keepSpaceAtEndsOfAddition(before, added, after, ends);
    else if (removed !== undefined) moveSharedSpaceOfRemoval(before, removed, after, ends);
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

type SpaceAtEnds = (text: string) => [start: string, end: string];

/** Handles a replacement: white space that both sides have is moved to the neighbouring unchanged parts. */
function moveSharedSpaceOfReplacement(
  before: MutableChange | undefined,
  removed: MutableChange,
  added: MutableChange,
  after: MutableChange | undefined,
  ends: SpaceAtEnds,
): void {
  const [[oldStart, oldEnd], [newStart, newEnd]] = [ends(removed.value), ends(added.value)];
  if (before !== undefined) {
    const shared = commonPrefix(oldStart, newStart);
    before.value = withoutSuffix(before.value, newStart) + shared;
    removed.value = removed.value.slice(shared.length);
    added.value = added.value.slice(shared.length);
  }
  if (after !== undefined) {
    const shared = commonSuffix(oldEnd, newEnd);
    after.value = shared + after.value.slice(newEnd.length);
    removed.value = withoutSuffix(removed.value, shared);
    added.value = withoutSuffix(added.value, shared);
  }
}

/**
 * Assigns the white space around an addition: all of it belongs to the new text, so each part keeps that at its
 * end.
 */
function keepSpaceAtEndsOfAddition(
  before: MutableChange | undefined,
  added: MutableChange,
  after: MutableChange | undefined,
  ends: SpaceAtEnds,
): void {
  if (before !== undefined) added.value = added.value.slice(ends(added.value)[0].length);
  if (after !== undefined) after.value = after.value.slice(ends(after.value)[0].length);
}

/**
 * Handles a removal: white space that the new text has between the neighbouring words stays with them; the
 * rest was removed.
 */
function moveSharedSpaceOfRemoval(
  before: MutableChange | undefined,
  removed: MutableChange,
  after: MutableChange | undefined,
  ends: SpaceAtEnds,
): void {
  if (before !== undefined && after !== undefined) {
    const [between] = ends(after.value);
    const [start, end] = ends(removed.value);
    const first = commonPrefix(between, start);
    removed.value = removed.value.slice(first.length);
    const last = commonSuffix(between.slice(first.length), end);
    removed.value = withoutSuffix(removed.value, last);
    after.value = last + after.value.slice(between.length);
    before.value = withoutSuffix(before.value, between) + withoutSuffix(between, last);
  } else if (after !== undefined) {
    const shared = longestOverlap(ends(removed.value)[1], ends(after.value)[0]);
    removed.value = withoutSuffix(removed.value, shared);
  } else if (before !== undefined) {
    const shared = longestOverlap(ends(before.value)[1], ends(removed.value)[0]);
    removed.value = removed.value.slice(shared.length);
  }
}

/** Returns the white space at the beginning and at the end of a text. */
function spaceAround(text: string, segmenter: Intl.Segmenter | undefined): [start: string, end: string] {
  if (segmenter === undefined) {
    return [text.slice(0, text.length - text.trimStart().length), text.slice(text.trimEnd().length)];
  }
  const parts = segmentsOf(text, segmenter);
  const space = (part: string | undefined): string => (part !== undefined && isWhiteSpace(part) ? part : "");
  return [space(parts[0]), space(parts.at(-1))];
}

function commonPrefix(one: string, other: string): string {
  let length = 0;
  while (length < one.length && length < other.length && one[length] === other[length]) length++;
  return one.slice(0, length);
}

function commonSuffix(one: string, other: string): string {
  let length = 0;
  while (length < one.length && length < other.length && one.at(-1 - length) === other.at(-1 - length)) {
    length++;
  }
  return one.slice(one.length - length);
}

/** Returns the longest end of one text with which the other text begins. */
function longestOverlap(one: string, other: string): string {
  let length = Math.min(one.length, other.length);
  while (!one.endsWith(other.slice(0, length))) length--;
  return other.slice(0, length);
}

function withoutSuffix(text: string, end: string): string {
  return text.slice(0, text.length - end.length);
}
