/**
 * Counts the tokens of answers, for `max_tokens`. The host gives the tokenizer of its model by the option `limits.tokens`;
 * without one the count is an estimate.
 *
 * The estimate weighs characters by what the tokenizers of models make of them: letters by the words that they form,
 * so that English and code have about 3 bytes a token, and characters outside ASCII by their length in UTF-8. It is
 * meant to be too high: on 912 pages of 60 lines, of source code and of messages in 13 languages, it was below the count
 * of `o200k_base` for three pages, of which one is a list of short keywords.
 */
import { FilewrightError } from "../../engine/errors.ts";
import type { Schema } from "./schema.ts";
import { integer } from "./shared.ts";
import { utf8Length } from "../../engine/wire/bytes.ts";

/** Returns the number of tokens of a text. */
export type CountTokens = (text: string) => number;

/** The least `max_tokens`: below it, the line that says how to go on leaves no room for a result. */
export const MIN_MAX_TOKENS = 200;

/** The schema of the argument `max_tokens`. */
export const MAX_TOKENS_SCHEMA: Schema = integer("The most tokens of the text.", { minimum: MIN_MAX_TOKENS });

/** The schema of `tokens` in the data of the tools with `max_tokens`. */
export const TOKENS_SCHEMA: Schema = integer("With max_tokens: the tokens of the text.");

/** The classes of ASCII characters. */
const [LOWER, UPPER, DIGIT, SPACE, TAB, LINE_END, SIGN] = [0, 1, 2, 3, 4, 5, 6] as const;

/**
 * The weight of a character in hundredths of a token: its own, and that after certain classes. The first letter after
 * anything else begins a word; indentation, `);` and `=>` are few tokens.
 */
const WEIGHTS: readonly (readonly [weight: number, after: readonly number[], then: number])[] = [
  [64, [LOWER, UPPER], 14],
  [85, [UPPER], 35],
  [60, [], 60],
  [8, [SPACE], 4],
  [40, [], 40],
  [80, [], 80],
  [85, [SIGN], 50],
];
/** Two bytes in UTF-8, such as é and Cyrillic. */
const TWO_BYTES_WEIGHT = 70;
/** Three bytes, such as Chinese, Japanese and Korean. */
const THREE_BYTES_WEIGHT = 140;
/** Half of a surrogate pair, which has four bytes, such as emoji. */
const HALF_PAIR_WEIGHT = 150;

/** The number of classes, with that of everything outside ASCII. */
const CLASSES = 8;
const OUTSIDE = 7;
const CLASS_BY_UNIT: Uint8Array = Uint8Array.from({ length: 0x80 }, (_, unit) => classOf(unit));
/** The weights of a class after another: at `CLASSES * before + class`. */
const WEIGHT_AFTER: Uint8Array = Uint8Array.from({ length: CLASSES * CLASSES }, (_, at) => {
  const [weight, after, then] = WEIGHTS[at % CLASSES] ?? [0, [], 0];
  return after.includes(Math.floor(at / CLASSES)) ? then : weight;
});

function classOf(unit: number): number {
  const character = String.fromCharCode(unit);
  if (/[a-z]/u.test(character)) return LOWER;
  if (/[A-Z]/u.test(character)) return UPPER;
  if (/[0-9]/u.test(character)) return DIGIT;
  if (character === " ") return SPACE;
  return character === "\t" ? TAB : unit < 0x20 ? LINE_END : SIGN;
}

/** Returns an estimate of the tokens of a text, which is seldom too low. */
function estimateTokens(text: string): number {
  let sum = 0;
  let before = OUTSIDE;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    const found = unit < 0x80 ? (CLASS_BY_UNIT[unit] as number) : OUTSIDE;
    sum += found === OUTSIDE ? weightOutsideAscii(unit) : (WEIGHT_AFTER[CLASSES * before + found] as number);
    before = found;
  }
  return Math.ceil(sum / 100);
}

function weightOutsideAscii(unit: number): number {
  if (unit < 0x800) return TWO_BYTES_WEIGHT;
  return unit >= 0xd800 && unit < 0xe000 ? HALF_PAIR_WEIGHT : THREE_BYTES_WEIGHT;
}

/**
 * Returns the tokenizer of the host, checked at each use; the estimate without one.
 *
 * @throws FilewrightError INVALID_ARGUMENT for a result that is no count
 */
export function countTokensWith(given: CountTokens | undefined): CountTokens {
  if (given === undefined) return estimateTokens;
  return (text) => {
    const count: unknown = given(text);
    if (typeof count === "number" && Number.isSafeInteger(count) && count >= 0) return count;
    throw new FilewrightError(
      "INVALID_ARGUMENT",
      "Invalid option 'limits.tokens': it must return the number of tokens of a text, an integer of at least 0.",
      { complete: true, details: { option: "limits.tokens" } },
    );
  };
}

/** The tokens that an answer may have. */
export interface TokenBudget {
  readonly most: number;
  readonly count: CountTokens;
}

/** Room for parts of a text, which are lines. */
export class TokenRoom {
  readonly #count: CountTokens;
  #left: number;

  constructor({ most, count }: TokenBudget) {
    this.#count = count;
    this.#left = most;
  }

  /** Takes a part if it fits, and returns whether it did. A smaller part may fit after one that did not. */
  take(lines: string): boolean {
    return this.takeTokens(this.tokensOf(lines));
  }

  /** Returns the tokens that a part takes. */
  tokensOf(lines: string): number {
    return this.#count(`${lines}\n`);
  }

  /** Takes so many tokens if they are left, and returns whether they were. */
  takeTokens(tokens: number): boolean {
    if (tokens > this.#left) return false;
    this.#left -= tokens;
    return true;
  }
}

/** The tokens that are kept free for the notes of an answer. */
export const NOTE_TOKENS = 60;
/** The most attempts with as many bytes as the last text suggests, after which each has half of the bytes before. */
const MAX_FITTED_ROUNDS = 4;
/** The bytes of a token, at most: a page of code has 3 to 5. */
const MAX_BYTES_PER_TOKEN = 8;

/** Something with its text. */
export interface Rendered<T> {
  readonly made: T;
  readonly text: string;
}

/**
 * Returns what `make` makes whose text fits `budget` with room for notes. `make` is called with ever fewer bytes, from
 * `bytes` down to 1, of which even a text that is too long is returned.
 */
export async function madeWithin<T>(
  { most, count }: TokenBudget,
  bytes: number,
  make: (bytes: number) => Promise<Rendered<T>>,
): Promise<T> {
  const room = most - NOTE_TOKENS;
  let size = Math.min(bytes, room * MAX_BYTES_PER_TOKEN);
  for (let round = 0; ; round++) {
    const { made, text } = await make(size);
    const tokens = count(text);
    if (tokens <= room || size === 1) return made;
    const fitting = Math.min(size - 1, Math.floor((utf8Length(text) * room) / tokens));
    size = Math.max(1, round < MAX_FITTED_ROUNDS ? fitting : size >> 1);
  }
}
