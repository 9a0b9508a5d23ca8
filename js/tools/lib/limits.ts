/** Limits of a call: bytes it may read, hold and return, and milliseconds. */
import { integer, type Options, options } from "../../schema/option.ts";

/** The limits of a workspace. */
export interface Limits {
  /** The maximum size of one result's text in UTF-8 bytes, even if a call asks for more. Default 1 MiB. */
  readonly outputBytes: number;
  /**
   * The maximum size of one result's text in UTF-8 bytes if the call sets none. A longer text is cut at
   * a line and says how to continue. Default 64 KiB; presets of older agents use `outputBytes`.
   */
  readonly pageBytes: number;
  /**
   * The largest image that is sent to a model. If the host sets it, the next two apply only if they are
   * set, too. Default 20 MiB.
   */
  readonly imageBytes: number;
  /**
   * The maximum number of base64 characters of one image in an answer: a larger one is scaled down, or
   * refused. Default 5 MiB.
   */
  readonly imageBase64Bytes: number;
  /** The longest side of an image in an answer, in pixels: a larger one is scaled down, or refused. Default 8,000. */
  readonly imagePixels: number;
  /** The largest file that is read whole (`max_lines: null`) or compared. A page has no limit. */
  readonly wholeFileBytes: number;
  /** The largest SVG that is shown as text. */
  readonly svgBytes: number;
  /** Larger files are skipped by grep and refused by edits. */
  readonly grepFileBytes: number;
  /** How long to wait for another writer of the same file, in milliseconds. Default 5,000. */
  readonly lockTimeoutMs: number;
  /** How long a hook may take, in milliseconds; then the call is blocked. Default 60,000. */
  readonly hookTimeoutMs: number;
}

/** The options `limits`. */
export const LIMIT_OPTIONS: Options<Partial<Limits>> = options("Limits", {
  outputBytes: integer(1),
  pageBytes: integer(1),
  imageBytes: integer(1),
  imageBase64Bytes: integer(1),
  imagePixels: integer(1),
  wholeFileBytes: integer(1),
  svgBytes: integer(1),
  grepFileBytes: integer(1),
  lockTimeoutMs: integer(1),
  hookTimeoutMs: integer(1),
});

const MIB = 1024 * 1024;

/** The limits where the host sets none. */
export const DEFAULT_LIMITS: Limits = Object.freeze({
  outputBytes: MIB,
  pageBytes: 64 * 1024,
  imageBytes: 20 * MIB,
  imageBase64Bytes: 5 * MIB,
  imagePixels: 8000,
  wholeFileBytes: 20 * MIB,
  svgBytes: MIB,
  grepFileBytes: 100 * MIB,
  lockTimeoutMs: 5000,
  hookTimeoutMs: 60_000,
});

/** For presets of agents that accept answers up to `outputBytes` and have no pages. */
export const WITHOUT_PAGES: Pick<Limits, "pageBytes"> = Object.freeze({ pageBytes: Number.MAX_SAFE_INTEGER });

/** Returns the maximum UTF-8 bytes of an answer's text when the call names no size. */
export function answerBytes({ outputBytes, pageBytes }: Pick<Limits, "outputBytes" | "pageBytes">): number {
  return Math.min(outputBytes, pageBytes);
}
