/** Parts of texts for people and models: names without characters that could mislead, and numbers with their nouns. */

/** A quick test before the slower replacement: most names are printable ASCII and need no escaping. */
const NON_PRINTABLE_ASCII = /[^ -~]/u;
/**
 * The characters that cannot be seen or that reorder others, as a part of a class in a regular expression: controls,
 * characters without a shape of their own (bidirectional marks, zero-width, tags, fillers), separators of lines, and
 * surrogates without a partner. `is_deceptive_char` in `crates/core/src/text/path.rs` has the same.
 */
export const UNSEEN_CHARACTERS: string = String.raw`\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Surrogate}`;

/** Made on use: the properties of characters take 1 ms. */
let unsafeCharacters: RegExp | undefined;
const NAMED_ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * Escapes what could forge a line, hide text or make it ill-formed: controls, characters without a shape of their own, separators of
 * lines, and surrogates without a partner.
 *
 * @example escapeControls("a\nb") // "a\\nb"
 */
export function escapeControls(text: string): string {
  if (!NON_PRINTABLE_ASCII.test(text)) return text;
  unsafeCharacters ??= new RegExp(`[${UNSEEN_CHARACTERS}]`, "gu");
  return text.replace(unsafeCharacters, escapeOfCharacter);
}

/** Returns the escape of a character, such as `\\n`, `\\x1b` or `\\u{202e}`. */
export function escapeOfCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  return (
    NAMED_ESCAPES[character] ?? (code < 0x100 ? `\\x${hex.padStart(2, "0")}` : `\\u{${hex.padStart(4, "0")}}`)
  );
}

/** Returns a count with its noun, such as `1 file` or `2 files`. */
export function plural(count: number, one: string, many: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
