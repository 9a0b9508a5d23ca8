/** Reading patches as they stand: names and headers as written, nothing taken away. */
import type { StructuredPatch, StructuredPatchHunk } from "./patch.ts";

interface Draft {
  oldFileName: string | undefined;
  newFileName: string | undefined;
  oldHeader?: string | undefined;
  newHeader?: string | undefined;
  index?: string;
  hunks: StructuredPatchHunk[];
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/u;

/** Reads the patches in a unified diff. @throws Error where a hunk is not what its header says */
export function parsePatch(uniDiff: string): StructuredPatch[] {
  const lines = uniDiff.split("\n");
  const patches: Draft[] = [];
  let current: Draft | undefined;
  const open = (): Draft => {
    // Names that the patch does not tell are not there, as in jsdiff's patches.
    const draft = { hunks: [] } as Pick<Draft, "hunks"> as Draft;
    patches.push(draft);
    return draft;
  };
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] as string;
    if (line.startsWith("Index: ")) {
      current = open();
      current.index = line.slice(7).trim();
      at++;
    } else if (line.startsWith("--- ") && lines[at + 1]?.startsWith("+++ ") === true) {
      if (current === undefined || current.hunks.length > 0 || current.oldFileName !== undefined)
        current = open();
      [current.oldFileName, current.oldHeader] = nameIn(line);
      [current.newFileName, current.newHeader] = nameIn(lines[at + 1] as string);
      at += 2;
    } else if (line.startsWith("@@ ")) {
      current ??= open();
      const { hunk, next } = hunkAt(lines, at);
      current.hunks.push(hunk);
      at = next;
    } else at++;
  }
  return patches;
}

/** The name in a `---` or `+++` line, and what follows it after a tab. */
function nameIn(line: string): [name: string, header: string] {
  const [name = "", ...rest] = line.slice(4).replace(/\r$/u, "").split("\t");
  const quoted = /^"(.*)"$/u.exec(name);
  return [quoted === null ? name : unquoted(quoted[1] as string), rest.join("\t").trim()];
}

/** git's C quoting undone. */
function unquoted(text: string): string {
  const bytes: number[] = [];
  const escapes: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };
  for (const [part, octal, letter] of text.matchAll(/\\([0-3][0-7]{2})|\\(.)|[^\\]+/gu)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else if (letter !== undefined) bytes.push(escapes[letter] ?? letter.charCodeAt(0));
    else bytes.push(...new TextEncoder().encode(part));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

function hunkAt(
  lines: readonly string[],
  at: number,
): { readonly hunk: StructuredPatchHunk; readonly next: number } {
  const header = HUNK.exec(lines[at] as string);
  if (header === null) throw new Error(`Unknown line ${at + 1} ${JSON.stringify(lines[at])}`);
  const [oldStart, oldLines, newStart, newLines] = header.slice(1).map((digits) => Number(digits ?? 1)) as [
    number,
    number,
    number,
    number,
  ];
  const body: string[] = [];
  let [removed, added] = [0, 0];
  let next = at + 1;
  for (; next < lines.length; next++) {
    // An empty line may be a context line that lost its blank.
    const line = lines[next] === "" && next + 1 < lines.length ? " " : (lines[next] as string);
    const [mark] = line;
    if (mark === "\\") {
      body.push(line);
      continue;
    }
    if (removed >= oldLines && added >= newLines) break;
    if (mark !== " " && mark !== "+" && mark !== "-") {
      throw new Error(`Hunk at line ${at + 1} contained invalid line ${line}`);
    }
    removed += mark === "+" ? 0 : 1;
    added += mark === "-" ? 0 : 1;
    body.push(line);
  }
  if (added !== newLines) throw new Error(`Added line count did not match for hunk at line ${at + 1}`);
  if (removed !== oldLines) throw new Error(`Removed line count did not match for hunk at line ${at + 1}`);
  const hunk = {
    oldStart: oldLines === 0 ? oldStart + 1 : oldStart,
    oldLines,
    newStart: newLines === 0 ? newStart + 1 : newStart,
    newLines,
    lines: body,
  };
  return { hunk, next };
}
