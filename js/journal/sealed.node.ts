/**
 * The form of a journal's records in files: a head with lengths and the contents' hash, JSON,
 * contents, and a keyed hash that chains each record to the one before and to its call.
 */
import * as crypto from "node:crypto";
import * as fs from "node:fs";
import { type Entry, fromFrame, toFrame } from "./step.ts";

const { O_NOFOLLOW, O_RDONLY } = fs.constants;
/** The lengths of the JSON and of the contents, and the contents' hash. */
const HEAD = 4 + 4 + 32;
/** Bytes of the keyed hash behind each record. */
export const MAC = 32;
/** JSON of one record beyond this is not ours. */
const MAX_JSON_BYTES = 64 * 1024 * 1024;
/** The hash of no content: of most records. */
const NOTHING = crypto.createHash("sha256").digest();
/** Bytes that SHA-256 takes at once. */
const BLOCK = 64;

/** What a file held. */
export interface Read {
  readonly entries: readonly Entry[];
  /** False where somebody else has written in it. */
  readonly authentic: boolean;
}

/** A record as it is written, and what the next one is chained to. */
export function seal(
  entry: Entry,
  key: Buffer,
  previous: Buffer,
  id: string,
): { readonly buffers: readonly Uint8Array[]; readonly mac: Buffer } {
  const { json, blobs } = toFrame(entry);
  const text = Buffer.from(json);
  const head = Buffer.alloc(HEAD);
  head.writeUInt32LE(text.length, 0);
  head.writeUInt32LE(
    blobs.reduce((sum, blob) => sum + blob.length, 0),
    4,
  );
  hashOf(blobs).copy(head, 8);
  const mac = macOf(key, previous, id, head, text);
  return { buffers: [head, text, ...blobs, mac], mac };
}

function hashOf(blobs: readonly Uint8Array[]): Buffer {
  if (blobs.length === 0) return NOTHING;
  const hash = crypto.createHash("sha256");
  for (const blob of blobs) hash.update(blob);
  return hash.digest();
}

/** A record may neither be moved to another call nor be put behind another record. */
function macOf(key: Buffer, previous: Buffer, id: string, head: Buffer, text: Buffer): Buffer {
  const parts = [previous, Buffer.from(`${id}\n`), head, text];
  // Not in the oldest Node that runs this.
  if (crypto.hash === undefined)
    return crypto.createHmac("sha256", key).update(Buffer.concat(parts)).digest();
  // HMAC by its definition (RFC 2104): two hashes at once cost a fifth of an object that is fed.
  const [inner, outer] = padsOf(key);
  const digest = crypto.hash("sha256", Buffer.concat([inner, ...parts]), "buffer");
  return crypto.hash("sha256", Buffer.concat([outer, digest]), "buffer");
}

/** What HMAC mixes a key with, for each key. */
const pads = new WeakMap<Buffer, readonly [inner: Buffer, outer: Buffer]>();

function padsOf(key: Buffer): readonly [inner: Buffer, outer: Buffer] {
  const known = pads.get(key);
  if (known !== undefined) return known;
  const mixed = (byte: number): Buffer => {
    const block = Buffer.alloc(BLOCK, byte);
    for (const [at, each] of key.entries()) block[at] = each ^ byte;
    return block;
  };
  const made = [mixed(0x36), mixed(0x5c)] as const;
  pads.set(key, made);
  return made;
}

/** The records of a file up to where it was cut; contents only where they are wanted. */
export function readSealed(path: string, key: Buffer, id: string, contents: boolean): Read {
  const entries: Entry[] = [];
  const forged = { entries: [], authentic: false };
  let fd: number;
  try {
    fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | (fs.constants.O_NONBLOCK ?? 0));
  } catch {
    return forged;
  }
  try {
    const facts = fs.fstatSync(fd);
    if (!facts.isFile()) return forged;
    let previous: Buffer = Buffer.alloc(MAC);
    for (let at = 0; at + HEAD <= facts.size; ) {
      const head = piece(fd, at, HEAD);
      const [json, blob] = [head.readUInt32LE(0), head.readUInt32LE(4)];
      const end = at + HEAD + json + blob + MAC;
      if (end > facts.size) break; // Cut while it was written.
      if (json > MAX_JSON_BYTES) return forged;
      const text = piece(fd, at + HEAD, json);
      const mac = macOf(key, previous, id, head, text);
      if (!crypto.timingSafeEqual(mac, piece(fd, end - MAC, MAC))) return forged;
      const bytes = contents ? piece(fd, at + HEAD + json, blob) : Buffer.alloc(0);
      if (contents && !crypto.createHash("sha256").update(bytes).digest().equals(head.subarray(8, 40)))
        return forged;
      const entry = fromFrame(text.toString(), bytes);
      if (entry === null) return forged;
      entries.push(entry);
      previous = mac;
      at = end;
    }
    return { entries, authentic: true };
  } finally {
    fs.closeSync(fd);
  }
}

function piece(fd: number, at: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  for (let got = 0; got < length; ) {
    const count = fs.readSync(fd, buffer, got, length - got, at + got);
    if (count === 0) break;
    got += count;
  }
  return buffer;
}
