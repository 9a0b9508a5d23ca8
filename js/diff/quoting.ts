/** git's C quoting of file names. */
const LETTER_OF: Readonly<Record<number, string>> = {
  7: "a",
  8: "b",
  9: "t",
  10: "n",
  11: "v",
  12: "f",
  13: "r",
  34: '"',
  92: "\\",
};
const BYTE_OF: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(LETTER_OF).map(([byte, letter]) => [letter, Number(byte)]),
);

/** Quotes a name that contains quotes, backslashes or characters other than printable ASCII. */
export function quoted(name: string): string {
  if (/^[ !#-[\]-~]*$/u.test(name)) return name;
  let text = "";
  for (const byte of new TextEncoder().encode(name)) {
    const letter = LETTER_OF[byte];
    if (letter !== undefined) text += `\\${letter}`;
    else if (byte >= 0x20 && byte <= 0x7e) text += String.fromCharCode(byte);
    else text += `\\${byte.toString(8).padStart(3, "0")}`;
  }
  return `"${text}"`;
}

/** Parses a quoted name at the beginning of a text, with its length; undefined when it is malformed. */
export function quotedName(text: string): { readonly name: string; readonly length: number } | undefined {
  const [whole, body] = /^"((?:[^"\\]|\\[abtnvfr"\\]|\\[0-7]{3})*)"/u.exec(text) ?? [];
  if (whole === undefined || body === undefined) return undefined;
  const bytes: number[] = [];
  for (const [part, octal, letter] of body.matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/gu)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8) & 0xff);
    else if (letter !== undefined) bytes.push(BYTE_OF[letter] as number);
    else for (const byte of new TextEncoder().encode(part)) bytes.push(byte);
  }
  return { name: new TextDecoder().decode(new Uint8Array(bytes)), length: whole.length };
}

/** Returns the name without its quotes, if it has any. */
export function unquoted(text: string): string {
  return quotedName(text)?.name ?? text;
}
