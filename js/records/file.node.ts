/**
 * Records in a file that several processes share and people may read, in a form of its own: a {@link RecordsFormat}.
 *
 * A change reads, merges and replaces the file under a lock between processes, so that no change is lost. Every
 * query checks whether the file has changed, so that a record which another process removed ends here too. A file
 * that is invalid, or that other users could have written, is refused and left unchanged. Records have no time of their
 * own here: their values say when they end, and those that have ended leave the file with its next change.
 */
import { openDisk } from "../backends/disk.node.ts";
import { compareCodePoints } from "../backends/paths.ts";
import { FilewrightError } from "../engine/errors.ts";
import { unmetError } from "./check.ts";
import type { KeptRecords, ListedRecord, ListRecords, PutRecord, SharedRecord } from "./records.ts";
import { readTrustedText, stampOfFile } from "./trusted-file.node.ts";

/** The number of attempts to write the file. A program that does not take the lock can make one fail. */
const MAX_WRITE_ATTEMPTS = 20;
/** The maximum size of the file, in bytes. A larger file is refused. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** A record of a file. */
export interface FileRow {
  readonly kind: string;
  readonly id: string;
  readonly value: unknown;
}

/** The form of a file of records. */
export interface RecordsFormat {
  /** Returns the records of a text, each name once. @throws FilewrightError for a text that is not understood */
  parse(text: string): readonly FileRow[];
  /** Returns the text of records. `before` is the present text, whose other parts stay. @throws FilewrightError */
  format(rows: readonly FileRow[], before: string | undefined): string;
  /** Returns what is left of a value at a time in milliseconds since 1970; undefined when it has ended. */
  live(value: unknown, now: number): unknown;
  /** Creates the error of a file that is refused. `why` continues "it is refused: ". */
  refuse(why: string, cause?: unknown): FilewrightError;
}

/** Where a file of records is, and how it is changed. */
export interface RecordsFile {
  /** The absolute path of the file. */
  readonly file: string;
  readonly format: RecordsFormat;
  /** The directory of the lock between processes; default: the user's state directory. */
  readonly stateDir: string | undefined;
  /** The longest wait for another process that changes the file, in milliseconds. */
  readonly lockTimeoutMs: number;
  /** Creates the directory of the file where it is missing. */
  makeDirectory(): void;
}

/** The content of the file, as it was read last. */
interface SeenText {
  /** A text that differs after every change of the file; empty for a file that does not exist. */
  readonly stamp: string;
  readonly text: string | undefined;
  readonly rows: readonly FileRow[];
}

type Disk = Awaited<ReturnType<typeof openDisk>>;

const NO_FILE: SeenText = Object.freeze({ stamp: "", text: undefined, rows: Object.freeze([]) });

/** Records in a file. The revision of a record is that of the whole file. */
export class FileRecords implements KeptRecords {
  readonly #place: RecordsFile;
  #seen: SeenText | undefined;
  #disk: Promise<Disk> | undefined;

  constructor(place: RecordsFile) {
    this.#place = place;
  }

  async get(kind: string, id: string): Promise<SharedRecord | null> {
    const { stamp, rows } = this.read();
    const row = rows.find((one) => one.kind === kind && one.id === id);
    return row === undefined ? null : { value: row.value, rev: stamp };
  }

  async list(kind: string, { after, limit }: ListRecords): Promise<readonly ListedRecord[]> {
    const { stamp, rows } = this.read();
    return rows
      .filter((row) => row.kind === kind && (after === undefined || compareCodePoints(row.id, after) > 0))
      .sort((one, other) => compareCodePoints(one.id, other.id))
      .slice(0, limit)
      .map(({ id, value }) => ({ id, value, rev: stamp }));
  }

  async put(kind: string, id: string, value: unknown, { expect }: PutRecord = {}): Promise<string> {
    const isThis = (row: FileRow): boolean => row.kind === kind && row.id === id;
    return this.#change(({ rows, stamp }) => {
      const found = rows.some(isThis) ? stamp : null;
      if (expect !== undefined && expect !== found)
        throw unmetError([{ record: { kind, id }, expected: expect, found }]);
      return [...rows.filter((row) => !isThis(row)), { kind, id, value }];
    });
  }

  async remove(kind: string, id: string): Promise<void> {
    await this.#change(({ rows }) => rows.filter((row) => row.kind !== kind || row.id !== id));
  }

  /** Returns the present content. @throws FilewrightError for a file that is not trusted or not understood */
  read(): SeenText {
    const { file, format } = this.#place;
    const stamp = stampOfFile(file);
    if (stamp === "") this.#seen = NO_FILE;
    else if (this.#seen?.stamp !== stamp) {
      const found = readTrustedText(file, MAX_FILE_BYTES, (why, cause) => format.refuse(why, cause));
      this.#seen = { ...found, rows: this.#parse(found.text) };
    }
    return this.#seen;
  }

  #parse(text: string): readonly FileRow[] {
    const { format } = this.#place;
    try {
      return format.parse(text);
    } catch (error) {
      if (!(error instanceof FilewrightError)) throw error;
      throw format.refuse(error.message, error);
    }
  }

  /** Replaces the records with those that `next` returns, and returns the revision of the file. */
  async #change(next: (seen: SeenText) => readonly FileRow[]): Promise<string> {
    const { file, stateDir, lockTimeoutMs, makeDirectory } = this.#place;
    makeDirectory();
    const disk = await this.#openDisk(stateDir);
    const lock = await disk.lock(file, { timeoutMs: lockTimeoutMs, resolved: true });
    try {
      for (let attempt = 1; ; attempt++) {
        const failure = await this.#replace(disk, next);
        if (failure === undefined) return this.read().stamp;
        if (attempt === MAX_WRITE_ATTEMPTS) throw failure;
      }
    } finally {
      lock.release();
    }
  }

  /** Opens the disk once, also for changes that begin at the same time. */
  #openDisk(stateDir: string | undefined): Promise<Disk> {
    this.#disk ??= openDisk({ stateDir, durability: "durable" }).catch((error: unknown) => {
      this.#disk = undefined;
      throw error;
    });
    return this.#disk;
  }

  /** Writes the file once. Returns the error when another program has written it first. */
  async #replace(
    disk: Disk,
    next: (seen: SeenText) => readonly FileRow[],
  ): Promise<FilewrightError | undefined> {
    const { file, format } = this.#place;
    // Reads the version first: content read after it can only be newer, which makes the write fail.
    const before = await disk.stat(file).catch(() => null);
    this.#seen = undefined;
    const seen = this.read();
    const rows = next(seen);
    if (rows.length === seen.rows.length && rows.every((row, at) => row === seen.rows[at])) return undefined;
    const live = rows.flatMap((row): readonly FileRow[] => {
      const value = format.live(row.value, Date.now());
      return value === undefined ? [] : [{ ...row, value }];
    });
    const condition = before?.version === undefined ? { ifAbsent: true } : { ifVersion: before.version };
    const content = format.format(live, seen.text);
    try {
      await disk.writeText(file, content, { ...condition, mode: 0o600, durability: "durable" });
    } catch (error) {
      if (error instanceof FilewrightError && isWriteConflict(error)) return error;
      throw error;
    }
    this.#seen = undefined;
    return undefined;
  }
}

/** Returns true when another program wrote the file first, so that the change is tried again. */
function isWriteConflict({ code }: FilewrightError): boolean {
  return code === "CONFLICT" || code === "ALREADY_EXISTS";
}
