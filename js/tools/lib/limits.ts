/** The limits of calls: how many bytes a call may read, keep and return, and how long it may wait. */
import { callback, integer, type Options, options } from "../../schema/option.ts";
import type { CountTokens } from "./tokens.ts";

/** The limits of a workspace. */
export interface Limits {
  /** The maximum size of the text of one result in UTF-8 bytes, even if a call asks for more. Default 1 MiB. */
  readonly outputBytes: number;
  /**
   * The maximum size of the text of one result in UTF-8 bytes, if the call sets none. A longer text is cut
   * after a line and says how to continue. Default 64 KiB; presets of older agents use `outputBytes` instead.
   */
  readonly pageBytes: number;
  /**
   * The maximum size in bytes of an image that is sent to a model. If the host sets it, the next two limits
   * apply only if they are set, too. Default 20 MiB.
   */
  readonly imageBytes: number;
  /**
   * The maximum number of base64 characters of one image in an answer. A larger image is scaled down, or
   * refused. Default 5 MiB.
   */
  readonly imageBase64Bytes: number;
  /**
   * The maximum width and height of an image in an answer, in pixels. A larger image is scaled down, or
   * refused. Default 8,000.
   */
  readonly imagePixels: number;
  /**
   * The maximum size in bytes of a file that is read as a whole (`max_lines: null`) or compared. A larger
   * file is refused with TOO_LARGE; pages can be read of a file of any size. Default 20 MiB.
   */
  readonly wholeFileBytes: number;
  /**
   * The maximum size in bytes of a file that is searched by grep or edited. Grep skips a larger file and
   * counts it; edits refuse it. Default 100 MiB.
   */
  readonly grepFileBytes: number;
  /**
   * The time in milliseconds for which a call waits for another writer of the same file. Then it fails.
   * Default 5,000.
   */
  readonly lockTimeoutMs: number;
  /** The time in milliseconds that a hook may take. Then the call is blocked. Default 60,000. */
  readonly hookTimeoutMs: number;
}

/** The limits of a workspace or an agent as its options have them. */
export interface WorkspaceLimits extends Limits {
  /**
   * Returns the number of tokens of a text, an integer of at least 0, by the tokenizer of the model: `max_tokens` counts by
   * it. Default: an estimate, about one token for 3 bytes of code, which is seldom too low.
   */
  readonly tokens: CountTokens;
}

/** Returns limits without the tokenizer, which is none. */
export function withoutTokenizer({ tokens: _, ...limits }: Partial<WorkspaceLimits> = {}): Partial<Limits> {
  return limits;
}

/** The type of the option `limits`. */
export const LIMIT_OPTIONS: Options<Partial<WorkspaceLimits>> = options("WorkspaceLimits", {
  outputBytes: integer(1),
  pageBytes: integer(1),
  imageBytes: integer(1),
  imageBase64Bytes: integer(1),
  imagePixels: integer(1),
  wholeFileBytes: integer(1),
  grepFileBytes: integer(1),
  lockTimeoutMs: integer(1),
  hookTimeoutMs: integer(1),
  tokens: callback(),
});

/** A mebibyte, in bytes. */
export const BYTES_PER_MIB: number = 1024 * 1024;

/** The limits that apply where the host sets none. */
export const DEFAULT_LIMITS: Limits = Object.freeze({
  outputBytes: BYTES_PER_MIB,
  pageBytes: 64 * 1024,
  imageBytes: 20 * BYTES_PER_MIB,
  imageBase64Bytes: 5 * BYTES_PER_MIB,
  imagePixels: 8000,
  wholeFileBytes: 20 * BYTES_PER_MIB,
  grepFileBytes: 100 * BYTES_PER_MIB,
  lockTimeoutMs: 5000,
  hookTimeoutMs: 60_000,
});

/** The limits of presets for agents that have no pages, and accept answers of up to `outputBytes`. */
export const LIMITS_WITHOUT_PAGES: Pick<Limits, "pageBytes"> = Object.freeze({
  pageBytes: Number.MAX_SAFE_INTEGER,
});
