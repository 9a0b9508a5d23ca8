/**
 * The state that approvals keep between two requests: the key with which questions are signed, and the record
 * of answers that were used.
 *
 * Processes with the same `FILEWRIGHT_KEY` or the same state directory use the same key, so an answer is
 * valid after a restart and at another replica. Processes with the same state directory also share the
 * record, so an answer is used at most once among them.
 */
import { createHash, createHmac, randomBytes } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { KEY_BYTES, readOrMakeKey } from "../../backends/key-file.node.ts";
import { isOursAlone } from "../../backends/ownership.node.ts";
import { FilewrightError } from "../../engine/errors.ts";

/** The environment variable that holds a signing key for several servers. */
export const SIGNING_KEY_VARIABLE = "FILEWRIGHT_KEY";

/** The number of seconds for which a question can be answered. */
export const MAX_ANSWER_SECONDS = 600;

/** The signing key and the record of used answers. */
export interface ApprovalState {
  /** The key that signs the state of a question, because the state passes through the client. */
  readonly key: Uint8Array;
  /** Marks an answer as used. Returns false when it was used before, or when the use cannot be recorded. */
  spend(nonce: string): boolean;
  /**
   * Writes a question that is too long for the client's form to a file, and returns its path; undefined when
   * there is no directory for it. The file is removed some time after {@link MAX_ANSWER_SECONDS}.
   */
  keep(digest: string, text: string): string | undefined;
}

/** Where the key and the record come from. */
export interface ApprovalStateOptions {
  /**
   * The directory of the key and the record, which processes can share. With undefined both are in the memory
   * of this process.
   */
  readonly stateDir: string | undefined;
  /** The value of `FILEWRIGHT_KEY`. */
  readonly key: string | undefined;
}

/**
 * Opens the state.
 * @throws FilewrightError INVALID_ARGUMENT for an invalid key, or for a directory in which other users may
 * write
 */
export function openApprovalState({ stateDir, key }: ApprovalStateOptions): ApprovalState {
  const given = key === undefined || key === "" ? undefined : parseSigningKey(key);
  const directory = stateDir === undefined ? undefined : createWritableDirectory(stateDir);
  const secret =
    given ?? (directory === undefined ? randomBytes(KEY_BYTES) : readOrMakeKey(join(directory, "key")));
  return {
    key: createHmac("sha256", secret).update("filewright approvals 1").digest(),
    spend:
      directory === undefined
        ? makeUseRecordInMemory()
        : (nonce) => recordUseInDirectory(join(directory, "spent"), nonce),
    keep:
      directory === undefined
        ? () => undefined
        : (digest, text) => writeQuestionFile(join(directory, "shown"), digest, text),
  };
}

/**
 * Returns the bytes of a key given in hex or base64.
 * @throws FilewrightError INVALID_ARGUMENT, whose message never contains the key
 */
function parseSigningKey(text: string): Buffer {
  const trimmed = text.trim();
  const hex = /^(?:[0-9a-f]{2})+$/iu.test(trimmed);
  const base64 = /^[0-9a-z+/_-]+={0,2}$/iu.test(trimmed);
  const bytes = hex ? Buffer.from(trimmed, "hex") : base64 ? Buffer.from(trimmed, "base64") : Buffer.alloc(0);
  if (bytes.length >= KEY_BYTES && new Set(bytes).size >= MIN_DISTINCT_KEY_BYTES) return bytes;
  throw new FilewrightError(
    "INVALID_ARGUMENT",
    `${SIGNING_KEY_VARIABLE} must hold at least ${KEY_BYTES} random bytes in hex or base64; \`openssl rand -hex ${KEY_BYTES}\` makes one.`,
    { complete: true },
  );
}

/**
 * The minimum number of different bytes in a key. Random keys have more, so a key with fewer is refused as a
 * likely mistake.
 */
const MIN_DISTINCT_KEY_BYTES = 8;

/**
 * Creates the directory if needed and returns it; undefined when it cannot be written.
 * @throws FilewrightError INVALID_ARGUMENT when other users may write in it
 */
function createWritableDirectory(stateDir: string): string | undefined {
  const directory = join(stateDir, "approvals");
  try {
    for (const name of ["spent", "shown"]) mkdirSync(join(directory, name), { recursive: true, mode: 0o700 });
  } catch {
    return undefined;
  }
  const facts = lstatSync(directory);
  if (facts.isDirectory() && isOursAlone(facts, 0o022)) return directory;
  throw new FilewrightError("INVALID_ARGUMENT", "others may write in the directory of approvals", {
    path: directory,
  });
}

function makeUseRecordInMemory(): (nonce: string) => boolean {
  const spent = new Map<string, number>();
  return (nonce) => {
    const now = Date.now();
    for (const [old, until] of spent) {
      if (until > now) break; // A map keeps insertion order, so the entries after this one expire later.
      spent.delete(old);
    }
    if (spent.has(nonce)) return false;
    spent.set(nonce, now + MAX_RECORD_AGE_MS);
    return true;
  };
}

/**
 * Marks an answer as used by creating a file for it. Creation fails if the file exists, so that only one of
 * several processes succeeds.
 */
function recordUseInDirectory(directory: string, nonce: string): boolean {
  removeOldRecords(directory);
  const name = createHash("sha256").update(nonce).digest("hex");
  try {
    const descriptor = openSync(join(directory, name), "wx", 0o600);
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    const parent = openSync(directory, "r");
    try {
      fsyncSync(parent);
    } finally {
      closeSync(parent);
    }
    return true;
  } catch {
    return false; // The file exists or cannot be written. In both cases the answer must not be used.
  }
}

/** The age in milliseconds at which a record is removed. It is longer than a question can be answered. */
const MAX_RECORD_AGE_MS = 2 * MAX_ANSWER_SECONDS * 1000;
/** The minimum time in milliseconds between two removals of old records in one directory. */
const MIN_MS_BETWEEN_SWEEPS = 60_000;
const lastSweepByDirectory = new Map<string, number>();

/** Removes files of a directory that are older than `MAX_RECORD_AGE_MS`, at most once in `MIN_MS_BETWEEN_SWEEPS`. */
function removeOldRecords(directory: string): void {
  const now = Date.now();
  if (now - (lastSweepByDirectory.get(directory) ?? 0) < MIN_MS_BETWEEN_SWEEPS) return;
  lastSweepByDirectory.set(directory, now);
  try {
    for (const name of readdirSync(directory)) {
      const path = join(directory, name);
      if (now - statSync(path).mtimeMs > MAX_RECORD_AGE_MS) unlinkSync(path);
    }
  } catch {
    // Another process has removed the file.
  }
}

function writeQuestionFile(directory: string, digest: string, text: string): string | undefined {
  removeOldRecords(directory);
  const path = join(directory, `${digest.replace(/^sha256:/u, "")}.txt`);
  try {
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  } catch {
    return undefined;
  }
}
