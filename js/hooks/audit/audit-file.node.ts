/** The audit log as a file of JSON lines that only its owner can read, each with the hash of the line before it. */
import { createHash, randomBytes } from "node:crypto";
import { constants, fstatSync, readSync, writeSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { makePrivateDirectory } from "../../backends/private-directory.node.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { optionChecker } from "../../schema/option.ts";
import { AUDIT_OPTIONS, type AuditOptions, type AuditRecord, type AuditSink, audit } from "./audit.ts";
import type { Observer } from "../observer.ts";

/**
 * One line of an audit file. Each opened file writes one chain, so that several processes can append to one file.
 * `verifyAuditFile` checks the chains.
 */
export interface AuditLine extends AuditRecord {
  /** The chain: 16 hexadecimal digits, drawn when the file was opened. */
  readonly chain: string;
  /** The number of the line in its chain, from 1. */
  readonly seq: number;
  /**
   * `sha256:` of the bytes of the line before this one in its chain, without the line feed. For the first line of a
   * chain: of the last line that the file had; null when it had none.
   */
  readonly prev: string | null;
}

const checkOptions = optionChecker("auditFile", AUDIT_OPTIONS);

/**
 * Creates an audit log that appends records to a file (mode 0600), which is created if missing and never
 * rewritten. Several processes may append to one file, because each line is one write. A symbolic link is refused.
 * The file must be outside every root, or the agent could write its own log.
 *
 * Each line has the hash of the line before it ({@link AuditLine}), so {@link verifyAuditFile} finds lines that were
 * changed, removed or inserted later.
 *
 * @throws FilewrightError INVALID_ARGUMENT when the path is a link or no file, and for an invalid option
 */
export async function auditFile(path: string, options: AuditOptions = {}): Promise<Observer> {
  // Checked before the file is created: refused options leave nothing open.
  const checked = checkOptions(options);
  const log = audit(new ChainedFile(await openLog(path)), checked);
  return Object.freeze({ ...log, exportLog: () => readLogFile(path) });
}

/** Reads a log from its beginning. @throws FilewrightError IO_ERROR */
async function* readLogFile(path: string): AsyncGenerator<Uint8Array> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    yield* file.createReadStream({ highWaterMark: READ_BLOCK_BYTES });
  } catch (cause) {
    throw new FilewrightError("IO_ERROR", "the audit log cannot be read", { cause });
  }
}

const READ_BLOCK_BYTES = 256 * 1024;

/** Opens the file for appending, and creates it if it is missing. @throws FilewrightError INVALID_ARGUMENT */
async function openLog(path: string): Promise<FileHandle> {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  const opened = async () => {
    makePrivateDirectory(dirname(path));
    return open(path, flags | constants.O_NONBLOCK, 0o600);
  };
  const file = await opened().catch((cause: unknown) => {
    throw new FilewrightError("INVALID_ARGUMENT", "the audit log cannot be opened, or is a link", {
      path,
      cause,
    });
  });
  if (!(await file.stat()).isFile()) {
    await file.close();
    throw new FilewrightError("INVALID_ARGUMENT", "the audit log is not a regular file", { path });
  }
  return file;
}

/** Returns the hash of one line, given without its line feed, as `prev` contains it. */
export function hashOfLine(line: Uint8Array): string {
  return `sha256:${createHash("sha256").update(line).digest("hex")}`;
}

const LF = 0x0a;

/** Writes each record as one line of a chain. */
class ChainedFile implements AuditSink {
  readonly #file: FileHandle;
  readonly #chain = randomBytes(8).toString("hex");
  #seq = 0;
  #prev: string | null = null;
  /** True when the file does not end with a line feed, because a write was cut off. */
  #isCutOff = false;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  write(record: AuditRecord): void {
    const { fd } = this.#file;
    // Read at the first record and not at the opening: other processes may append in between.
    if (this.#seq === 0) ({ hash: this.#prev, isCutOff: this.#isCutOff } = lastLineOf(fd));
    const line: AuditLine = { ...record, chain: this.#chain, seq: this.#seq + 1, prev: this.#prev };
    const text = JSON.stringify(line);
    // One line is one write, so that lines of several processes do not mix. The write is synchronous, so that a call
    // that was answered is in the log, whatever happens to the process next.
    const bytes = Buffer.from(`${this.#isCutOff ? "\n" : ""}${text}\n`);
    const written = writeSync(fd, bytes);
    if (written < bytes.length) {
      this.#isCutOff = true;
      throw new FilewrightError("IO_ERROR", "a record of the audit log was cut off: the disk may be full");
    }
    this.#isCutOff = false;
    this.#seq += 1;
    this.#prev = hashOfLine(Buffer.from(text));
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

const TAIL_BLOCK_BYTES = 64 * 1024;

/** Returns the hash of the last complete line of a file; null without one. */
function lastLineOf(fd: number): { readonly hash: string | null; readonly isCutOff: boolean } {
  const { size } = fstatSync(fd);
  let tail = Buffer.alloc(0);
  let from = size;
  for (;;) {
    const end = tail.lastIndexOf(LF);
    const start = end > 0 ? tail.lastIndexOf(LF, end - 1) : -1;
    if (start >= 0 || from === 0) {
      const isCutOff = tail.length > 0 && end !== tail.length - 1;
      return { hash: end < 0 ? null : hashOfLine(tail.subarray(start + 1, end)), isCutOff };
    }
    const block = Buffer.alloc(Math.min(TAIL_BLOCK_BYTES, from));
    from -= block.length;
    const read = readSync(fd, block, 0, block.length, from);
    tail = Buffer.concat([block.subarray(0, read), tail]);
  }
}
