/** Stores the reads of agents as files of JSON lines in the state directory. */
import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LineRange } from "../../tools/lib/line-ranges.ts";
import type { SeenFile } from "../../tools/lib/seen.ts";
import type { ReadStore } from "./reads.ts";

/** The number of outdated lines from which a file is rewritten when it is loaded. */
const MAX_SURPLUS_LINES = 2000;
/** The maximum number of entries that are loaded for one agent. Older ones count as unread. */
const MAX_LOADED_ENTRIES = 10_000;

/**
 * Creates a store below a directory, with one file per agent. Entries are appended, and loading removes
 * outdated ones. An incomplete last line, or one that cannot be parsed, only makes a file count as
 * unread.
 */
export function fileReadStore(stateDir: string): ReadStore {
  const directory = join(stateDir, "reads");
  const files = new Map<string, Promise<FileHandle>>();
  let last: Promise<void> = Promise.resolve();
  const pathOf = (agent: string): string =>
    join(directory, `${createHash("sha256").update(agent).digest("hex").slice(0, 32)}.jsonl`);
  const opened = (agent: string): Promise<FileHandle> => {
    let file = files.get(agent);
    if (file === undefined) {
      file = mkdir(directory, { recursive: true, mode: 0o700 }).then(() => open(pathOf(agent), "a", 0o600));
      files.set(agent, file);
    }
    return file;
  };
  return {
    async load(agent) {
      const text = await readFile(pathOf(agent), "utf8").catch(() => "");
      const lines = text.split("\n").filter((line) => line !== "");
      const notes = new Map<string, SeenFile>();
      for (const line of lines) {
        const note = parseReadLine(line);
        if (note === undefined) continue;
        notes.delete(note.path);
        if (note.file !== undefined) notes.set(note.path, note.file);
      }
      const newest = [...notes].slice(-MAX_LOADED_ENTRIES);
      if (lines.length > newest.length + MAX_SURPLUS_LINES) await rewriteReadsFile(pathOf(agent), newest);
      return newest;
    },
    note(agent, path, file) {
      const line = `${JSON.stringify({ path, ...file })}\n`;
      last = last
        .then(async () => {
          await (await opened(agent)).write(line);
        })
        // A lost entry only makes a file count as unread, which is safe.
        .catch(() => undefined);
    },
    async close() {
      await last;
      for (const file of files.values()) await (await file).close();
      files.clear();
    },
  };
}

async function rewriteReadsFile(
  path: string,
  notes: readonly (readonly [string, SeenFile])[],
): Promise<void> {
  const text = notes.map(([of, file]) => `${JSON.stringify({ path: of, ...file })}\n`).join("");
  const made = `${path}.${process.pid}`;
  await writeFile(made, text, { mode: 0o600 });
  await rename(made, path);
}

/** Returns the entry of one line; undefined for a line that cannot be parsed. */
function parseReadLine(
  line: string,
): { readonly path: string; readonly file: SeenFile | undefined } | undefined {
  try {
    const { path, version, hash, lines } = JSON.parse(line) as Record<string, unknown>;
    if (typeof path !== "string") return undefined;
    if (typeof version !== "string" && typeof hash !== "string") return { path, file: undefined };
    const file = {
      ...(typeof version === "string" ? { version } : {}),
      ...(typeof hash === "string" ? { hash } : {}),
      // Lines in an unknown form count as unread.
      ...(lines === undefined ? {} : { lines: isRangeList(lines) ? lines : [] }),
    };
    return { path, file };
  } catch {
    return undefined;
  }
}

function isRangeList(value: unknown): value is readonly LineRange[] {
  const isRange = (one: unknown): boolean =>
    Array.isArray(one) && one.length === 2 && one.every((line) => Number.isSafeInteger(line));
  return Array.isArray(value) && value.every(isRange);
}
