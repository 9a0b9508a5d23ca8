/**
 * The files of the records of a journal: their binary form, and their names. A record is a head (lengths, the hash of the
 * contents, and a MAC of these), JSON, contents, and a MAC that covers the record before it and the call.
 */
import * as crypto from "node:crypto";
import * as fs from "node:fs";
import { basename } from "node:path";
import { backendError } from "../backends/failure.ts";
import { type RecordEntry, type RecordHeader, fromFrame, toFrame } from "../backends/transaction/step.ts";
import { Yielder } from "../engine/yielder.ts";
import { isCallId } from "./call-id.ts";

const { O_NOFOLLOW, O_RDONLY, O_NONBLOCK = 0 } = fs.constants;
const READ_FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
/**
 * The size of the facts at the start of a head, in bytes: the length of the JSON, the length of the contents, and
 * their hash.
 */
const HEAD_FACTS_BYTES = 4 + 4 + 32;
/** The size of a head in bytes: the facts and 8 bytes of their MAC. */
const HEAD_BYTES = HEAD_FACTS_BYTES + 8;
/** The size of the MAC after each record, in bytes. */
export const RECORD_MAC_BYTES = 32;
/** The hash of an empty content, which most records have. */
const EMPTY_CONTENT_HASH = crypto.createHash("sha256").digest();
/** The block size of SHA-256 in bytes. */
const SHA256_BLOCK_BYTES = 64;

/** The records that were read from a file. */
export interface RecordFile {
  /** The authentic records, up to the end of the file or the first damage. */
  readonly entries: readonly RecordEntry[];
  /**
   * `whole`: the file ends after a record. `cut`: its writer ended while it wrote the next record. `damaged`: the
   * bytes that follow are not authentic.
   */
  readonly end: "whole" | "cut" | "damaged";
}

/** Encodes a record; returns its bytes and the MAC to which the next one is chained. */
export function encodeRecord(
  entry: RecordEntry,
  key: RecordKey,
  previous: Buffer,
  id: string,
): { readonly buffers: readonly Uint8Array[]; readonly mac: Buffer } {
  const { json, blobs } = toFrame(entry);
  const text = Buffer.from(json);
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(text.length, 0);
  head.writeUInt32LE(
    blobs.reduce((sum, blob) => sum + blob.length, 0),
    4,
  );
  contentsHashOf(blobs).copy(head, 8);
  headMacOf(key, previous, id, head.subarray(0, HEAD_FACTS_BYTES)).copy(head, HEAD_FACTS_BYTES);
  const mac = recordMacOf(key, previous, id, head, text);
  return { buffers: [head, text, ...blobs, mac], mac };
}

function contentsHashOf(blobs: readonly Uint8Array[]): Buffer {
  if (blobs.length === 0) return EMPTY_CONTENT_HASH;
  const hash = crypto.createHash("sha256");
  for (const blob of blobs) hash.update(blob);
  return hash.digest();
}

/**
 * Returns the MAC of a head, so that its lengths can be trusted before they are used. A hash with the key in front
 * suffices, because the message has a fixed length and most of the hash is not stored.
 */
function headMacOf({ inner }: RecordKey, previous: Buffer, id: string, facts: Buffer): Buffer {
  const hash = crypto.createHash("sha256").update(inner).update(previous).update(`${id}\nhead\n`);
  return hash
    .update(facts)
    .digest()
    .subarray(0, HEAD_BYTES - HEAD_FACTS_BYTES);
}

/**
 * Returns the MAC of a record. It covers the call and the previous record, so that a record cannot be moved to
 * another call or position.
 */
function recordMacOf(key: RecordKey, previous: Buffer, id: string, head: Buffer, text: Buffer): Buffer {
  const parts = [previous, Buffer.from(`${id}\n`), head, text];
  // The oldest supported Node lacks `crypto.hash`.
  if (crypto.hash === undefined)
    return crypto.createHmac("sha256", key.bytes).update(Buffer.concat(parts)).digest();
  // HMAC by its definition (RFC 2104): two one-shot hashes cost a fifth of a hash object.
  const { inner, outer } = key;
  const digest = crypto.hash("sha256", Buffer.concat([inner, ...parts]), "buffer");
  return crypto.hash("sha256", Buffer.concat([outer, digest]), "buffer");
}

/** The key of the MACs of a journal. */
export interface RecordKey {
  readonly bytes: Buffer;
  /** The inner and outer pads of HMAC. */
  readonly inner: Buffer;
  readonly outer: Buffer;
}

/** Returns a key with its pads. */
export function recordKeyOf(bytes: Buffer): RecordKey {
  const mixed = (byte: number): Buffer => {
    const block = Buffer.alloc(SHA256_BLOCK_BYTES, byte);
    for (const [at, each] of bytes.entries()) block[at] = each ^ byte;
    return block;
  };
  return { bytes, inner: mixed(0x36), outer: mixed(0x5c) };
}

/** The first character of the name of a file that was made before the record in it had an id. */
const NUMBERED = "~";
/** The maximum size in bytes of the beginning of a record that is written to a numbered file. */
const MAX_BEGINNING_BYTES = 1024 * 1024;

/**
 * Returns the id of a record that is open, from the name of its file, or for a numbered file from the beginning of the
 * record. The MACs cover the id, so that it need not be authentic here. Undefined for a file without a beginning.
 */
export function idOfOpenRecord(path: string): string | undefined {
  const name = basename(path);
  const id = name.slice(name.indexOf(".") + 1);
  if (!id.startsWith(NUMBERED)) return id;
  try {
    const { header } = JSON.parse(beginningOf(path) ?? "") as { readonly header: RecordHeader };
    return isCallId(header.callId) ? header.callId : undefined;
  } catch {
    return undefined; // It is not written yet, or not by us.
  }
}

/** Returns true for a file that has the whole of a first entry, whatever it says. */
export function hasBeginning(path: string): boolean {
  try {
    return beginningOf(path) !== undefined;
  } catch {
    return false; // Another process was faster.
  }
}

/** Returns the JSON of the first entry of a file; undefined where it is not whole. */
function beginningOf(path: string): string | undefined {
  const fd = fs.openSync(path, READ_FLAGS);
  try {
    const length = readRange(fd, 0, HEAD_BYTES).readUInt32LE(0);
    if (fs.fstatSync(fd).size < HEAD_BYTES + length) return undefined;
    return readRange(fd, HEAD_BYTES, Math.min(length, MAX_BEGINNING_BYTES)).toString();
  } finally {
    fs.closeSync(fd);
  }
}

/** Decodes the authentic records of a file; contents only when requested. */
export function decodeRecord(path: string, key: RecordKey, id: string, contents: boolean): RecordFile {
  const decoding = decodeStepwise(path, key, id, contents);
  for (;;) {
    const { done, value } = decoding.next();
    if (done === true) return value;
  }
}

/** Does the same as {@link decodeRecord}, but yields to the event loop between the parts of a long file. */
export async function decodeRecordYielding(
  path: string,
  key: RecordKey,
  id: string,
  contents: boolean,
): Promise<RecordFile> {
  const decoding = decodeStepwise(path, key, id, contents);
  const yielder = new Yielder({});
  for (;;) {
    const { done, value } = decoding.next();
    if (done === true) return value;
    await yielder.yieldIfDue();
  }
}

/** Decodes a file and yields after each record. */
function* decodeStepwise(
  path: string,
  key: RecordKey,
  id: string,
  contents: boolean,
): Generator<undefined, RecordFile, undefined> {
  const entries: RecordEntry[] = [];
  const damaged = (): RecordFile => ({ entries, end: "damaged" });
  let fd: number;
  try {
    fd = fs.openSync(path, READ_FLAGS);
  } catch {
    return damaged();
  }
  try {
    const facts = fs.fstatSync(fd);
    if (!facts.isFile()) return damaged();
    let previous: Buffer = Buffer.alloc(RECORD_MAC_BYTES);
    for (let at = 0; at < facts.size; ) {
      if (at + HEAD_BYTES > facts.size) return { entries, end: "cut" };
      const head = readRange(fd, at, HEAD_BYTES);
      // The lengths must be authentic: otherwise a truncated record could not be told from a damaged
      // one.
      const ownMac = headMacOf(key, previous, id, head.subarray(0, HEAD_FACTS_BYTES));
      if (!crypto.timingSafeEqual(ownMac, head.subarray(HEAD_FACTS_BYTES))) return damaged();
      const [json, blob] = [head.readUInt32LE(0), head.readUInt32LE(4)];
      const end = at + HEAD_BYTES + json + blob + RECORD_MAC_BYTES;
      if (end > facts.size) return { entries, end: "cut" };
      const text = readRange(fd, at + HEAD_BYTES, json);
      const mac = recordMacOf(key, previous, id, head, text);
      if (!crypto.timingSafeEqual(mac, readRange(fd, end - RECORD_MAC_BYTES, RECORD_MAC_BYTES)))
        return damaged();
      const bytes = contents ? readRange(fd, at + HEAD_BYTES + json, blob) : Buffer.alloc(0);
      if (contents && !crypto.createHash("sha256").update(bytes).digest().equals(head.subarray(8, 40)))
        return damaged();
      const entry = fromFrame(text.toString(), bytes);
      if (entry === null) return damaged();
      entries.push(entry);
      previous = mac;
      at = end;
      yield undefined;
    }
    return { entries, end: "whole" };
  } finally {
    fs.closeSync(fd);
  }
}

/** Returns `length` bytes of a file from the offset `at`. */
function readRange(fd: number, at: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  for (let got = 0; got < length; ) {
    const count = fs.readSync(fd, buffer, got, length - got, at + got);
    if (count === 0) break;
    got += count;
  }
  return buffer;
}

/** Returns the writer in the file name of a record. */
export const writerInRecordName = (name: string): string => name.split(".", 1)[0] as string;

/** The errors of a directory that has no records of this user: it does not exist, or is another user's. */
const WITHOUT_RECORDS: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "EACCES"]);

/**
 * Returns the names in a directory; empty when it does not exist, or when this user may not read it.
 * @throws IO_ERROR when it cannot be read: it may have records
 */
export function namesInFolder(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch (error) {
    const { code = "an unknown error" } = error as NodeJS.ErrnoException;
    if (WITHOUT_RECORDS.has(code)) return [];
    throw backendError("IO_ERROR", folder, `the records of changes cannot be listed (${code})`);
  }
}

/** Returns the names of the records of a group, the newest first; none where it cannot be read, and is pruned later. */
export function namesToPrune(folder: string): string[] {
  try {
    return namesInFolder(folder).sort().reverse();
  } catch {
    return [];
  }
}

/**
 * Returns the names of the records of a writer whose lock was taken just now: a living writer closes its records before it
 * releases the lock.
 */
export function namesOfWriter(folder: string, writer: string, lock: { release(): void }): string[] {
  try {
    return namesInFolder(folder).filter((name) => writerInRecordName(name) === writer);
  } catch (error) {
    lock.release();
    throw error;
  }
}
