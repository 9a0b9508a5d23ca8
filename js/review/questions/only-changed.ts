/** Says of a change that it changes nothing but the ends of lines, or white space. */
import type { ChangedBytes, ConfirmedChange } from "../../hooks/changed-files.ts";

/** Returns what alone is changed; undefined when something else is, too, as another encoding may be. */
export function onlyChanged(
  { kind, whole, before, after }: Pick<ConfirmedChange, "kind" | "whole" | "before" | "after">,
  bytes: ChangedBytes | undefined,
): "line ends" | "white space" | undefined {
  if (kind !== "edit" || whole || before === null || after === null || before === after) return undefined;
  // The texts are without their byte order marks.
  if (!bytes?.before || !bytes.after || hasMark(bytes.before) !== hasMark(bytes.after)) return undefined;
  // A lone CR ends no line here, as it ends none in the diff.
  if (isSameWithout(isLineEnd, before, after)) return "line ends";
  return isSameWithout(isSpace, before, after) ? "white space" : undefined;
}

/** Returns true for bytes that begin with the byte order mark of UTF-8 or UTF-16. */
function hasMark([first, second, third]: Uint8Array): boolean {
  return (
    (first === 0xef && second === 0xbb && third === 0xbf) ||
    (first === 0xff && second === 0xfe) ||
    (first === 0xfe && second === 0xff)
  );
}

/** Returns true when two texts are equal apart from characters of a kind. It stops at the first other difference. */
function isSameWithout(
  isLeftOut: (text: string, at: number) => boolean,
  before: string,
  after: string,
): boolean {
  for (let [old, now] = [0, 0]; ; old++, now++) {
    while (old < before.length && isLeftOut(before, old)) old += 1;
    while (now < after.length && isLeftOut(after, now)) now += 1;
    if (old === before.length || now === after.length) return old === before.length && now === after.length;
    if (before[old] !== after[now]) return false;
  }
}

/** Returns true for the CR of a CR LF, and for the LF at the end of the text. Every other LF must be in both texts. */
function isLineEnd(text: string, at: number): boolean {
  if (text[at] === "\r") return text[at + 1] === "\n";
  return text[at] === "\n" && at === text.length - 1;
}

const SPACE = /\p{White_Space}/u;

/** All white space of Unicode is one UTF-16 unit. A byte order mark is none. */
function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < 0x80 ? code === 0x20 || (code >= 0x09 && code <= 0x0d) : SPACE.test(text[at] as string);
}
