/**
 * The interface of a reader: it renders one kind of file that is not plain text for a model, as
 * text and images.
 *
 * A reader gets bytes and limits. It opens nothing, is independent of tools, and words its errors
 * without the path, which the workspace adds. Text files do not come here, except for a part of
 * one (`json_pointer`).
 */
import type { MaybePromise } from "../backends/backend.ts";

/** Bytes that are read on demand. */
export interface ByteSource {
  /** The size in bytes; known before anything is read. */
  readonly size: number;
  /**
   * Returns the bytes from `start` to before `end`, by default all; fewer only at the end of the
   * file. The array may be shared: do not change it.
   */
  read(start?: number, end?: number): MaybePromise<Uint8Array>;
}

/** The limits of a reader. Bytes. The limits of a workspace have this form. */
export interface ReaderLimits {
  /** The largest image that is handed to a model. */
  readonly imageBytes: number;
  /** The maximum base64 characters of one image in an answer. Default 5 MiB. */
  readonly imageBase64Bytes?: number;
  /** The maximum side of an image in an answer, in pixels. Default 8,000. */
  readonly imagePixels?: number;
  /** The largest file that is read into memory as a whole. */
  readonly wholeFileBytes: number;
  /** The largest SVG that is shown as text. */
  readonly svgBytes: number;
  /** The maximum UTF-8 bytes of one result's text. */
  readonly outputBytes: number;
}

/** How files that are not text are read. */
export type NonText = "block" | "media" | "error";

/** The arguments of a read that concern readers. */
export interface ReaderOptions {
  /** The selected pages, sheets or slides: `3`, `1-5`, `-1` (the last), `2-`, lists of these. */
  readonly pages?: string | undefined;
  /** The selected value of structured data, in the form of RFC 6901. */
  readonly jsonPointer?: string | undefined;
  /**
   * `block` (default): images as blocks, documents as text. `media`: PDF files as blocks too,
   * unless `pages` asks for their text. `error`: text only, anything else is refused.
   */
  readonly nonText?: NonText | undefined;
}

/** One file to render. */
export interface ReaderInput {
  readonly source: ByteSource;
  /** The path in results: relative to the workspace when inside it. */
  readonly path: string;
  /** From content first, the name second; without parameters. */
  readonly mime: string;
  /** The encoding's name, where the kind is text. Default `utf-8`. */
  readonly encoding?: string | undefined;
  readonly limits: ReaderLimits;
  readonly options: ReaderOptions;
  readonly signal?: AbortSignal | undefined;
}

/** An image in addition to the text, with the keys of vision models. */
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

/** An unchanged file in addition to the text, for models that read its kind themselves. */
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

/** The rendering of a file. */
export interface Rendered {
  /** For the model; LF ends a line. May be long, because it is paged by line. */
  readonly text: string;
  /** The line of the file at which `text` begins, when it is a verbatim part of the file; 1-based. */
  readonly firstLine?: number | undefined;
  readonly content?: readonly ContentBlock[] | undefined;
  /** Facts, with `snake_case` keys. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  /** A note for the reader of the result, in one sentence. */
  readonly warning?: string | undefined;
}

/** Renders files of some kinds. */
export interface Reader {
  /** MIME types: exact, or all of a family as in `audio/*`. */
  readonly mimes: readonly string[];
  /**
   * True if the same bytes with the same options always give the same rendering. The rendering of a
   * whole file is then cached and reused while the file has the same content. Default false.
   */
  readonly reusable?: boolean;
  /** @throws FilewrightError UNSUPPORTED_FORMAT, TOO_LARGE, INVALID_ARGUMENT, CANCELLED */
  read(input: ReaderInput): MaybePromise<Rendered>;
}
