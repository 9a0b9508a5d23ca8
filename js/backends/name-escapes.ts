/**
 * Names that are not text: the form `\xHH` of a byte that belongs to no character, as
 * `crates/core/src/text/path.rs` describes it. A backslash before such a form is `\x5C`.
 *
 * The same name can be typed with more escapes than it needs: `cl\xC3\xA9` is `clé`. Rules compare text, so
 * {@link canonicalPath} comes before every rule.
 */

const NAME_ESCAPE = /\\x(?:5C|[89A-F][0-9A-F])/;
const NAME_ESCAPES = /\\x(5C|[89A-F][0-9A-F])/g;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Returns true for a path with an escape of a byte. */
export function hasNameEscape(path: string): boolean {
  return NAME_ESCAPE.test(path);
}

/** Returns the one spelling of a path, or of the target of a link: it escapes only what is not text. */
export function canonicalPath(path: string): string {
  return NAME_ESCAPE.test(path) ? textOfNameBytes(bytesOfName(path)) : path;
}

/** Returns the bytes of a name or path. */
export function bytesOfName(path: string): Uint8Array {
  const bytes: number[] = [];
  let from = 0;
  for (const found of path.matchAll(NAME_ESCAPES)) {
    bytes.push(...encoder.encode(path.slice(from, found.index)), Number.parseInt(found[1] as string, 16));
    from = found.index + found[0].length;
  }
  bytes.push(...encoder.encode(path.slice(from)));
  return Uint8Array.from(bytes);
}

/** Returns the bytes of a name or path as text from which {@link bytesOfName} restores them. */
export function textOfNameBytes(bytes: Uint8Array): string {
  const text = textOrUndefined(bytes);
  if (text !== undefined && !NAME_ESCAPE.test(text)) return text;
  let shown = "";
  for (let at = 0; at < bytes.length; ) {
    const [character, length] = characterAt(bytes, at);
    if (length === 0) {
      shown += `\\x${(bytes[at] as number).toString(16).toUpperCase().padStart(2, "0")}`;
      at += 1;
      continue;
    }
    const escaped =
      character === "\\" && NAME_ESCAPE.test(String.fromCharCode(...bytes.subarray(at, at + 4)));
    shown += escaped ? "\\x5C" : character;
    at += length;
  }
  return shown;
}

/** Returns the character at an offset and the number of its bytes; 0 when none is valid there. */
function characterAt(bytes: Uint8Array, at: number): readonly [string, number] {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length++) {
    const character = textOrUndefined(bytes.subarray(at, at + length));
    if (character !== undefined) return [character, length];
  }
  return ["", 0];
}

function textOrUndefined(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
