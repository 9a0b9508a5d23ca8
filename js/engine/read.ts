/**
 * Reading text: detecting the type and encoding of bytes, and pages of lines.
 *
 * A {@link Page} is the same whether WebAssembly cut it from bytes in memory or the native addon
 * from a file.
 */
import { checkAborted, FilewrightError, fromEngine, type Signalled } from "./errors.ts";
import { untilAborted } from "./yielder.ts";
import {
  type DecodedText,
  decodeDecodedText,
  decodeInspection,
  decodePage,
  type Inspection,
  type Page as PageRecord,
} from "./generated/records.ts";
import { type Packed, unpack } from "./wire/unpack.ts";

export type { DecodedText, Eol, FileKind, Inspection, LongLine } from "./generated/records.ts";

/** Context of the bytes to inspect. */
export interface InspectOptions {
  /** A file name or path; selects the kind of text. */
  readonly name?: string | undefined;
  /** True when the bytes are only the beginning of the file. Default false. */
  readonly partial?: boolean | undefined;
}

/** The form of line numbers in a rendered page. */
export type LineNumbers = "cat" | "arrow" | "plain" | "none";

/**
 * The lines of a page that names no number. The engine's own default, in
 * `crates/core/src/page/request.rs`, is the same number; a test compares them.
 */
export const DEFAULT_PAGE_LINES = 2000;
/** The code points above which a line is cut, if the request does not say. Also in the engine. */
export const DEFAULT_LINE_CHARS = 2000;

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
export interface Page extends PageRecord {
  /** Opaque version of the file. Absent when the backend has none. */
  readonly version?: string;
  /** When the file last changed, in milliseconds since 1970. */
  readonly mtime?: number;
  /** Permission bits. */
  readonly mode?: number;
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
      called(() => decodeInspection(unpack(binding.inspect(bytes, options.name ?? "", !options.partial)))),
    readPage: (bytes, request = {}, name = "") =>
      called(() => decodePage(unpack(binding.readPage(bytes, name, JSON.stringify(request))))),
    async readPageAsync(bytes, request = {}, name = "", { signal } = {}) {
      checkAborted(signal);
      const json = JSON.stringify(request);
      try {
        const packed = binding.readPageAsync
          ? await untilAborted(signal, binding.readPageAsync(bytes, name, json, signal))
          : binding.readPage(bytes, name, json);
        return decodePage(unpack(packed));
      } catch (error) {
        throw fromEngine(error);
      }
    },
    decodeText: (bytes, encoding = "auto") =>
      called(() => decodeDecodedText(unpack(binding.decodeBytes(bytes, encoding)))),
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
