/**
 * Reading regular files: whole, in ranges, in pages, and their hashes. Small files are read at once, because a
 * hand-over to another thread takes longer than the read; large ones in blocks, on threads of Node.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { engine } from "../../engine/current.ts";
import { FilewrightError, type Signalled } from "../../engine/errors.ts";
import type { Page, PageRequest } from "../../engine/read.ts";
import type { ByteRange, ReadOptions, VersionedBytes } from "../backend.ts";
import { checkRange, checkSignal, tooLargeError } from "../failure.ts";
import { osError } from "./errors.node.ts";
import { fsStatOf, parseVersion, versionOf } from "./facts.node.ts";
import { openFile, type PinnedFile } from "./pinned.node.ts";

/** The size in bytes up to which a file is read without waiting. */
const MAX_SYNC_BYTES = 256 * 1024;
/** The number of bytes read between two looks at the signal. */
const BLOCK_BYTES = 1 << 20;
/** The maximum number of bytes that one call reads into memory, as in `crates/fs/src/read/mod.rs`. */
const MAX_READ_BYTES = 2 ** 31;
/** The number of bytes first tried of a file that reports no size, such as one in procfs. */
const UNSIZED_BYTES = 16 * 1024;

/** Reads a file by its real path, or a range of it; null when it still has the version `ifNoneMatch`. */
export async function readVersion(
  path: string,
  { range, ifNoneMatch, maxBytes = MAX_READ_BYTES, signal }: ReadOptions = {},
): Promise<VersionedBytes | null> {
  checkRange(range, path);
  checkSignal(signal, path);
  return withFile(path, async (file) => {
    const version = versionOf(file.facts);
    if (ifNoneMatch !== undefined && parseVersion(ifNoneMatch)?.facts === version) return null;
    const bytes = await readRange(file, path, range, { limit: Math.min(maxBytes, MAX_READ_BYTES), signal });
    return Object.freeze({ bytes, version, stat: fsStatOf(file.facts, path) });
  });
}

/** Runs a function on a file by its real path while it is open. */
async function withFile<T>(path: string, use: (file: PinnedFile) => Promise<T>): Promise<T> {
  const file = openFile(path);
  try {
    return await use(file);
  } catch (error) {
    throw osError(error, path);
  } finally {
    fs.closeSync(file.fd);
  }
}

/** Returns the bytes of a range of an open file, up to its end. @throws TOO_LARGE for more than `limit` */
async function readRange(
  file: PinnedFile,
  path: string,
  range: ByteRange | undefined,
  { limit, signal }: { readonly limit: number; readonly signal: AbortSignal | undefined },
): Promise<Uint8Array> {
  const size = Number(file.facts.size);
  const { start, end } = range ?? { start: 0, end: Number.POSITIVE_INFINITY };
  const expected = Math.max(0, Math.min(end, size) - start);
  if (expected > limit) throw tooLargeError(path, expected, limit);
  // One that reports size 0 is empty, or has a content that the system makes as it is read.
  const wanted = size === 0 ? Math.min(end - start, limit + 1) : expected;
  let bytes = new Uint8Array(size === 0 ? Math.min(wanted, UNSIZED_BYTES) : wanted);
  let done = 0;
  for (let count = 1; done < wanted && count > 0; done += count) {
    if (done === bytes.length) {
      const longer = new Uint8Array(Math.min(2 * done, wanted));
      longer.set(bytes);
      bytes = longer;
    }
    checkSignal(signal, path);
    const target = bytes.subarray(done, done + BLOCK_BYTES);
    count =
      expected > MAX_SYNC_BYTES
        ? await readLater(file.fd, target, start + done)
        : readNow(file.fd, target, start + done);
  }
  if (done > limit) throw tooLargeError(path, done, limit);
  return done === bytes.length ? bytes : bytes.slice(0, done);
}

/** Reads into a buffer from a position on, and returns the number of bytes that were read. */
function readNow(fd: number, into: Uint8Array, position: number): number {
  return fs.readSync(fd, into, 0, into.length, position);
}

/** Does what {@link readNow} does, on a thread of Node. */
function readLater(fd: number, into: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.read(fd, into, 0, into.length, position, (error, count) =>
      error === null ? resolve(count) : reject(error),
    );
  });
}

/** Calls `use` with each block of an open file and its position, in order. The block is used again afterwards. */
export async function eachBlock(
  file: PinnedFile,
  path: string,
  signal: AbortSignal | undefined,
  use: (block: Uint8Array, position: number) => void,
): Promise<void> {
  const block = new Uint8Array(Math.max(1, Math.min(BLOCK_BYTES, Number(file.facts.size) || UNSIZED_BYTES)));
  const read = file.facts.size <= BigInt(MAX_SYNC_BYTES) ? readNow : readLater;
  for (let position = 0; ; ) {
    checkSignal(signal, path);
    const count = await read(file.fd, block, position);
    if (count === 0) return;
    use(count === block.length ? block : block.subarray(0, count), position);
    position += count;
  }
}

/** Returns the SHA-256 of an open file. */
export async function hashOfFile(file: PinnedFile, path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  await eachBlock(file, path, signal, (block) => void hash.update(block));
  return `sha256:${hash.digest("hex")}`;
}

/** Returns the SHA-256 of a file by its real path, and its version. */
export async function hashOfPath(
  path: string,
  { signal }: Signalled = {},
): Promise<{ readonly hash: string; readonly version: string }> {
  checkSignal(signal, path);
  return withFile(path, async (file) =>
    Object.freeze({ hash: await hashOfFile(file, path, signal), version: versionOf(file.facts) }),
  );
}

/** The number of bytes at the beginning of a larger file of which a page is taken, if it ends within them. */
const PAGE_HEAD_BYTES = 1 << 20;
const LF = 10;

/**
 * Returns a page of a text file. Of a large one only the beginning is read, if the page ends there; then the facts
 * about the whole file (the number of lines, the kind of line ends, the hash) are null, as in pages of the addon.
 */
export async function pageOf(
  path: string,
  read: (options: ReadOptions) => Promise<VersionedBytes | null>,
  request: PageRequest,
  signal: AbortSignal | undefined,
): Promise<Page> {
  const range = mayEndInHead(request) ? { start: 0, end: PAGE_HEAD_BYTES } : undefined;
  const found = (await read({ range, signal })) as VersionedBytes; // `null` only answers `ifNoneMatch`.
  if (found.bytes.length !== range?.end) return pageOfContent(path, found, request, signal);
  const page = await pageOfHead(path, found, request, signal);
  return page ?? pageOfContent(path, (await read({ signal })) as VersionedBytes, request, signal);
}

/** Returns false for a page that needs the end of the file, or an encoding whose lines cannot be told byte by byte. */
function mayEndInHead({ startLine = 1, startByte, maxLines, encoding = "auto" }: PageRequest): boolean {
  return startLine > 0 && startByte === undefined && maxLines !== null && /^(?:auto|utf-?8)$/i.test(encoding);
}

/** Returns the page if it ends within the beginning of a file; otherwise undefined. */
async function pageOfHead(
  path: string,
  { bytes, version, stat }: VersionedBytes,
  request: PageRequest,
  signal: AbortSignal | undefined,
): Promise<Page | undefined> {
  const end = bytes.lastIndexOf(LF) + 1;
  const hasMark = bytes[0] === 0xff || bytes[0] === 0xfe;
  if (end === 0 || end > stat.size || hasMark || bytes.includes(0)) return undefined;
  let page: Page;
  try {
    page = await engine().reading.readPage(bytes.subarray(0, end), request, path, { signal });
  } catch (error) {
    checkSignal(signal, path);
    // Whether the content is text, and of which encoding, is decided by the whole file.
    if (error instanceof FilewrightError && error.code !== "INVALID_ARGUMENT") return undefined;
    throw error;
  }
  const { totalLines, nextStartLine, mime } = page;
  if (nextStartLine === null || totalLines === null || nextStartLine > totalLines) return undefined;
  const facts = { size: stat.size, totalLines: null, atLeastLines: totalLines, eol: null, hash: null, mime };
  return Object.freeze({ ...page, ...facts, version, mtime: stat.mtime, mode: stat.mode } as Page);
}

/** Returns a page of a text file whose content was read. */
async function pageOfContent(
  path: string,
  { bytes, version, stat }: VersionedBytes,
  request: PageRequest,
  signal: AbortSignal | undefined,
): Promise<Page> {
  const page = await engine().reading.readPage(bytes, request, path, { signal });
  return Object.freeze(Object.assign(page, { version, mtime: stat.mtime, mode: stat.mode }) as Page);
}
