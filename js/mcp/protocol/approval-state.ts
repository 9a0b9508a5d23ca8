/**
 * The state that approvals keep between two requests: the key with which questions are signed, and the record
 * of answers that were used.
 *
 * Processes with the same `FILEWRIGHT_KEY`, the same storage or the same state directory use the same key, so an
 * answer is valid after a restart and at another replica. Processes with the same storage or the same state directory
 * also share the record, so an answer is used at most once among them.
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
import type { MaybePromise } from "../../backends/backend.ts";
import { KEY_BYTES, readOrMakeKey } from "../../backends/key-file.node.ts";
import { isOursAlone } from "../../backends/ownership.node.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { Records } from "../../storage/storage.ts";

/** The environment variable that holds a signing key for several servers. */
export const SIGNING_KEY_VARIABLE = "FILEWRIGHT_KEY";

/** The number of seconds for which a question can be answered. */
export const MAX_ANSWER_SECONDS = 600;

/** The signing keys and the record of used answers. */
export interface ApprovalState {
  /**
   * The keys of the state of a question, which passes through the client. The first one signs; the state of a
   * question may be signed by any of them, so that keys can be replaced while questions are open.
   */
  readonly keys: readonly Uint8Array[];
  /**
   * Marks an answer as used. Returns false when it was used before, or when the use cannot be recorded on the disk.
   * @throws FilewrightError when the storage cannot be reached
   */
  spend(nonce: string): MaybePromise<boolean>;
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
  /** The value of `FILEWRIGHT_KEY`: one key, or several with a comma between two. */
  readonly key: string | undefined;
  /**
   * The subject of the questions, such as the name of a workspace among several with one key: an answer to a question
   * about another one is not valid. Default: nothing in particular.
   */
  readonly about?: string | undefined;
}

/** The names of the records: the key of the servers of a storage, and the answers that were used. */
const KEY_RECORD = ["server-key", "approvals"] as const;
const USED_ANSWER_KIND = "used-answers";

/**
 * Opens the state.
 * @throws FilewrightError INVALID_ARGUMENT for an invalid key, or for a directory in which other users may
 * write
 */
export function openApprovalState({ stateDir, key, about }: ApprovalStateOptions): ApprovalState {
  const given = parseSigningKeys(key);
  const directory = stateDir === undefined ? undefined : createWritableDirectory(stateDir);
  const secrets = given ?? [
    directory === undefined ? randomBytes(KEY_BYTES) : readOrMakeKey(join(directory, "key")),
  ];
  return {
    keys: secrets.map((secret) => signingKeyOf(secret, about)),
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
 * Opens the state of servers that share a storage: the first of them makes the key, unless `FILEWRIGHT_KEY` has one,
 * and used answers are records.
 * @throws FilewrightError INVALID_ARGUMENT for an invalid key, and as the storage does
 */
export async function openSharedApprovalState(
  records: Records,
  options: ApprovalStateOptions,
): Promise<ApprovalState> {
  const { keep } = openApprovalState({ ...options, key: undefined });
  const secrets = parseSigningKeys(options.key) ?? [await sharedKey(records)];
  return {
    keys: secrets.map((secret) => signingKeyOf(secret, options.about)),
    keep,
    async spend(nonce) {
      const id = createHash("sha256").update(nonce).digest("hex");
      try {
        await records.put(USED_ANSWER_KIND, id, true, { expect: null, forMs: MAX_RECORD_AGE_MS });
        return true;
      } catch (error) {
        if (error instanceof FilewrightError && error.code === "CONFLICT") return false;
        throw error;
      }
    },
  };
}

/** Returns the key in the records of a storage, creating it when missing: all servers agree on that of the first. */
async function sharedKey(records: Records): Promise<Buffer> {
  const [kind, id] = KEY_RECORD;
  let found = await records.get(kind, id);
  if (found === null) {
    try {
      await records.put(kind, id, randomBytes(KEY_BYTES).toString("base64"), { expect: null });
    } catch (error) {
      if (!(error instanceof FilewrightError) || error.code !== "CONFLICT") throw error;
    }
    found = await records.get(kind, id);
  }
  const bytes = Buffer.from(String(found?.value), "base64");
  if (bytes.length === KEY_BYTES) return bytes;
  throw new FilewrightError("INVALID_ARGUMENT", `the record ${kind} ${id} of the storage is no key`);
}

/** Returns the key that signs the states of questions, derived from a secret that may have other uses. */
function signingKeyOf(secret: Uint8Array, about = ""): Uint8Array {
  return createHmac("sha256", secret).update(`filewright approvals 1${about}`).digest();
}

/**
 * Returns the keys of `FILEWRIGHT_KEY`, the one that signs first; undefined when it is not set.
 * @throws FilewrightError INVALID_ARGUMENT, whose message never contains a key
 */
function parseSigningKeys(text: string | undefined): readonly Buffer[] | undefined {
  return text === undefined || text.trim() === "" ? undefined : text.split(",").map(parseSigningKey);
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
    `${SIGNING_KEY_VARIABLE} must hold at least ${KEY_BYTES} random bytes in hex or base64, or several such keys with commas between them; \`openssl rand -hex ${KEY_BYTES}\` makes one.`,
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
