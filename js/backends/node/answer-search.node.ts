/**
 * Searches files of a disk in a worker: the worker's side of `thread-search.node.ts`.
 *
 * The files of a directory are opened below its descriptor, where directories are held by descriptors, and never
 * through a link. Contents of ordinary size are read into one block, one after the other, and the block is searched at
 * once: most have no match, and one call of the engine for each would take as long as the search. Whatever is not an
 * ordinary readable file is left to the caller.
 */
import * as fs from "node:fs";
import type { Binding } from "../../engine/engine.ts";
import type { TextQuery } from "../../engine/search-types.ts";
import type { Packed } from "../../engine/wire/unpack.ts";
import { hasNameEscape } from "../name-escapes.ts";
import { holdsSecret, mayHoldSecret } from "../confined/rules.ts";
import { childOf } from "../paths.ts";
import {
  ASK_BACKEND,
  BINARY_FILE,
  LARGE_FILE,
  type SearchedFiles,
  WITH_HITS,
  WITHOUT_HITS,
} from "../search/file-searcher.ts";
import { beginsBinary, beginsWithMark, HEAD_BYTES } from "../search/binary-head.ts";
import type { HostPath } from "./host-path.node.ts";
import { openFile, type PinnedDirectory, pinDirectory, READ_FLAGS, setPinMode } from "./pinned.node.ts";
import { CHECK_AND_SEARCH_FILE, type SearchRequest, SKIP_FILE } from "./search-request.node.ts";

/** The size of the block of contents that are searched at once. It fits into the cache of a processor. */
const BLOCK_BYTES = 256 * 1024;
/** The last byte of the block, which is kept for the line feed after a content. */
const LAST_BYTE = BLOCK_BYTES - 1;
/** The room in the block below which it is searched before the next file: most files are smaller. */
const MIN_ROOM_BYTES = 64 * 1024;
/** The size of the buffer for larger contents from which it is not kept for the next. */
const MAX_KEPT_BUFFER_BYTES = 8 << 20;
/** A block with this number of files with matches shows that the query matches in many files. */
const MANY_HITS = 4;
/** The number of files that are then searched alone before the next block. */
const FILES_ALONE = 64;

const LF = 10;
const CR = 13;

/** Anchors at the ends of a text and flags, with which a content may match alone and not in a block. */
const DEPENDS_ON_TEXT_ENDS = /\\[Az]|\(\?[^:P<=!]/;

/** Returns true when a line matches in a block of contents whenever it matches in its own. */
function matchesInBlocks({ pattern = "", patterns = [pattern], regex, multiline }: TextQuery): boolean {
  if (multiline === true) return false;
  return regex === false || !patterns.some((one) => DEPENDS_ON_TEXT_ENDS.test(one));
}

type RawQuery = InstanceType<Binding["SearchQuery"]>;

/** The query of the last request, which the next one usually has again. */
let last: { readonly options: string; readonly raw: RawQuery; readonly joins: boolean } | undefined;

const block = new Uint8Array(BLOCK_BYTES);
const blockView = Buffer.from(block.buffer);
let largeBuffer = new Uint8Array(0);

/** Answers a request. The signature is that of `worker.node.ts`. */
export function answerInWorker(binding: Binding, request: SearchRequest): SearchedFiles {
  setPinMode(request.mode);
  if (last?.options !== request.options) {
    const raw = new binding.SearchQuery(request.options);
    last = { options: request.options, raw, joins: matchesInBlocks(JSON.parse(request.options)) };
  }
  try {
    return new RequestedSearch(request, last.raw, last.joins).run();
  } catch (error) {
    // After a trap the engine is a new one, in which this query does not exist.
    last = undefined;
    throw error;
  }
}

class RequestedSearch {
  readonly #request: SearchRequest;
  readonly #raw: RawQuery;
  readonly #joins: boolean;
  readonly #end: number;
  readonly #states: Uint8Array;
  readonly #hits: (Packed | undefined)[] = [];
  /** The files in the block: the place of each, and where its content begins and ends. */
  readonly #joined: { readonly place: number; readonly start: number; readonly end: number }[] = [];
  #used = 0;
  #alone = 0;

  constructor(request: SearchRequest, raw: RawQuery, joins: boolean) {
    this.#request = request;
    this.#raw = raw;
    this.#joins = joins;
    this.#end =
      request.timeLeft === undefined ? Number.POSITIVE_INFINITY : performance.now() + request.timeLeft;
    this.#states = new Uint8Array(request.asked.length).fill(ASK_BACKEND);
  }

  run(): SearchedFiles {
    for (const { path, names, places } of this.#request.directories) {
      if (performance.now() >= this.#end) break;
      this.#directory(path, names.split("/"), places);
    }
    this.#searchBlock();
    return { states: this.#states, hits: this.#hits.filter((hits) => hits !== undefined) };
  }

  #directory(path: string, names: readonly string[], places: Uint32Array): void {
    const held = this.#request.mode === "descriptor";
    let directory: PinnedDirectory | undefined;
    try {
      if (held) directory = pinDirectory(path);
      const base = directory === undefined ? undefined : commonStart(directory, names);
      for (const [index, name] of names.entries()) {
        const place = places[index] as number;
        if (this.#request.asked[place] === SKIP_FILE) continue;
        try {
          if (directory === undefined) this.#pinnedFile(childOf(path, name), place);
          else this.#fileAt(base === undefined ? directory.at(name) : base + name, place);
        } catch {
          // The caller reads the file itself and finds the same error, or none.
          this.#states[place] = ASK_BACKEND;
        }
      }
    } catch {
      // The directory has changed since it was listed: the caller resolves the paths again.
    } finally {
      directory?.close();
    }
  }

  /** Opens, reads and searches a file, where names are reached by a descriptor. */
  #fileAt(path: HostPath, place: number): void {
    const fd = fs.openSync(path, READ_FLAGS);
    try {
      this.#readIntoBlock(fd, place);
    } finally {
      fs.closeSync(fd);
    }
  }

  /** Does the same where paths are compared before and after the opening. */
  #pinnedFile(path: string, place: number): void {
    const { fd } = openFile(path);
    try {
      this.#readIntoBlock(fd, place);
    } finally {
      fs.closeSync(fd);
    }
  }

  /**
   * Reads a file of ordinary size into the block, and any other alone.
   *
   * A read with a position fails for FIFOs, sockets and directories, so for a file that ends within the block a call
   * for its type would only tell devices apart, which nobody but root can put in the place of a file.
   */
  #readIntoBlock(fd: number, place: number): void {
    if (this.#alone > 0 || !this.#joins) {
      if (this.#alone > 0) this.#alone--;
      this.#readAlone(fd, place);
      return;
    }
    if (this.#used > LAST_BYTE - MIN_ROOM_BYTES) this.#searchBlock();
    let start = this.#used;
    let end = start + fs.readSync(fd, block, start, LAST_BYTE - start, 0);
    if (end === LAST_BYTE) {
      // The file has no end within the block: the files before it are searched, and it begins the next block.
      this.#searchBlock();
      block.copyWithin(0, start, end);
      end = readUpTo(fd, block, end - start, LAST_BYTE, 0);
      start = 0;
      if (end === LAST_BYTE) {
        this.#searchParts(fd, place);
        return;
      }
    }
    const count = end - start;
    if (count === 0 || count > this.#request.maxFileBytes) {
      this.#readAlone(fd, place);
      return;
    }
    if (this.#isSecret(place, block, start, end)) return;
    // Of these, the end or the beginning means something else within the block.
    if (block[end - 1] === CR || beginsWithMark(block[start] as number)) {
      this.#searchAlone(block.subarray(start, end), place);
      return;
    }
    block[end] = LF;
    this.#used = end + 1;
    this.#joined.push({ place, start, end });
  }

  /**
   * Searches a file of which the block has the first part, part by part, each up to the end of a line: a part stays in
   * the cache of the processor, and most files have no match. A file that has one is read as a whole.
   */
  #searchParts(fd: number, place: number): void {
    const facts = fs.fstatSync(fd);
    const { size } = facts;
    const isOrdinary = facts.isFile() && size <= this.#request.maxFileBytes;
    let partStart = 0;
    let end = LAST_BYTE;
    if (isOrdinary && !beginsWithMark(block[0] as number)) {
      if (this.#settlesByHead(place, end)) return;
      for (;;) {
        const isLast = end < LAST_BYTE;
        // A line that is longer than the block has no end in it.
        const length = isLast ? end : blockView.lastIndexOf(LF, end - 1) + 1;
        if (length === 0 && !isLast) break;
        if (this.#mayMatch(length)) break;
        if (isLast) {
          this.#states[place] = WITHOUT_HITS;
          return;
        }
        partStart += length;
        block.copyWithin(0, length, end);
        end = readUpTo(fd, block, end - length, LAST_BYTE, partStart);
      }
    }
    this.#readAlone(fd, place);
  }

  /** Returns true when the first part of a file is enough: it is a secret, which the caller judges, or binary. */
  #settlesByHead(place: number, end: number): boolean {
    if (this.#isSecret(place, block, 0, end)) return true;
    if (!beginsBinary(blockView.subarray(0, HEAD_BYTES))) return false;
    this.#states[place] = BINARY_FILE;
    return true;
  }

  /** Returns true when the first bytes of the block have a match or a NUL, which ends a search. */
  #mayMatch(length: number): boolean {
    const part = block.subarray(0, length);
    return blockView.subarray(0, length).includes(0) || this.#search(part, ONLY_WHETHER).nums[TOTAL] !== 0;
  }

  #readAlone(fd: number, place: number): void {
    const facts = fs.fstatSync(fd);
    if (!facts.isFile()) return;
    const { size } = facts;
    if (size > this.#request.maxFileBytes) {
      this.#states[place] = LARGE_FILE;
      return;
    }
    const buffer = bufferOf(size);
    // A file that reports no size may have a content that the system makes as it is read.
    if (size === 0 && fs.readSync(fd, buffer, 0, 1, 0) > 0) return;
    let end = readUpTo(fd, buffer, 0, Math.min(size, HEAD_BYTES), 0);
    // The engine finds the head binary, as it would find the whole.
    if (!beginsBinary(buffer.subarray(0, end))) end = readUpTo(fd, buffer, end, size, 0);
    if (!this.#isSecret(place, buffer, 0, end)) this.#searchAlone(buffer.subarray(0, end), place);
  }

  #isSecret(place: number, buffer: Uint8Array, start: number, end: number): boolean {
    if (this.#request.asked[place] !== CHECK_AND_SEARCH_FILE) return false;
    // Most contents cannot be one, and a view of each would take longer than the look at its first byte.
    return mayHoldSecret(buffer, start, end) && holdsSecret(buffer.subarray(start, end));
  }

  /** Searches the contents of the block at once and, where something matches, one by one. */
  #searchBlock(): void {
    const files = this.#joined;
    if (files.length > 0) {
      // A NUL ends the search of the content in which it is, and must not end that of others.
      if (!this.#mayMatch(this.#used)) for (const { place } of files) this.#states[place] = WITHOUT_HITS;
      else {
        let matching = 0;
        for (const { place, start, end } of files) {
          this.#searchAlone(block.subarray(start, end), place);
          if (this.#states[place] === WITH_HITS) matching++;
        }
        if (matching >= MANY_HITS) this.#alone = FILES_ALONE;
      }
    }
    files.length = 0;
    this.#used = 0;
  }

  #searchAlone(content: Uint8Array, place: number): void {
    const { limits, countsPath, pathBytes } = this.#request;
    const own = countsPath ? `${limits.slice(0, -1)},"pathBytes":${pathBytes[place]}}` : limits;
    const found = this.#search(content, own);
    if (found.nums[BINARY] !== 0) this.#states[place] = BINARY_FILE;
    else if (found.nums[TOTAL] === 0) this.#states[place] = WITHOUT_HITS;
    else {
      this.#states[place] = WITH_HITS;
      this.#hits[place] = found;
    }
  }

  #search(content: Uint8Array, limits: string): Packed {
    const found: Packed & { free?(): void } = this.#raw.search(content, limits);
    const { nums, text } = found;
    found.free?.();
    return { nums, text };
  }
}

/** The limits of a search that only finds out whether there is a match. */
const ONLY_WHETHER = '{"count":true,"maxPerFile":1}';
/** The places of two fields of a result, as `decodeTextHits` reads it. */
const BINARY = 0;
const TOTAL = 2;

/** Returns the path of the directory to which names are appended; undefined where a name is not its own path. */
function commonStart(directory: PinnedDirectory, names: readonly string[]): string | undefined {
  const [first = ""] = names;
  const path = directory.at(first);
  if (typeof path !== "string" || names.some(hasNameEscape)) return undefined;
  return path.slice(0, path.length - first.length);
}

/**
 * Reads an open file into a buffer from `start` up to `end`, or to the end of the file. The buffer has the bytes of the
 * file from `offset` on. Returns where the bytes in the buffer end.
 */
function readUpTo(fd: number, buffer: Uint8Array, start: number, end: number, offset: number): number {
  for (let at = start; ; ) {
    const count = at < end ? fs.readSync(fd, buffer, at, end - at, offset + at) : 0;
    if (count === 0) return at;
    at += count;
  }
}

/** Returns a buffer for a content of this size. */
function bufferOf(size: number): Uint8Array {
  if (size > MAX_KEPT_BUFFER_BYTES) return new Uint8Array(size);
  if (largeBuffer.length < size || largeBuffer.length === 0)
    largeBuffer = new Uint8Array(Math.max(size, BLOCK_BYTES));
  return largeBuffer;
}
