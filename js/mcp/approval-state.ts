/**
 * What answers of a client's user rest upon between two requests: the key that signs
 * questions, and which of them are answered already. Processes that share
 * `FILEWRIGHT_KEY` or a state directory share the key, so that an answer survives a restart
 * and holds at another replica; those that share the directory share what was answered too,
 * so that no answer is used twice.
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
import process from "node:process";
import { KEY_BYTES, readOrMakeKey } from "../backends/key-file.node.ts";
import { FilewrightError } from "../engine/errors.ts";

/** The variable that holds a key for several servers. */
export const KEY_VARIABLE = "FILEWRIGHT_KEY";

/** How long a question can be answered, in seconds. */
export const ANSWER_SECONDS = 600;

/** The key of questions, and what was answered. */
export interface ApprovalState {
  /** Signs what travels through the client. */
  readonly key: Uint8Array;
  /** Marks an answer as used. False where it was before, or where that cannot be recorded. */
  spend(nonce: string): boolean;
  /** Keeps a question that is too long for its form, for {@link ANSWER_SECONDS}; where it can be read. */
  keep(digest: string, text: string): string | undefined;
}

/** Where the key and the record of answers come from. */
export interface ApprovalStateOptions {
  /** A directory that may be shared with other processes; undefined keeps everything in this one. */
  readonly stateDir: string | undefined;
  /** What `FILEWRIGHT_KEY` says. */
  readonly key: string | undefined;
}

/** Opens the state. @throws FilewrightError INVALID_ARGUMENT for a key that is none, or a directory that others may write in */
export function openApprovalState({ stateDir, key }: ApprovalStateOptions): ApprovalState {
  const given = key === undefined || key === "" ? undefined : parseKey(key);
  const directory = stateDir === undefined ? undefined : usableDirectory(stateDir);
  const secret =
    given ?? (directory === undefined ? randomBytes(KEY_BYTES) : readOrMakeKey(join(directory, "key")));
  return {
    key: createHmac("sha256", secret).update("filewright approvals 1").digest(),
    spend: directory === undefined ? spendInMemory() : (nonce) => spendIn(join(directory, "spent"), nonce),
    keep:
      directory === undefined
        ? () => undefined
        : (digest, text) => keepIn(join(directory, "shown"), digest, text),
  };
}

/** The bytes of a key given as text. @throws FilewrightError INVALID_ARGUMENT, which never tells the text */
function parseKey(text: string): Buffer {
  const trimmed = text.trim();
  const hex = /^(?:[0-9a-f]{2})+$/iu.test(trimmed);
  const base64 = /^[0-9a-z+/_-]+={0,2}$/iu.test(trimmed);
  const bytes = hex ? Buffer.from(trimmed, "hex") : base64 ? Buffer.from(trimmed, "base64") : Buffer.alloc(0);
  if (bytes.length >= KEY_BYTES && new Set(bytes).size >= MIN_DISTINCT_BYTES) return bytes;
  throw new FilewrightError(
    "INVALID_ARGUMENT",
    `${KEY_VARIABLE} must hold at least ${KEY_BYTES} random bytes in hex or base64; \`openssl rand -hex ${KEY_BYTES}\` makes one.`,
    { complete: true },
  );
}

/** Random bytes repeat less than this allows. */
const MIN_DISTINCT_BYTES = 8;

/** The directory, made where it is missing; undefined where it cannot be written. @throws FilewrightError INVALID_ARGUMENT */
function usableDirectory(stateDir: string): string | undefined {
  const directory = join(stateDir, "approvals");
  try {
    for (const name of ["spent", "shown"]) mkdirSync(join(directory, name), { recursive: true, mode: 0o700 });
  } catch {
    return undefined;
  }
  const own = process.getuid?.();
  const { mode, uid } = lstatSync(directory);
  const isOurs = own === undefined || own === 0 || uid === own;
  if (lstatSync(directory).isDirectory() && isOurs && (mode & 0o022) === 0) return directory;
  throw new FilewrightError("INVALID_ARGUMENT", "others may write in the directory of approvals", {
    path: directory,
  });
}

function spendInMemory(): (nonce: string) => boolean {
  const spent = new Map<string, number>();
  return (nonce) => {
    const now = Date.now();
    for (const [old, until] of spent) {
      if (until > now) break; // They stand in the order of their ends.
      spent.delete(old);
    }
    if (spent.has(nonce)) return false;
    spent.set(nonce, now + KEPT_MS);
    return true;
  };
}

/** One file for each answer: of several processes only one can make it. */
function spendIn(directory: string, nonce: string): boolean {
  sweep(directory);
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
    return false; // It is there, or it cannot be recorded: then it cannot be used.
  }
}

/** The record of an answer outlives every question that it could be for. */
const KEPT_MS = 2 * ANSWER_SECONDS * 1000;
/** A directory is looked through no more often, in milliseconds. */
const SWEEP_MS = 60_000;
const swept = new Map<string, number>();

/** Removes what is too old to matter. */
function sweep(directory: string): void {
  const now = Date.now();
  if (now - (swept.get(directory) ?? 0) < SWEEP_MS) return;
  swept.set(directory, now);
  try {
    for (const name of readdirSync(directory)) {
      const path = join(directory, name);
      if (now - statSync(path).mtimeMs > KEPT_MS) unlinkSync(path);
    }
  } catch {
    // Another process has removed it.
  }
}

function keepIn(directory: string, digest: string, text: string): string | undefined {
  sweep(directory);
  const path = join(directory, `${digest.replace(/^sha256:/u, "")}.txt`);
  try {
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  } catch {
    return undefined;
  }
}
