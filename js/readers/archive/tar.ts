/** Lists the members of a tar archive from their headers, in order. Contents are skipped. */
import { withoutUndefined } from "../../schema/without-undefined.ts";

/** One member. */
export interface TarEntry {
  /** The name as the archive contains it. It may lead outside a target directory. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly type: "file" | "dir" | "symlink" | "hardlink" | "other";
  /** The target of a link. */
  readonly target: string | undefined;
}

/** Bytes that are read in order, from a file or from a decompressed stream. */
export interface SequentialBytes {
  /** Returns exactly `count` bytes, or null when there are fewer. */
  take(count: number): Promise<Uint8Array | null>;
  /** Skips `count` bytes; returns false when they end before. */
  skip(count: number): Promise<boolean>;
}

const TAR_BLOCK_BYTES = 512;
/**
 * The maximum size in bytes of a record that holds a long name or the like. At a larger one, which only a
 * malicious archive has, the list ends.
 */
const MAX_EXTRA_RECORD_BYTES = 64 * 1024;

/** Returns true when a block is a header: its checksum is right. */
export function isTarHeader(block: Uint8Array): boolean {
  if (block.length < TAR_BLOCK_BYTES) return false;
  let sum = 0;
  for (let at = 0; at < TAR_BLOCK_BYTES; at++) sum += at >= 148 && at < 156 ? 0x20 : (block[at] as number);
  return sum === readOctal(block, 148, 8);
}

/**
 * Yields every member, until the end mark, damage or the end of the bytes. @returns true when the archive
 * ended with its end mark
 */
export async function* readTar(bytes: SequentialBytes): AsyncGenerator<TarEntry, boolean> {
  let facts: LongFacts = {};
  for (;;) {
    const block = await bytes.take(TAR_BLOCK_BYTES);
    if (block === null) return false;
    if (block.every((byte) => byte === 0)) return true;
    if (!isTarHeader(block)) return false;
    const size = facts.size ?? readNumber(block, 124, 12);
    const flag = String.fromCharCode(block[156] as number);
    const padded = Math.ceil(size / TAR_BLOCK_BYTES) * TAR_BLOCK_BYTES;
    if (EXTRA_RECORD_FLAGS.includes(flag)) {
      if (size > MAX_EXTRA_RECORD_BYTES) return false;
      const extra = await bytes.take(padded);
      if (extra === null) return false;
      facts = withExtra(facts, extra.subarray(0, size), flag);
      continue;
    }
    const entry = tarEntryOf(block, flag, { ...facts, size });
    facts = {};
    yield entry;
    const hasContent = entry.type === "file" || entry.type === "other";
    if (hasContent && !(await bytes.skip(padded))) return false;
  }
}

/** The flags of records about the next member: a long name, a long target of a link, and records of pax. */
const EXTRA_RECORD_FLAGS = "LKxg";

/** The facts about a member in the records before it. */
interface LongFacts {
  readonly name?: string;
  readonly target?: string;
  readonly size?: number;
}

/** Adds what an extra record says about the next member. One for all members (`g`) says nothing that is used. */
function withExtra(known: LongFacts, extra: Uint8Array, flag: string): LongFacts {
  if (flag === "L") return { ...known, name: readString(extra, 0, extra.length) };
  if (flag === "K") return { ...known, target: readString(extra, 0, extra.length) };
  if (flag !== "x") return known;
  const records = parsePaxRecords(extra);
  const size = records.get("size");
  return withoutUndefined({
    name: records.get("path") ?? known.name,
    target: records.get("linkpath") ?? known.target,
    size: size !== undefined && /^\d{1,15}$/.test(size) ? Number(size) : known.size,
  });
}

/** Returns the member with this header, and with what the records before it say. */
function tarEntryOf(block: Uint8Array, flag: string, facts: LongFacts & { readonly size: number }): TarEntry {
  const prefix = readString(block, 257, 5) === "ustar" ? readString(block, 345, 155) : "";
  const short = readString(block, 0, 100);
  const name = facts.name ?? (prefix === "" ? short : `${prefix}/${short}`);
  const type = tarEntryType(flag, name);
  const isLink = type === "symlink" || type === "hardlink";
  const target = isLink ? (facts.target ?? readString(block, 157, 100)) : undefined;
  return { name, size: type === "file" ? facts.size : 0, type, target };
}

function tarEntryType(flag: string, name: string): TarEntry["type"] {
  switch (flag) {
    case "0":
    case "\0":
    case "7":
      return name.endsWith("/") ? "dir" : "file";
    case "1":
      return "hardlink";
    case "2":
      return "symlink";
    case "5":
      return "dir";
    default:
      return "other";
  }
}

function readString(bytes: Uint8Array, at: number, length: number): string {
  const end = bytes.indexOf(0, at);
  return new TextDecoder().decode(bytes.subarray(at, end < 0 || end > at + length ? at + length : end));
}

function readOctal(bytes: Uint8Array, at: number, length: number): number {
  const digits = /^[ \0]*([0-7]+)/.exec(readString(bytes, at, length))?.[1];
  return digits === undefined ? 0 : Number.parseInt(digits, 8);
}

/** Parses a number of a header: octal digits, or binary (base 256) when the highest bit is set. */
function readNumber(bytes: Uint8Array, at: number, length: number): number {
  if (((bytes[at] as number) & 0x80) === 0) return readOctal(bytes, at, length);
  let value = 0;
  for (let n = at + 1; n < at + length; n++) value = value * 256 + (bytes[n] as number);
  return value > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER - TAR_BLOCK_BYTES : value;
}

/** Parses the `length key=value` records of a pax extended header. */
function parsePaxRecords(bytes: Uint8Array): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = space < 0 ? 0 : Number(readString(bytes, at, space - at));
    if (!Number.isInteger(length) || length < 5 || at + length > bytes.length) break;
    const text = new TextDecoder().decode(bytes.subarray(space + 1, at + length - 1));
    const equals = text.indexOf("=");
    if (equals > 0) records.set(text.slice(0, equals), text.slice(equals + 1));
    at += length;
  }
  return records;
}
