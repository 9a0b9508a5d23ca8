/**
 * Names of entries as handles take them.
 *
 * A handle refuses `\` in a name, which is a plain character to us. It is kept
 * as U+F05C, the place that Windows' subsystem for Linux and Samba keep it at;
 * a name that holds that character itself is refused, so the map is one to one.
 */
import { failure } from "../failure.ts";

const KEPT = "\uf05c";
const TEMP = /^\.filewright-web-[0-9a-f]{16}$/;

/** The name a handle is asked for. @throws INVALID_ARGUMENT */
export function toHandleName(name: string, path: string): string {
  if (name.includes(KEPT)) throw failure("INVALID_ARGUMENT", path, "the name holds U+F05C");
  return name.includes("\\") ? name.replaceAll("\\", KEPT) : name;
}

/** The name an entry is shown by. */
export function fromHandleName(name: string): string {
  return name.includes(KEPT) ? name.replaceAll(KEPT, "\\") : name;
}

/** A name for a temporary file that nobody can guess. */
export function freshTempName(): string {
  const nonce = [...crypto.getRandomValues(new Uint8Array(8))];
  return `.filewright-web-${nonce.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Whether a name is one that a temporary file of ours has: such are not listed. */
export function isTempName(name: string): boolean {
  return TEMP.test(name);
}
