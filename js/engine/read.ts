/**
 * Reading text: detects the type and encoding of bytes, and extracts pages of lines.
 *
 * A {@link Page} has the same form whether WebAssembly extracted it from bytes in memory or the native addon
 * from a file.
 */
import { FilewrightError, type Signalled } from "./errors.ts";
import { onThread, asEngineCall } from "./threads.ts";
import {
  type DecodedText,
  decodeDecodedText,
  decodeInspection,
  decodeOutline,
  decodePage,
  type Inspection,
  type Outline,
  type Page as PageRecord,
} from "./generated/records.ts";
import type { FileExports } from "./generated/exports.ts";
import { Unpacker } from "./wire/unpack.ts";

export type {
  DecodedText,
  Eol,
  FileKind,
  Inspection,
  LongLine,
  OutlineEntry,
} from "./generated/records.ts";

/** The facts about the bytes to inspect. */
export interface InspectOptions {
  /** The name or path of the file: its extension tells which kind of text the bytes are. */
  readonly name?: string | undefined;
  /** True when the bytes are only the beginning of the file. Default false. */
  readonly partial?: boolean | undefined;
}

/** The form of line numbers in a rendered page. */
export type LineNumbers = "cat" | "arrow" | "plain" | "none";

/**
 * The number of lines of a page when the request names none. `crates/core/src/page/request.rs` has the same
 * number for the engine; a test compares both.
 */
export const DEFAULT_PAGE_LINES = 2000;
/**
 * The number of code points above which a line is truncated, when the request names none. The engine has the
 * same number.
 */
export const DEFAULT_LINE_CHARS = 2000;

/** Which lines of a file to read, and how much of them. */
export interface PageRequest {
  /** The first line: 1-based, or negative from the end. Never 0. Default 1. */
  readonly startLine?: number | undefined;
  /** The maximum number of lines; null for all. Default 2000. */
  readonly maxLines?: number | null | undefined;
  /**
   * The number of code points above which a line counts as long, and is truncated where the page is rendered;
   * 0 for no limit. Default 2000.
   */
  readonly maxLineChars?: number | undefined;
  /** The maximum size of {@link Page.content}, in UTF-8 bytes. Default 1 MiB. */
  readonly contentBytes?: number | undefined;
  /**
   * The maximum size in UTF-8 bytes of the page once `renderPage` has added line numbers and truncated long
   * lines. Default: no limit.
   */
  readonly textBytes?: number | undefined;
  /** The form of the line numbers in the text that `textBytes` measures. Default `none`. */
  readonly lineNumbers?: LineNumbers | undefined;
  /** The encoding: `auto` (default) to detect it, or a label such as `utf-8`, `latin1`, `shift_jis`. */
  readonly encoding?: string | undefined;
  /** Decode the content as text even if it is binary. Default false, which refuses it with BINARY_FILE. */
  readonly forceText?: boolean | undefined;
  /**
   * Begin at this byte of the file instead of at `startLine`, in order to continue within a long line. The
   * page then ends at the next line that must be truncated, and says at which byte to continue.
   */
  readonly startByte?: number | undefined;
  /** Return an anchor for each line: six characters that identify the line and its neighbours. Default false. */
  readonly anchors?: boolean | undefined;
  /** The size in bytes above which a file is refused with TOO_LARGE when `maxLines` is null. Default 20 MiB. */
  readonly wholeFileBytes?: number | undefined;
}

/** Some lines of a file. Numbers are 1-based; sizes and offsets are bytes. */
export interface Page extends PageRecord {
  /** A string that changes when the file does. Absent when the backend has no versions. */
  readonly version?: string;
  /** When the file last changed, in milliseconds since 1970. */
  readonly mtime?: number;
  /** Permission bits. */
  readonly mode?: number;
}

/** Functions for reading text whose large inputs are worked on by another thread, where there are threads. */
export interface ReadThreads {
  /** Does the same as {@link ReadEngine.inspect}. */
  inspect(bytes: Uint8Array, options?: InspectOptions & Signalled): Promise<Inspection>;
  /** Does the same as {@link ReadEngine.readPage}. */
  readPage(bytes: Uint8Array, request?: PageRequest, name?: string, options?: Signalled): Promise<Page>;
  /**
   * Returns the hashes of the lines of a whole content: a text with a line of five characters for each, which a line diff
   * compares instead of the content. Null for a content that is not text, and for more than 20,000 lines.
   */
  lineHashes(bytes: Uint8Array, options?: Signalled): Promise<string | null>;
  /** Does the same as {@link ReadEngine.decodeText}. */
  decodeText(bytes: Uint8Array, encoding?: string, options?: Signalled): Promise<DecodedText>;
  /** Returns true when the name of a file tells a language whose definitions can be found. Needs no other thread. */
  isOutlined(name: string): boolean;
  /** Finds the definitions of a text in UTF-8. `name` is the name of its file, which tells its language. */
  outline(text: Uint8Array, name: string, options?: Signalled): Promise<Outline>;
  /** Does the same as {@link ReadEngine.encodeText}. */
  encodeText(
    text: string,
    encoding?: string,
    options?: { readonly bom?: boolean } & Signalled,
  ): Promise<Uint8Array>;
}

/** The functions of the engine for reading text. */
export interface ReadEngine {
  /** Detects kind, MIME type, encoding, line endings and image size from the content. */
  inspect(bytes: Uint8Array, options?: InspectOptions): Inspection;
  /**
   * Extracts a page from bytes in memory. `name` only tells which kind of text it is.
   *
   * @throws BINARY_FILE with `details` `{kind, mime, size, width?, height?}`, INVALID_ARGUMENT,
   * ENCODING_ERROR, TOO_LARGE
   */
  readPage(bytes: Uint8Array, request?: PageRequest, name?: string): Page;
  /** Functions whose large inputs are worked on by another thread where threads exist. */
  readonly reading: ReadThreads;
  /**
   * Decodes bytes to text: in the detected encoding with U+FFFD for invalid bytes, or in the named one, for
   * which invalid bytes are an error.
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
   * Returns the anchors of all lines as one string: six characters for each line, which identify it and its
   * neighbours.
   */
  lineAnchors(text: string): string;
}

/** Returns the functions of the engine for reading text, which call the given binding. */
export function makeReadEngine(binding: FileExports): ReadEngine {
  return {
    inspect: (bytes, options = {}) =>
      asEngineCall(() =>
        decodeInspection(new Unpacker(binding.inspect(bytes, options.name ?? "", !options.partial))),
      ),
    readPage: (bytes, request = {}, name = "") =>
      asEngineCall(() => decodePage(new Unpacker(binding.readPage(bytes, name, JSON.stringify(request))))),
    reading: makeReadThreads(binding),
    decodeText: (bytes, encoding = "auto") =>
      asEngineCall(() => decodeDecodedText(new Unpacker(binding.decodeBytes(bytes, encoding)))),
    encodeText: (text, encoding = "utf-8", options = {}) => {
      assertWellFormed(text, encoding);
      return asEngineCall(() => binding.encodeText(text, encoding, options.bom ?? false));
    },
    lineAnchors: (text) => asEngineCall(() => binding.lineAnchors(text)),
  };
}

/**
 * How many times larger than others a content must be to be inspected on another thread: in WebAssembly a megabyte takes
 * 1 to 5 ms, in machine code a tenth of that.
 */
const INSPECTED_PER_UNIT = 16;

function makeReadThreads(binding: FileExports): ReadThreads {
  return Object.freeze<ReadThreads>({
    async inspect(bytes, { name = "", partial = false, signal } = {}) {
      const args = [bytes, name, !partial] as const;
      const packed = await onThread(
        { size: bytes.length / INSPECTED_PER_UNIT, signal },
        () => binding.inspect(...args),
        binding.inspectAsync && (() => binding.inspectAsync?.(...args, signal)),
      );
      return decodeInspection(new Unpacker(packed));
    },
    async readPage(bytes, request = {}, name = "", { signal } = {}) {
      const args = [bytes, name, JSON.stringify(request)] as const;
      const packed = await onThread(
        { size: bytes.length, signal },
        () => binding.readPage(...args),
        binding.readPageAsync && (() => binding.readPageAsync?.(...args, signal)),
      );
      return decodePage(new Unpacker(packed));
    },
    async lineHashes(bytes, { signal } = {}) {
      const hashes = await onThread(
        { size: bytes.length, signal },
        () => binding.lineHashes(bytes),
        binding.lineHashesAsync && (() => binding.lineHashesAsync?.(bytes, signal)),
      );
      return hashes ?? null;
    },
    async decodeText(bytes, encoding = "auto", { signal } = {}) {
      const packed = await onThread(
        { size: bytes.length, signal },
        () => binding.decodeBytes(bytes, encoding),
        binding.decodeBytesAsync && (() => binding.decodeBytesAsync?.(bytes, encoding, signal)),
      );
      return decodeDecodedText(new Unpacker(packed));
    },
    isOutlined: (name) => asEngineCall(() => binding.isOutlined(name)),
    async outline(text, name, { signal } = {}) {
      const packed = await onThread(
        { size: text.length, signal },
        () => binding.outline(text, name),
        binding.outlineAsync && (() => binding.outlineAsync?.(text, name, signal)),
      );
      return decodeOutline(new Unpacker(packed));
    },
    async encodeText(text, encoding = "utf-8", { bom = false, signal } = {}) {
      assertWellFormed(text, encoding);
      return await onThread(
        { size: text.length, signal },
        () => binding.encodeText(text, encoding, bom),
        binding.encodeTextAsync && (() => binding.encodeTextAsync?.(text, encoding, bom, signal)),
      );
    },
  });
}

function assertWellFormed(text: string, encoding: string): void {
  if (text.isWellFormed()) return;
  throw new FilewrightError("ENCODING_ERROR", "the text contains an unpaired surrogate", {
    details: { encoding },
  });
}
