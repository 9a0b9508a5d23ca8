/** The reads of agents as records in files of JSON lines, in the state directory: one file for each agent. */
import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { compareCodePoints } from "../../backends/paths.ts";
import { unmetError } from "../../records/check.ts";
import { isPlainName, namePart } from "../../records/names.ts";
import type {
  KeptRecords,
  ListedRecord,
  ListRecords,
  PutRecord,
  SharedRecord,
} from "../../records/records.ts";
import { type ReadPlace, readOf } from "./reads-records.ts";

/** The number of outdated lines from which a file is rewritten when it is loaded. */
const MAX_SURPLUS_LINES = 2000;
/** The maximum number of entries that are loaded for one agent. Older ones count as unread. */
const MAX_LOADED_ENTRIES = 10_000;

/** The records of one agent, by id, the oldest first. */
type AgentRecords = Map<string, SharedRecord>;

/** Returns the reads of the agents of a state directory. */
export function fileReads(stateDir: string): ReadPlace {
  const records = new ReadFiles(join(stateDir, "reads"));
  return Object.freeze({
    records,
    isShared: false,
    kindOf: (agent: string) => agent,
    close: () => records.close(),
  });
}

/**
 * Records below a directory, whose kinds are agents. They are loaded once. A change is there for this process at once;
 * its line is appended later, and lost with an error of the disk. An incomplete last line, or one that cannot be parsed,
 * only makes a file count as unread.
 */
class ReadFiles implements KeptRecords {
  readonly #directory: string;
  readonly #kinds = new Map<string, Promise<AgentRecords>>();
  readonly #files = new Map<string, Promise<FileHandle>>();
  #last: Promise<void> = Promise.resolve();
  #revisions = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async get(kind: string, id: string): Promise<SharedRecord | null> {
    return (await this.#recordsOf(kind)).get(id) ?? null;
  }

  async list(kind: string, { after, limit }: ListRecords): Promise<readonly ListedRecord[]> {
    return [...(await this.#recordsOf(kind))]
      .filter(([id]) => after === undefined || compareCodePoints(id, after) > 0)
      .sort(([one], [other]) => compareCodePoints(one, other))
      .slice(0, limit)
      .map(([id, record]) => ({ id, ...record }));
  }

  async put(kind: string, id: string, value: unknown, { expect }: PutRecord = {}): Promise<string> {
    const records = await this.#recordsOf(kind);
    const found = records.get(id)?.rev ?? null;
    if (expect !== undefined && expect !== found)
      throw unmetError([{ record: { kind, id }, expected: expect, found }]);
    const rev = this.#nextRevision();
    records.set(id, { value, rev });
    this.#append(kind, lineOf(value));
    return rev;
  }

  async remove(kind: string, id: string): Promise<void> {
    const records = await this.#recordsOf(kind);
    // Another process may have written an entry of this path, so the removal is written in any case.
    const path = isPlainName(id) ? id : readOf(records.get(id)?.value)?.path;
    records.delete(id);
    if (path !== undefined) this.#append(kind, lineOf({ path }));
  }

  /** Writes what is pending, and closes the files. */
  async close(): Promise<void> {
    // Changes that wait for their agent's records are appended first.
    await Promise.all(this.#kinds.values());
    await this.#last;
    for (const file of this.#files.values()) await (await file).close();
    this.#files.clear();
  }

  #pathOf(kind: string): string {
    const name = createHash("sha256").update(kind).digest("hex").slice(0, 32);
    return join(this.#directory, `${name}.jsonl`);
  }

  #nextRevision(): string {
    return String(++this.#revisions);
  }

  #recordsOf(kind: string): Promise<AgentRecords> {
    let records = this.#kinds.get(kind);
    if (records === undefined) {
      records = this.#load(kind);
      this.#kinds.set(kind, records);
    }
    return records;
  }

  async #load(kind: string): Promise<AgentRecords> {
    const text = await readFile(this.#pathOf(kind), "utf8").catch(() => "");
    // What follows a line that was cut is a line of its own.
    if (text !== "" && !text.endsWith("\n")) this.#append(kind, "\n");
    const lines = text.split("\n").filter((line) => line !== "");
    const values = new Map<string, unknown>();
    for (const line of lines) {
      const value = valueOfLine(line);
      if (value === undefined) continue;
      values.delete(value.path);
      if (readOf(value) !== undefined) values.set(value.path, value);
    }
    const newest = [...values].slice(-MAX_LOADED_ENTRIES);
    if (lines.length > newest.length + MAX_SURPLUS_LINES)
      await rewriteFile(
        this.#pathOf(kind),
        newest.map(([, value]) => value),
      );
    return new Map(newest.map(([path, value]) => [namePart(path), { value, rev: this.#nextRevision() }]));
  }

  #append(kind: string, text: string): void {
    this.#last = this.#last
      .then(async () => {
        await (await this.#opened(kind)).write(text);
      })
      // A lost entry only makes a file count as unread, which is safe.
      .catch(() => undefined);
  }

  #opened(kind: string): Promise<FileHandle> {
    let file = this.#files.get(kind);
    if (file === undefined) {
      file = mkdir(this.#directory, { recursive: true, mode: 0o700 }).then(() =>
        open(this.#pathOf(kind), "a", 0o600),
      );
      this.#files.set(kind, file);
    }
    return file;
  }
}

const lineOf = (value: unknown): string => `${JSON.stringify(value)}\n`;

async function rewriteFile(path: string, values: readonly unknown[]): Promise<void> {
  const made = `${path}.${process.pid}`;
  await writeFile(made, values.map(lineOf).join(""), { mode: 0o600 });
  await rename(made, path);
}

/** Returns the value of one line; undefined for a line that cannot be parsed. */
function valueOfLine(line: string): { readonly path: string } | undefined {
  try {
    const value = Object(JSON.parse(line)) as { readonly path?: unknown };
    return typeof value.path === "string" ? (value as { readonly path: string }) : undefined;
  } catch {
    return undefined;
  }
}
