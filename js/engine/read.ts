/**
 * Reading text: what kind of file bytes are, which encoding they are in, and
 * pages of lines.
 *
 * A {@link Page} is the same whether it was cut from bytes in memory, by
 * WebAssembly, or from a file by the native addon.
 */
import { checkAborted, FilewrightError, fromEngine, type Signalled } from "./errors.ts";
import { type Packed, type Unpacker, unpack } from "./unpack.ts";

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

/** How the lines of a text end. */
export type Eol = "lf" | "crlf" | "mixed" | "none";

/** What a file is, told by its content. */
export interface Inspection {
  readonly kind: FileKind;
  /** The MIME type, without parameters. */
  readonly mime: string;
  /** For text, SVG and empty files: the encoding, in lower case. */
  readonly encoding: string | null;
  /** For text: the line ends of the bytes looked at. */
  readonly eol: Eol | null;
  /** Whether the text begins with a byte order mark. */
  readonly bom: boolean;
  /** For images whose header tells: pixels. */
  readonly width: number | null;
  readonly height: number | null;
}

/** What else is known of the bytes to inspect. */
export interface InspectOptions {
  /** A file name or path; tells kinds of text apart. */
  readonly name?: string | undefined;
  /** Whether the bytes are only the beginning of the file. Default false. */
  readonly partial?: boolean | undefined;
}

/** How lines are numbered where a page is shown. */
export type LineNumbers = "cat" | "arrow" | "plain" | "none";

/** Which lines of a file, and how much of them. */
export interface PageRequest {
  /** The first line: 1-based, or negative from the end. Never 0. Default 1. */
  readonly startLine?: number | undefined;
  /** Lines at most; null for all. Default 2000. */
  readonly maxLines?: number | null | undefined;
  /** Code points beyond which a line counts as long; 0 for no limit. Default 2000. */
  readonly maxLineChars?: number | undefined;
  /** Bytes of {@link Page.content} at most, in UTF-8. Default 1 MiB. */
  readonly contentBytes?: number | undefined;
  /**
   * Bytes at most of the text that `renderPage` makes of the page, numbers and
   * cut lines reckoned in. Default: no limit.
   */
  readonly textBytes?: number | undefined;
  /** The numbers in that text. Default `none`. */
  readonly lineNumbers?: LineNumbers | undefined;
  /** `auto` (default), or a label such as `utf-8`, `latin1`, `shift_jis`. */
  readonly encoding?: string | undefined;
  /** Show binary content as text. Default false. */
  readonly forceText?: boolean | undefined;
  /**
   * Begin at this byte of the file, to go on inside a long line: the page ends
   * where a line is cut, with the byte to go on with. Wins over `startLine`.
   */
  readonly startByte?: number | undefined;
  /** Whether to give line anchors. Default false. */
  readonly anchors?: boolean | undefined;
  /** With `maxLines: null`, refuse files above this many bytes. Default 20 MiB. */
  readonly wholeFileBytes?: number | undefined;
}

/** Some lines of a file. Numbers are 1-based; sizes and offsets are bytes. */
export interface Page {
  /**
   * The window with its own line ends, without a byte order mark: whole while
   * it fits `contentBytes`; beyond that long lines are cut, then it ends earlier.
   */
  readonly content: string;
  /**
   * The first line. Negative, counted from the end, where a file too big to be
   * counted at once was asked for its end.
   */
  readonly startLine: number;
  /** The last line; `startLine - 1` where there is none. */
  readonly endLine: number;
  readonly linesRead: number;
  /** Lines of the file; null while they are not counted. */
  readonly totalLines: number | null;
  /** Lines there are at least. */
  readonly atLeastLines: number;
  /** Bytes of the file. */
  readonly size: number;
  /** Offset of the first byte of the window. */
  readonly startByte: number;
  /** What the content was decoded from. */
  readonly encoding: string;
  /** Line ends of the whole file; null while it is not looked through. */
  readonly eol: Eol | null;
  readonly bom: boolean;
  /** Whether something follows the window. */
  readonly truncated: boolean;
  /** The line to go on with. */
  readonly nextStartLine: number | null;
  /** The byte to go on with, where the window ended inside a line. */
  readonly nextStartByte: number | null;
  /** Lines of the window with more than `maxLineChars` code points. */
  readonly longLines: number;
  /** The first of them, and where each goes on beyond the cut. */
  readonly long: readonly LongLine[];
  /** Lines that are cut in `content`. */
  readonly cutLines: readonly number[];
  /** Six characters for each line, if asked for; `------` for a line too long, or beside one. */
  readonly anchors: string | null;
  /** `sha256:…` of all bytes; null while they are not all read. */
  readonly hash: string | null;
  readonly mime: string;
  /** Whether U+FFFD in the content stands for bytes that fit no character. */
  readonly lossy: boolean;
  /** Whether the content holds a NUL character. */
  readonly nuls: boolean;
  /** Whether the file changed while it was read. */
  readonly changed: boolean;
  /** Opaque; what the page was read from. Absent where the backend has none. */
  readonly version?: string;
  /** When the file last changed, in milliseconds since 1970. */
  readonly mtime?: number;
  /** Permission bits. */
  readonly mode?: number;
}

/** A line with more code points than are shown of it. */
export interface LongLine {
  readonly line: number;
  /** The first byte of the file that is not shown: goes on inside the line as `startByte`. */
  readonly restByte: number;
  /** Bytes from there to its end; null where the end was not looked for. */
  readonly restBytes: number | null;
}

/** A decoded file. */
export interface DecodedText {
  /** The characters, without a byte order mark. */
  readonly text: string;
  readonly encoding: string;
  readonly bom: boolean;
  /** Whether U+FFFD stands for some bytes. */
  readonly lossy: boolean;
}

/** What both bindings export for this area. */
export interface ReadBinding {
  inspect(bytes: Uint8Array, name: string, complete: boolean): Packed;
  readPage(bytes: Uint8Array, name: string, request: string): Packed;
  /** Off the event loop; only where there are threads. */
  readPageAsync?(bytes: Uint8Array, name: string, request: string, signal?: AbortSignal): Promise<Packed>;
  decodeBytes(bytes: Uint8Array, label: string): Packed;
  encodeText(text: string, label: string, bom: boolean): Uint8Array;
  lineAnchors(text: string): string;
}

/** The functions of this area. */
export interface ReadEngine {
  /** Kind, MIME type, encoding, line ends and image size, from the content. */
  inspect(bytes: Uint8Array, options?: InspectOptions): Inspection;
  /**
   * A page of bytes in memory; `name` only chooses among MIME types of text.
   *
   * @throws BINARY_FILE with `details` `{kind, mime, size, width?, height?}`,
   * INVALID_ARGUMENT, ENCODING_ERROR, TOO_LARGE
   */
  readPage(bytes: Uint8Array, request?: PageRequest, name?: string): Page;
  /** The same off the event loop where there are threads: for megabytes. */
  readPageAsync(bytes: Uint8Array, request?: PageRequest, name?: string, options?: Signalled): Promise<Page>;
  /**
   * Bytes as text: in the encoding found, or strictly in the one named.
   *
   * @throws ENCODING_ERROR, INVALID_ARGUMENT for an unknown encoding
   */
  decodeText(bytes: Uint8Array, encoding?: string): DecodedText;
  /**
   * Text as bytes. Default utf-8 without a byte order mark.
   *
   * @throws ENCODING_ERROR with `details` `{character, code_point, offset}` for
   * a character that the encoding lacks, INVALID_ARGUMENT for an unknown encoding
   */
  encodeText(text: string, encoding?: string, options?: { readonly bom?: boolean }): Uint8Array;
  /** Six characters for each line of a text, which tell it and its neighbours; see `anchors` of {@link PageRequest}. */
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
          ? await binding.readPageAsync(bytes, name, json, signal)
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

/** Reads what `Inspection::pack` of `crates/core/src/sniff/mod.rs` wrote. */
export function toInspection(from: Unpacker): Inspection {
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

/** Reads what `Page::pack` of `crates/core/src/page/mod.rs` wrote. */
export function toPage(from: Unpacker): Page {
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

/** What the addon's set of roots offers for this area. Paths are in the engine's form. */
export interface ReadRoots {
  readPage(path: string, request: string, cancel?: { cancel(): void } | undefined): Promise<Packed>;
  inspect(path: string): Promise<Packed>;
}

/** Reads what `NativeRoots.readPage` wrote: a page, with its file's version, time and mode. */
export function toFilePage(packed: Packed): Page {
  const from = unpack(packed);
  // Added to, not copied: a page has two dozen fields.
  return Object.assign(toPage(from), { version: from.str(), mtime: from.num(), mode: from.num() });
}

/** Reads what `NativeRoots.inspect` wrote: an inspection, with the file's size and version. */
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
