/** How much a call may read, hold and say. Bytes and milliseconds. */
import { integer, type Options, options } from "../schema/option.ts";

/** The limits of a workspace. */
export interface Limits {
  /** UTF-8 bytes of one result's text. */
  readonly outputBytes: number;
  /** The largest image that is handed to a model. */
  readonly imageBytes: number;
  /** The largest file that is read whole (`max_lines: null`) or compared. A page has no limit. */
  readonly wholeFileBytes: number;
  /** The largest SVG that is shown as text. */
  readonly svgBytes: number;
  /** Larger files are passed over by grep, and refused by edit. */
  readonly grepFileBytes: number;
  /** How long to wait for a writer elsewhere. */
  readonly lockTimeoutMs: number;
  /** How long a hook may take before it blocks the call. */
  readonly hookTimeoutMs: number;
}

/** The options `limits`. */
export const LIMIT_OPTIONS: Options<Partial<Limits>> = options("Limits", {
  outputBytes: integer(1),
  imageBytes: integer(1),
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
  imageBytes: 20 * MIB,
  wholeFileBytes: 20 * MIB,
  svgBytes: MIB,
  grepFileBytes: 100 * MIB,
  lockTimeoutMs: 5000,
  hookTimeoutMs: 60_000,
});
