/** Finds the characters of a text that cannot be seen or that reorder others, and shows them as escapes. */

import { escapeOfCharacter, UNSEEN_CHARACTERS } from "../../../engine/escape.ts";

/** A part of a text: as it is, or a character as its escape. */
export interface TextPart {
  readonly text: string;
  readonly isEscape: boolean;
  /** The length, in words, of a value that the server has hidden; `text` is dots then. */
  readonly hidden?: string;
}

/** The words for the length of a hidden value, by the mark in its place (`../../secrets/secret-text.ts`). */
const HIDDEN_LENGTHS: Readonly<Record<string, readonly [dots: string, words: string]>> = {
  "\uFDD0": ["••••", "less than 16 characters"],
  "\uFDD1": ["••••••••", "16 to 39 characters"],
  "\uFDD2": ["••••••••••••", "40 characters or more"],
};

/** A quick test: most lines are printable ASCII and tabs. */
const NOT_PLAIN = /[^\t -~]/u;
/** Matches characters that cannot be seen except the tab, and what stands for a hidden value. */
const UNSAFE = new RegExp(String.raw`(?!\t)[${UNSEEN_CHARACTERS}\uFDD0-\uFDD2]`, "gu");

/** Returns the parts of a text. */
export function textParts(text: string): readonly TextPart[] {
  if (!NOT_PLAIN.test(text)) return [{ text, isEscape: false }];
  const parts: TextPart[] = [];
  let from = 0;
  for (const { 0: character, index } of text.matchAll(UNSAFE)) {
    if (index > from) parts.push({ text: text.slice(from, index), isEscape: false });
    const [dots, hidden] = HIDDEN_LENGTHS[character] ?? [];
    parts.push(
      dots === undefined || hidden === undefined
        ? { text: escapeOfCharacter(character), isEscape: true }
        : { text: dots, isEscape: false, hidden },
    );
    from = index + character.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), isEscape: false });
  return parts;
}

/** Returns a text with its escapes, for places that take plain text only. */
export function visibleText(text: string): string {
  return textParts(text)
    .map(({ text: part, hidden }) => (hidden === undefined ? part : "(hidden)"))
    .join("");
}
