/**
 * Notes which histories concern a directory. A workspace of several directories has one history, that of its working
 * directory: a person in one of the others finds it by these notes.
 *
 * A note says only where to look. What the history holds is in its own records, which are authenticated.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { makePrivateDirectory } from "./private-directory.node.ts";

/** A history that is kept for several directories. */
export interface SharedHistory {
  /** The directories that its workspace may change; the first is the working directory, which identifies the history. */
  readonly roots: readonly string[];
}

/** The maximum number of notes that are read for a directory, and the size of one in bytes. */
const [MAX_NOTES, MAX_NOTE_BYTES] = [64, 64 * 1024];

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);

const folderOf = (stateDir: string, directory: string): string =>
  join(stateDir, "journal", "shared", digestOf(directory));

/** Notes a history for each of its directories. A note that cannot be written is left out: the history works without. */
export function noteSharedHistory(stateDir: string, { roots }: SharedHistory): void {
  const text = JSON.stringify({ roots });
  try {
    for (const root of roots) {
      const folder = folderOf(stateDir, root);
      const file = join(folder, `${digestOf(text)}.json`);
      if (existsSync(file)) continue;
      makePrivateDirectory(folder);
      writeFileSync(file, text, { mode: 0o600, flag: "wx" });
    }
  } catch {
    // The disk may be full or read-only, or another process has written the note.
  }
}

/** Returns the histories of several directories of which this is one, by its real path. */
export function sharedHistoriesOf(stateDir: string, directory: string): readonly SharedHistory[] {
  const folder = folderOf(stateDir, directory);
  let names: readonly string[];
  try {
    names = readdirSync(folder).sort().slice(0, MAX_NOTES);
  } catch {
    return [];
  }
  return names
    .flatMap((name) => readNote(join(folder, name)) ?? [])
    .filter(({ roots }) => roots.includes(directory));
}

/** Returns a note; undefined for a file that is none. */
function readNote(file: string): SharedHistory | undefined {
  try {
    if (statSync(file).size > MAX_NOTE_BYTES) return undefined;
    const { roots } = JSON.parse(readFileSync(file, "utf8")) as { readonly roots?: unknown };
    const isList = Array.isArray(roots) && roots.every((one) => typeof one === "string" && isAbsolute(one));
    return isList ? { roots: roots as readonly string[] } : undefined;
  } catch {
    return undefined;
  }
}
