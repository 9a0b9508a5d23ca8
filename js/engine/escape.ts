/** Escapes characters in names and texts that could mislead a person or a model. */

/** A quick test before the slower replacement: most names are printable ASCII and need no escaping. */
const NON_PRINTABLE_ASCII = /[^ -~]/u;
const UNSAFE_CHARACTERS = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;
const LONE_SURROGATES = /\p{Surrogate}/gu;
const NAMED_ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * Escapes what could forge a line, hide text or make it ill-formed: control characters, line separators,
 * bidirectional controls and unpaired surrogates.
 *
 * @example escapeControls("a\nb") // "a\\nb"
 */
export function escapeControls(text: string): string {
  if (!NON_PRINTABLE_ASCII.test(text)) return text;
  return text.replace(UNSAFE_CHARACTERS, escapeCharacter).replace(LONE_SURROGATES, escapeCharacter);
}

function escapeCharacter(character: string): string {
  const code = character.charCodeAt(0);
  const hex = code.toString(16);
  return (
    NAMED_ESCAPES[character] ?? (code < 0x100 ? `\\x${hex.padStart(2, "0")}` : `\\u{${hex.padStart(4, "0")}}`)
  );
}
