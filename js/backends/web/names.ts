/**
 * Names of entries in the form handles take.
 *
 * A handle refuses `\` in a name, which is a plain character here. It is stored as U+F05C, as in
 * Windows' subsystem for Linux and Samba; a name that contains that character itself is refused,
 * so the mapping is one to one.
 */
import { failure } from "../failure.ts";

const BACKSLASH_SUBSTITUTE = "\uf05c";
const TEMP_NAME = /^\.filewright-web-[0-9a-f]{16}$/;

/** Returns the handle's name of an entry. @throws INVALID_ARGUMENT */
export function toHandleName(name: string, path: string): string {
  if (name.includes(BACKSLASH_SUBSTITUTE)) throw failure("INVALID_ARGUMENT", path, "the name holds U+F05C");
  return name.includes("\\") ? name.replaceAll("\\", BACKSLASH_SUBSTITUTE) : name;
}

/** Returns the shown name of an entry. */
export function fromHandleName(name: string): string {
  return name.includes(BACKSLASH_SUBSTITUTE) ? name.replaceAll(BACKSLASH_SUBSTITUTE, "\\") : name;
}

/** Returns an unguessable name for a temporary file. */
export function freshTempName(): string {
  const nonce = [...crypto.getRandomValues(new Uint8Array(8))];
  return `.filewright-web-${nonce.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Returns true for the name of one of our temporary files, which listings omit. */
export function isTempName(name: string): boolean {
  return TEMP_NAME.test(name);
}
