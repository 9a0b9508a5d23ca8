/** The names of records: texts of any kind, such as agents and paths, as parts that every engine accepts. */
import { byteLength } from "../backends/paths.ts";
import { engine } from "../engine/current.ts";

/**
 * The maximum length of a part of a record's name that is not hashed, in bytes. A whole name has at most 1024 bytes,
 * and a kind has other parts before it.
 */
const MAX_NAME_BYTES = 700;

/** The first character of a name that is a hash. */
export const HASH_MARK = "#";

/**
 * Returns a text as a part of a record's name. A text is replaced by `#` and its hash if it is empty or too long, if
 * the engine of the records might not accept its characters, or if it begins with `#` and could be taken for a hash.
 */
export function namePart(text: string): string {
  if (isPlainName(text)) return text;
  return `${HASH_MARK}${engine().sha256(new TextEncoder().encode(JSON.stringify(text)))}`;
}

/** Returns true for a text that every engine accepts as a part of a record's name, and that is not taken for a hash. */
export function isPlainName(text: string): boolean {
  const isAccepted = text !== "" && !/[\0\p{Surrogate}]/u.test(text) && !text.startsWith(HASH_MARK);
  return isAccepted && byteLength(text) <= MAX_NAME_BYTES;
}
