/**
 * The interface of a reader: it converts one kind of file that is not plain text to text and images for a
 * model.
 *
 * A reader gets bytes and limits. It opens no file and does not depend on tools. Its errors do not contain
 * the path, which the workspace adds. Text files are not passed to readers, except to read a single value of
 * one (`json_pointer`).
 */
import type { MaybePromise } from "../backends/backend.ts";

/** The bytes of a file, which are read on demand. */
export interface ByteSource {
  /** The size in bytes, which is known before anything is read. */
  readonly size: number;
  /**
   * Returns the bytes from `start` up to, but not including, `end`; by default all. Fewer are returned only
   * at the end of the file. The array may be shared with others, so it must not be changed.
   */
  read(start?: number, end?: number): MaybePromise<Uint8Array>;
}

/** The limits of a reader, in bytes unless stated otherwise. The limits of a workspace have the same form. */
export interface ReaderLimits {
  /** The maximum size of an image that is sent to a model. */
  readonly imageBytes: number;
  /**
   * The maximum number of base64 characters of one image in an answer. A larger image is scaled down or
   * refused. Default 5 MiB.
   */
  readonly imageBase64Bytes?: number;
  /**
   * The maximum width and height of an image in an answer, in pixels. A larger image is scaled down or
   * refused. Default 8,000.
   */
  readonly imagePixels?: number;
  /** The maximum size of a file that is read into memory as a whole. A larger one is refused with TOO_LARGE. */
  readonly wholeFileBytes: number;
  /** The maximum size of the text of one result, in UTF-8 bytes. */
  readonly outputBytes: number;
}

/** The form of the answer for files that are not text. */
export type NonText = "block" | "media" | "error";

/** The arguments of a read that readers use. */
export interface ReaderOptions {
  /**
   * The pages, sheets or slides to read: `3`, `1-5`, `-1` (the last), `2-`, or several of these separated by
   * commas. They count from 1.
   */
  readonly pages?: string | undefined;
  /** The value of a structured file to read, as a JSON Pointer (RFC 6901). */
  readonly jsonPointer?: string | undefined;
  /**
   * The form of the answer for a file that is not text. `block` (default): images as blocks, documents as text.
   * `media`: as `block`, but PDF files as blocks, too, unless `pages` requests their text. `error`: only
   * text; everything else is refused.
   */
  readonly nonText?: NonText | undefined;
}

/** One file to render. */
export interface ReaderInput {
  readonly source: ByteSource;
  /** The path as results show it: relative to the workspace if it is inside. */
  readonly path: string;
  /**
   * The MIME type without parameters, detected from the content, or from the name if the content does not
   * tell.
   */
  readonly mime: string;
  /** The name of the encoding, for a kind of file that is text. Default `utf-8`. */
  readonly encoding?: string | undefined;
  readonly limits: ReaderLimits;
  readonly options: ReaderOptions;
  readonly signal?: AbortSignal | undefined;
}

/** An image that is returned in addition to the text, in the form that APIs of models use. */
export interface ImageBlock {
  /** The kind of block. */
  readonly type: "image";
  /** The image itself. */
  readonly source: {
    /** The encoding of `data`. */
    readonly type: "base64";
    /** The media type, such as `image/png`. */
    readonly media_type: string;
    /** The image in base64. */
    readonly data: string;
  };
  /** The path of its file. */
  readonly file_path: string;
  /** The size of the file, or of the picture inside it, in bytes. */
  readonly size_bytes: number;
}

/** An unchanged file that is returned in addition to the text, for models that can read its format themselves. */
export interface DocumentBlock {
  /** The kind of block. */
  readonly type: "document";
  /** The file itself. */
  readonly source: {
    /** The encoding of `data`. */
    readonly type: "base64";
    /** The media type: `application/pdf`. */
    readonly media_type: string;
    /** All bytes of the file in base64. */
    readonly data: string;
  };
  /** The path of the file. */
  readonly file_path: string;
  /** Bytes of the file. */
  readonly size_bytes: number;
}

/** The blocks of an answer in addition to its text. */
export type ContentBlock = ImageBlock | DocumentBlock;

/** The result of a reader. */
export interface Rendered {
  /** The text for the model, with LF as line ending. It may be long, because it is returned in pages of lines. */
  readonly text: string;
  /**
   * The line of the file, from 1, at which `text` begins; set only when `text` is an unchanged part of the
   * file.
   */
  readonly firstLine?: number | undefined;
  readonly content?: readonly ContentBlock[] | undefined;
  /** Facts about the file for programs, with `snake_case` keys. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  /** A note for the reader of the result, in one sentence. */
  readonly warning?: string | undefined;
}

/** Reads files of some kinds. */
export interface Reader {
  /** The MIME types that it reads: single ones, or all of a family, such as `audio/*`. */
  readonly mimes: readonly string[];
  /**
   * True if the same bytes with the same options always give the same result. The result for a whole file is
   * then cached, and reused while the content is the same. Default false.
   */
  readonly reusable?: boolean;
  /** @throws FilewrightError UNSUPPORTED_FORMAT, TOO_LARGE, INVALID_ARGUMENT, CANCELLED */
  read(input: ReaderInput): MaybePromise<Rendered>;
}
