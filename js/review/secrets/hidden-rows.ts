/** The rows of changes and the lines of files as the page gets them: with their secrets hidden until it asks for them. */
import { engine } from "../../engine/current.ts";
import type { ChangeRows, FileLines, PackedHunk } from "../protocol.ts";
import { encodeUtf8 } from "../../tools/lib/text.ts";
import { hideSecrets } from "./secret-text.ts";

/** The parameter of a request that asks for secrets: `secrets=shown`. */
const PARAMETER = "secrets";

/** Returns true for a request that asks for secrets. */
export function asksForSecrets({ searchParams }: URL): boolean {
  return searchParams.get(PARAMETER) === "shown";
}

/** A hunk without its secrets; null for one that has none. */
const hiddenHunks = new WeakMap<PackedHunk, { readonly hunk: PackedHunk; readonly hidden: number } | null>();

/** A part of each tag, so that a secret cannot be found by trying values. */
const TAG_KEY = crypto.randomUUID();

/** Returns rows without their secrets, unless the request asks for them. */
export function rowsForPage(rows: ChangeRows, isShown: boolean): ChangeRows {
  let hidden = 0;
  const hunks = rows.hunks.map((hunk) => {
    const one = hiddenHunk(hunk);
    if (one === null) return hunk;
    hidden += one.hidden;
    return isShown ? { ...hunk, tag: one.hunk.tag as string } : one.hunk;
  });
  const details = rows.details.map((line) => {
    const one = hideSecrets(line);
    hidden += one.hidden;
    return isShown ? line : one.text;
  });
  if (hidden === 0) return rows;
  return isShown ? { ...rows, hunks } : { ...rows, hunks, details, hidden };
}

function hiddenHunk(hunk: PackedHunk): { readonly hunk: PackedHunk; readonly hidden: number } | null {
  const known = hiddenHunks.get(hunk);
  if (known !== undefined) return known;
  const { text: lines, hidden } = hideSecrets(hunk.lines, true);
  const tag = (): string =>
    engine()
      .sha256(encodeUtf8(`${TAG_KEY}\n${hunk.lines}`))
      .slice(-16);
  const found = hidden === 0 ? null : { hunk: { ...hunk, lines, tag: tag() }, hidden };
  hiddenHunks.set(hunk, found);
  return found;
}

/** Returns the lines of a file without their secrets, unless the request asks for them. */
export function linesForPage(lines: FileLines, isShown: boolean): FileLines {
  if (isShown) return lines;
  const { text: content, hidden } = hideSecrets(lines.content);
  return hidden === 0 ? lines : { ...lines, content, hidden };
}
