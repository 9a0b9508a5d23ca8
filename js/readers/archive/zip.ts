/**
 * Reads the list of members of a zip (its central directory), and single members up to a limit. Only the
 * needed parts of the file are read. Nothing is written.
 */
import type { ByteSource } from "../reader.ts";
import { inflateRaw } from "./inflate.ts";

/** One member, as the central directory describes it. */
export interface ZipEntry {
  /** The name as the archive contains it. It may lead outside a target directory. */
  readonly name: string;
  /** The declared size in bytes. */
  readonly size: number;
  /** The compressed size in bytes. */
  readonly packed: number;
  readonly method: number;
  readonly crc: number;
  readonly encrypted: boolean;
  readonly directory: boolean;
  readonly symlink: boolean;
  /** The offset of its local header in the file. */
  readonly offset: number;
}

/** The central directory of a zip. */
export interface ZipDirectory {
  readonly entries: readonly ZipEntry[];
  /**
   * The number of members that the archive declares. It is larger than the number of `entries` when not all
   * are listed.
   */
  readonly count: number;
  /** The reason why `entries` may be incomplete; undefined when it is complete. */
  readonly problem?: string;
}

/**
 * The maximum size in bytes of the end record with its comment: it is searched in that many bytes at the end
 * of the file.
 */
const MAX_END_RECORD_BYTES = 22 + 0xffff;
const MAX_DIRECTORY_BYTES = 16 * 1024 * 1024;
/** The maximum number of listed members. */
export const MAX_LISTED_MEMBERS = 10_000;

/** Reads the central directory. Returns null when the file is no zip. */
export async function readZip(source: ByteSource): Promise<ZipDirectory | null> {
  const from = Math.max(0, source.size - MAX_END_RECORD_BYTES);
  const tail = await source.read(from, source.size);
  const at = findEndRecord(tail);
  if (at < 0) return null;
  const view = dataViewOf(tail);
  let count = view.getUint16(at + 10, true);
  let size = view.getUint32(at + 12, true);
  let start = view.getUint32(at + 16, true);
  let end = from + at;
  if (count === 0xffff || size === 0xffffffff || start === 0xffffffff) {
    const large = await readZip64Sizes(source, end);
    if (large !== null) ({ count, size, start, end } = large);
  }
  // If other data precedes the archive, as in a program that unpacks itself, every offset is too small by its
  // size.
  const shift = end - size - start;
  const first = shift >= 0 ? start + shift : start;
  if (first < 0 || first > source.size) {
    return { entries: [], count, problem: "its directory is not where it says" };
  }
  const bytes = await source.read(first, Math.min(first + size, first + MAX_DIRECTORY_BYTES, source.size));
  const entries = parseDirectory(bytes, Math.max(0, shift));
  const complete = entries.length === count || entries.length === MAX_LISTED_MEMBERS;
  const actual = entries.length === MAX_LISTED_MEMBERS ? Math.max(count, entries.length) : entries.length;
  return complete
    ? { entries, count: actual }
    : { entries, count: actual, problem: "its directory is damaged, or larger than it says" };
}

function dataViewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Returns the offset of the last end record whose comment does not extend beyond the file; -1 without one. */
function findEndRecord(tail: Uint8Array): number {
  const view = dataViewOf(tail);
  for (let at = tail.length - 22; at >= 0; at--) {
    if (tail[at] !== 0x50 || view.getUint32(at, true) !== 0x06054b50) continue;
    if (at + 22 + view.getUint16(at + 20, true) <= tail.length) return at;
  }
  return -1;
}

interface Zip64Sizes {
  readonly count: number;
  readonly size: number;
  readonly start: number;
  readonly end: number;
}

async function readZip64Sizes(source: ByteSource, end: number): Promise<Zip64Sizes | null> {
  if (end < 20) return null;
  const locator = dataViewOf(await source.read(end - 20, end));
  if (locator.byteLength < 20 || locator.getUint32(0, true) !== 0x07064b50) return null;
  const at = readUint64(locator, 8);
  const record = dataViewOf(await source.read(at, at + 56));
  if (record.byteLength < 56 || record.getUint32(0, true) !== 0x06064b50) return null;
  return {
    count: readUint64(record, 32),
    size: readUint64(record, 40),
    start: readUint64(record, 48),
    end: at,
  };
}

/**
 * Parses a 64-bit number. One that JavaScript cannot represent exactly becomes infinite, so that it exceeds
 * every limit.
 */
function readUint64(view: DataView, at: number): number {
  return Number(view.getBigUint64(at, true));
}

function parseDirectory(bytes: Uint8Array, shift: number): ZipEntry[] {
  const view = dataViewOf(bytes);
  const entries: ZipEntry[] = [];
  for (let at = 0; at + 46 <= bytes.length && entries.length < MAX_LISTED_MEMBERS; ) {
    if (view.getUint32(at, true) !== 0x02014b50) break;
    const nameLength = view.getUint16(at + 28, true);
    const extraLength = view.getUint16(at + 30, true);
    const next = at + 46 + nameLength + extraLength + view.getUint16(at + 32, true);
    if (next > bytes.length) break;
    const flags = view.getUint16(at + 8, true);
    const rawName = bytes.subarray(at + 46, at + 46 + nameLength);
    const extra = dataViewOf(bytes.subarray(at + 46 + nameLength, at + 46 + nameLength + extraLength));
    const large = sizesAndOffset(extra, [
      view.getUint32(at + 24, true),
      view.getUint32(at + 20, true),
      view.getUint32(at + 42, true),
    ]);
    const [size = 0, packed = 0, offset = 0] = large;
    const name = decodeMemberName(rawName, (flags & 0x800) !== 0);
    const unix = view.getUint8(at + 5) === 3;
    entries.push({
      name,
      size,
      packed,
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      encrypted: (flags & 1) !== 0,
      directory: name.endsWith("/"),
      symlink: unix && (view.getUint16(at + 40, true) & 0xf000) === 0xa000,
      offset: offset + shift,
    });
    at = next;
  }
  return entries;
}

/** Returns sizes and offset. A value that does not fit in 32 bits is taken from the zip64 field. */
function sizesAndOffset(extra: DataView, short: readonly number[]): readonly number[] {
  if (!short.includes(0xffffffff)) return short;
  for (let at = 0; at + 4 <= extra.byteLength; ) {
    const length = extra.getUint16(at + 2, true);
    const end = Math.min(at + 4 + length, extra.byteLength);
    if (extra.getUint16(at, true) === 1) {
      let field = at + 4;
      return short.map((value) => {
        if (value !== 0xffffffff || field + 8 > end) return value;
        field += 8;
        return readUint64(extra, field - 8);
      });
    }
    at = end;
  }
  return short;
}

function decodeMemberName(raw: Uint8Array, utf8: boolean): string {
  if (!utf8) {
    try {
      // Many programs write UTF-8 names without setting the flag for it.
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(raw);
    } catch {
      return String.fromCharCode(...raw.subarray(0, 4096));
    }
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(raw);
}

/** Why the content of a member cannot be read. */
export type MemberProblem = "missing" | "encrypted" | "too large" | "damaged" | "method";

/** Returns the content of a member of at most `limit` bytes, or the reason why it cannot be read. */
export async function readZipMember(
  source: ByteSource,
  entry: ZipEntry | undefined,
  limit: number,
): Promise<Uint8Array | MemberProblem> {
  if (entry === undefined) return "missing";
  if (entry.encrypted) return "encrypted";
  if (entry.size > limit || entry.packed > limit) return "too large";
  const header = dataViewOf(await source.read(entry.offset, entry.offset + 30));
  if (header.byteLength < 30 || header.getUint32(0, true) !== 0x04034b50) return "damaged";
  const start = entry.offset + 30 + header.getUint16(26, true) + header.getUint16(28, true);
  const raw = await source.read(start, start + entry.packed);
  if (raw.length !== entry.packed) return "damaged";
  if (entry.method === 0) return raw;
  if (entry.method !== 8) return "method";
  return (await inflateRaw(raw, entry.size, entry.crc)) ?? "damaged";
}
