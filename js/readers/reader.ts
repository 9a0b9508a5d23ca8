/**
 * What a reader is: one kind of file that is not plain text, rendered for a
 * model as text, and as images where it has some.
 *
 * A reader sees bytes and limits. It opens nothing, knows no tool, and words its
 * refusals without the path: the workspace puts that in. Text files never come
 * here, unless a part of one is asked for (`json_pointer`).
 */
import type { MaybePromise } from "../backends/backend.ts";

/** Bytes that are read when they are wanted. */
export interface ByteSource {
  /** Bytes; known before anything is read. */
  readonly size: number;
  /**
   * Bytes from `start` to before `end`, by default all of them; fewer only where
   * the file ends. The array may be shared: do not change it.
   */
  read(start?: number, end?: number): MaybePromise<Uint8Array>;
}

/** How much a reader may take in. Bytes. The limits of a workspace are such limits. */
export interface ReaderLimits {
  /** The largest image that is handed to a model. */
  readonly imageBytes: number;
  /** The most base64 characters of one image in an answer. Default 5 MiB. */
  readonly imageBase64Bytes?: number;
  /** The longest side of an image in an answer, in pixels. Default 8,000. */
  readonly imagePixels?: number;
  /** The largest file that is taken into memory as a whole. */
  readonly wholeFileBytes: number;
  /** The largest SVG that is shown as text. */
  readonly svgBytes: number;
  /** UTF-8 bytes of one result's text. */
  readonly outputBytes: number;
}

/** What becomes of files that are not text. */
export type NonText = "block" | "media" | "error";

/** The arguments of a read that concern readers. */
export interface ReaderOptions {
  /** Which pages, sheets or slides: `3`, `1-5`, `-1` (the last), `2-`, lists of these. */
  readonly pages?: string | undefined;
  /** Which value of structured data, as RFC 6901 writes it. */
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
  /** As results show it: relative to the workspace where it is inside. */
  readonly path: string;
  /** From content first, the name second; without parameters. */
  readonly mime: string;
  /** The encoding's name, where the kind is text. Default `utf-8`. */
  readonly encoding?: string | undefined;
  readonly limits: ReaderLimits;
  readonly options: ReaderOptions;
  readonly signal?: AbortSignal | undefined;
}

/** An image beside the text, with the keys that vision models take. */
export interface ImageBlock {
  /** The kind of block. */
  readonly type: "image";
  /** The image itself. */
  readonly source: {
    /** How `data` is written. */
    readonly type: "base64";
    /** The media type, such as `image/png`. */
    readonly media_type: string;
    /** The image in base64. */
    readonly data: string;
  };
  /** The path of its file. */
  readonly file_path: string;
  /** Bytes of the file, or of the picture inside it. */
  readonly size_bytes: number;
}

/** A file as it is beside the text, for models that read its kind themselves. */
export interface DocumentBlock {
  /** The kind of block. */
  readonly type: "document";
  /** The file itself. */
  readonly source: {
    /** How `data` is written. */
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

/** What an answer holds beside its text. */
export type ContentBlock = ImageBlock | DocumentBlock;

/** A file made readable. */
export interface Rendered {
  /** For the model; LF ends a line. May be long: whoever shows it pages it by line. */
  readonly text: string;
  /** The line of the file with which `text` begins, where it is a verbatim part of the file; 1-based. */
  readonly firstLine?: number | undefined;
  readonly content?: readonly ContentBlock[] | undefined;
  /** Facts, with `snake_case` keys. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  /** What the reader of the result should know, in one sentence. */
  readonly warning?: string | undefined;
}

/** Renders files of some kinds. */
export interface Reader {
  /** MIME types: exact, or all of a family as in `audio/*`. */
  readonly mimes: readonly string[];
  /**
   * Whether the same bytes with the same options always give the same rendering: what it made
   * of a whole file is then kept, and given again while the file has the same content. Default
   * false.
   */
  readonly reusable?: boolean;
  /** @throws FilewrightError UNSUPPORTED_FORMAT, TOO_LARGE, INVALID_ARGUMENT, CANCELLED */
  read(input: ReaderInput): MaybePromise<Rendered>;
}
