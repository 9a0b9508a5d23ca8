/**
 * Reading text: detecting the type and encoding of bytes, and pages of lines.
 *
 * A {@link Page} is the same whether WebAssembly cut it from bytes in memory or the native addon
 * from a file.
 */
import { checkAborted, FilewrightError, fromEngine, type Signalled } from "./errors.ts";
import { untilAborted } from "./cancellable.ts";
import { type Packed, type Unpacker, unpack } from "./wire/unpack.ts";

/** The kinds of files that tools treat differently. */
export type FileKind =
  | "empty"
  | "text"
  | "svg"
  | "image"
  | "pdf"
  | "document"
  | "audio"
  | "video"
  | "archive"
  | "font"
  | "binary";

/** The line endings of a text. */
export type Eol = "lf" | "crlf" | "mixed" | "none";

/** The type of a file, detected from its content. */
export interface Inspection {
  readonly kind: FileKind;
  /** The MIME type, without parameters. */
  readonly mime: string;
  /** For text, SVG and empty files: the encoding, in lower case. */
  readonly encoding: string | null;
  /** For text: the line endings of the inspected bytes. */
  readonly eol: Eol | null;
  /** True when the text begins with a byte order mark. */
  readonly bom: boolean;
  /** For images: pixels, when the header states them. */
  readonly width: number | null;
  readonly height: number | null;
}

/** Context of the bytes to inspect. */
export interface InspectOptions {
  /** A file name or path; selects the kind of text. */
  readonly name?: string | undefined;
  /** True when the bytes are only the beginning of the file. Default false. */
  readonly partial?: boolean | undefined;
}

/** The form of line numbers in a rendered page. */
export type LineNumbers = "cat" | "arrow" | "plain" | "none";

/** The lines to read of a file, and their limits. */
export interface PageRequest {
  /** The first line: 1-based, or negative from the end. Never 0. Default 1. */
  readonly startLine?: number | undefined;
  /** The maximum number of lines; null for all. Default 2000. */
  readonly maxLines?: number | null | undefined;
  /** The number of code points above which a line counts as long; 0 for no limit. Default 2000. */
  readonly maxLineChars?: number | undefined;
  /** The maximum size of {@link Page.content}, in UTF-8 bytes. Default 1 MiB. */
  readonly contentBytes?: number | undefined;
  /**
   * The maximum size in bytes of the page as `renderPage` renders it, with numbers and truncated
   * lines. Default: no limit.
   */
  readonly textBytes?: number | undefined;
  /** The line numbers in that text. Default `none`. */
  readonly lineNumbers?: LineNumbers | undefined;
  /** `auto` (default), or a label such as `utf-8`, `latin1`, `shift_jis`. */
  readonly encoding?: string | undefined;
  /** Decode binary content as text. Default false. */
  readonly forceText?: boolean | undefined;
  /**
   * Begin at this byte of the file, to continue inside a long line: the page ends at a truncated
   * line, with the byte to continue at. Takes precedence over `startLine`.
   */
  readonly startByte?: number | undefined;
  /** Return line anchors. Default false. */
  readonly anchors?: boolean | undefined;
  /** With `maxLines: null`, refuse files above this many bytes. Default 20 MiB. */
  readonly wholeFileBytes?: number | undefined;
}

/** Some lines of a file. Numbers are 1-based; sizes and offsets are bytes. */
export interface Page {
  /**
   * The lines with their own line endings, without a byte order mark: complete while they fit in
   * `contentBytes`; beyond that long lines are truncated, then the page ends earlier.
   */
  readonly content: string;
  /**
   * The first line. Negative, counted from the end, when the end of a file was requested that is
   * too big to be counted at once.
   */
  readonly startLine: number;
  /** The last line; `startLine - 1` for an empty page. */
  readonly endLine: number;
  readonly linesRead: number;
  /** The number of lines of the file; null while unknown. */
  readonly totalLines: number | null;
  /** A lower bound of the number of lines. */
  readonly atLeastLines: number;
  /** Bytes of the file. */
  readonly size: number;
  /** Offset of the first byte of the page. */
  readonly startByte: number;
  /** The encoding of the file. */
  readonly encoding: string;
  /** The line endings of the whole file; null while unknown. */
  readonly eol: Eol | null;
  readonly bom: boolean;
  /** True when more follows the page. */
  readonly truncated: boolean;
  /** The first line of the next page. */
  readonly nextStartLine: number | null;
  /** The first byte of the next page, when this one ends inside a line. */
  readonly nextStartByte: number | null;
  /** The number of lines with more than `maxLineChars` code points. */
  readonly longLines: number;
  /** The first of them, with the offset of the rest of each. */
  readonly long: readonly LongLine[];
  /** Lines that are truncated in `content`. */
  readonly cutLines: readonly number[];
  /**
   * Six characters for each line, if requested; `------` for a line that is too long, and for its
   * neighbours.
   */
  readonly anchors: string | null;
  /** `sha256:…` of all bytes; null when they were not all read. */
  readonly hash: string | null;
  readonly mime: string;
  /** True when U+FFFD in the content replaces invalid bytes. */
  readonly lossy: boolean;
  /** True when the content contains a NUL character. */
  readonly nuls: boolean;
  /** True when the file changed while it was read. */
  readonly changed: boolean;
  /** Opaque version of the file. Absent when the backend has none. */
  readonly version?: string;
  /** When the file last changed, in milliseconds since 1970. */
  readonly mtime?: number;
  /** Permission bits. */
  readonly mode?: number;
}

/** A line with more code points than are shown. */
export interface LongLine {
  readonly line: number;
  /** The offset of the first byte that is not shown: continue inside the line with it as `startByte`. */
  readonly restByte: number;
  /** The number of bytes from there to the line's end; null when the end is unknown. */
  readonly restBytes: number | null;
}

/** A decoded file. */
export interface DecodedText {
  /** The characters, without a byte order mark. */
  readonly text: string;
  readonly encoding: string;
  readonly bom: boolean;
  /** True when U+FFFD replaces invalid bytes. */
  readonly lossy: boolean;
}

/** The exports of both bindings for this area. */
export interface ReadBinding {
  inspect(bytes: Uint8Array, name: string, complete: boolean): Packed;
  readPage(bytes: Uint8Array, name: string, request: string): Packed;
  /** On another thread; only in bindings with threads. */
  readPageAsync?(bytes: Uint8Array, name: string, request: string, signal?: AbortSignal): Promise<Packed>;
  decodeBytes(bytes: Uint8Array, label: string): Packed;
  encodeText(text: string, label: string, bom: boolean): Uint8Array;
  lineAnchors(text: string): string;
}

/** The functions of this area. */
export interface ReadEngine {
  /** Detects kind, MIME type, encoding, line endings and image size from the content. */
  inspect(bytes: Uint8Array, options?: InspectOptions): Inspection;
  /**
   * Reads a page of bytes in memory; `name` only selects the MIME type of text.
   *
   * @throws BINARY_FILE with `details` `{kind, mime, size, width?, height?}`, INVALID_ARGUMENT,
   * ENCODING_ERROR, TOO_LARGE
   */
  readPage(bytes: Uint8Array, request?: PageRequest, name?: string): Page;
  /** The same on another thread, where threads exist: for megabytes. */
  readPageAsync(bytes: Uint8Array, request?: PageRequest, name?: string, options?: Signalled): Promise<Page>;
  /**
   * Decodes bytes in the detected encoding, or strictly in the named one.
   *
   * @throws ENCODING_ERROR, INVALID_ARGUMENT for an unknown encoding
   */
  decodeText(bytes: Uint8Array, encoding?: string): DecodedText;
  /**
   * Encodes text. Default utf-8 without a byte order mark.
   *
   * @throws ENCODING_ERROR with `details` `{character, code_point, offset}` for a character that
   * the encoding lacks, INVALID_ARGUMENT for an unknown encoding
   */
  encodeText(text: string, encoding?: string, options?: { readonly bom?: boolean }): Uint8Array;
  /**
   * Returns six characters for each line of a text, which identify it and its neighbours; see
   * `anchors` of {@link PageRequest}.
   */
  lineAnchors(text: string): string;
}

/** Wraps a binding. */
export function readEngine(binding: ReadBinding): ReadEngine {
  return {
    inspect: (bytes, options = {}) =>
      called(() => toInspection(unpack(binding.inspect(bytes, options.name ?? "", !options.partial)))),
    readPage: (bytes, request = {}, name = "") =>
      called(() => toPage(unpack(binding.readPage(bytes, name, JSON.stringify(request))))),
    async readPageAsync(bytes, request = {}, name = "", { signal } = {}) {
      checkAborted(signal);
      const json = JSON.stringify(request);
      try {
        const packed = binding.readPageAsync
          ? await untilAborted(signal, binding.readPageAsync(bytes, name, json, signal))
          : binding.readPage(bytes, name, json);
        return toPage(unpack(packed));
      } catch (error) {
        throw fromEngine(error);
      }
    },
    decodeText: (bytes, encoding = "auto") =>
      called(() => {
        const from = unpack(binding.decodeBytes(bytes, encoding));
        return { text: from.str(), encoding: from.str(), bom: from.flag(), lossy: from.flag() };
      }),
    encodeText: (text, encoding = "utf-8", options = {}) => {
      if (UNPAIRED.test(text)) {
        throw new FilewrightError("ENCODING_ERROR", "the text contains an unpaired surrogate", {
          details: { encoding },
        });
      }
      return called(() => binding.encodeText(text, encoding, options.bom ?? false));
    },
    lineAnchors: (text) => called(() => binding.lineAnchors(text)),
  };
}

const UNPAIRED = /[\ud800-\udfff]/u;

function called<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw fromEngine(error);
  }
}

/** Decodes the result of `Inspection::pack` in `crates/core/src/sniff/mod.rs`. */
function toInspection(from: Unpacker): Inspection {
  return {
    kind: from.str() as FileKind,
    mime: from.str(),
    encoding: from.optStr(),
    eol: from.optStr() as Eol | null,
    bom: from.flag(),
    width: from.opt(),
    height: from.opt(),
  };
}

/** Decodes the result of `Page::pack` in `crates/core/src/page/mod.rs`. */
function toPage(from: Unpacker): Page {
  return {
    content: from.str(),
    startLine: from.num(),
    endLine: from.num(),
    linesRead: from.num(),
    totalLines: from.opt(),
    atLeastLines: from.num(),
    size: from.num(),
    startByte: from.num(),
    encoding: from.str(),
    eol: from.optStr() as Eol | null,
    bom: from.flag(),
    truncated: from.flag(),
    nextStartLine: from.num() || null,
    nextStartByte: from.opt(),
    longLines: from.num(),
    long: list(from, () => ({ line: from.num(), restByte: from.num(), restBytes: from.opt() })),
    cutLines: list(from, () => from.num()),
    anchors: from.optStr(),
    hash: from.optStr(),
    mime: from.str(),
    lossy: from.flag(),
    nuls: from.flag(),
    changed: from.flag(),
  };
}

/** The addon's functions on roots for this area. Paths are in the engine's form. */
export interface ReadRoots {
  readPage(path: string, request: string, cancel?: { cancel(): void } | undefined): Promise<Packed>;
  inspect(path: string): Promise<Packed>;
}

/** Decodes the result of `NativeRoots.readPage`: a page, with its file's version, time and mode. */
export function toFilePage(packed: Packed): Page {
  const from = unpack(packed);
  // Assigns the fields to the page, because a page has two dozen fields to copy.
  return Object.assign(toPage(from), { version: from.str(), mtime: from.num(), mode: from.num() });
}

/** Decodes the result of `NativeRoots.inspect`: an inspection, with the file's size and version. */
export function toFileInspection(
  packed: Packed,
): Inspection & { readonly size: number; readonly version: string } {
  const from = unpack(packed);
  const found = toInspection(from);
  return { ...found, size: from.num(), version: from.str() };
}

function list<T>(from: Unpacker, item: () => T): T[] {
  return Array.from({ length: from.num() }, item);
}
