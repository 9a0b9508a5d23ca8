/** Finds the characters of a text that cannot be seen or that reorder others, and shows them as escapes. */

/** A part of a text: as it is, or a character as its escape. */
export interface TextPart {
  readonly text: string;
  readonly isEscape: boolean;
}

/** A quick test: most lines are printable ASCII and tabs. */
const NOT_PLAIN = /[^\t -~]/u;
/**
 * Matches controls except the tab, characters without a shape of their own (zero-width, bidirectional, tags), separators
 * of lines, and surrogates without a partner.
 */
const UNSAFE = /(?!\t)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Surrogate}]/gu;

/** Returns the parts of a text. */
export function textParts(text: string): readonly TextPart[] {
  if (!NOT_PLAIN.test(text)) return [{ text, isEscape: false }];
  const parts: TextPart[] = [];
  let from = 0;
  for (const { 0: character, index } of text.matchAll(UNSAFE)) {
    if (index > from) parts.push({ text: text.slice(from, index), isEscape: false });
    parts.push({ text: escapeOf(character), isEscape: true });
    from = index + character.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), isEscape: false });
  return parts;
}

/** Returns a text with its escapes, for places that take plain text only. */
export function visibleText(text: string): string {
  return textParts(text)
    .map((part) => part.text)
    .join("");
}

const NAMED_ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r" };

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  return (
    NAMED_ESCAPES[character] ?? (code < 0x100 ? `\\x${hex.padStart(2, "0")}` : `\\u{${hex.padStart(4, "0")}}`)
  );
}
