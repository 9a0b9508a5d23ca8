/**
 * The hunks between two contents of a file, and the content after some of them.
 *
 * Both functions work on the bytes of the file. Lines are taken as they are: encoding, byte order mark and
 * line endings are never converted.
 */
import { FilewrightError } from "../errors.ts";
import type { TextExports } from "../generated/exports.ts";
import { decodeHunkRange, type HunkRange } from "../generated/records.ts";
import { onThread, asEngineCall } from "../threads.ts";
import { Unpacker } from "../wire/unpack.ts";

export type { HunkRange, ReplacedLines } from "../generated/records.ts";

/** A hunk that is taken, or some of its changed lines. */
export interface HunkChoice {
  /** The number of the hunk, from 0. */
  readonly hunk: number;
  /**
   * The changed lines that are taken, as rows of the hunk from 0: a diff prints one row for each line, and the removed
   * lines before the added ones. A removed line that is not taken stays. Default: all of them.
   */
  readonly rows?: readonly number[] | undefined;
}

/** The functions of the engine for the hunks of a change. */
export interface HunkEngine {
  /**
   * Returns the hunks between two contents, the same ones as those of a diff. `encoding` is that of both contents;
   * default `utf-8`.
   */
  hunksBetween(before: Uint8Array, after: Uint8Array, encoding?: string): readonly HunkRange[];
  /**
   * Returns the content that `before` has after the chosen hunks. @throws FilewrightError INVALID_ARGUMENT for a hunk
   * or a row that is not there or is chosen twice, and for a row that is not a changed line
   */
  composeHunks(
    before: Uint8Array,
    after: Uint8Array,
    chosen: readonly HunkChoice[],
    encoding?: string,
  ): Uint8Array;
}

/** Functions for hunks whose large inputs are worked on by another thread, where there are threads. */
export interface HunkThreads {
  /** Does the same as {@link HunkEngine.composeHunks}. */
  composeHunks(
    before: Uint8Array,
    after: Uint8Array,
    chosen: readonly HunkChoice[],
    encoding?: string,
  ): Promise<Uint8Array>;
}

const MAX_UINT32 = 0xffff_ffff;

/** Returns the functions of the engine for the hunks of a change, which call the given binding. */
export function makeHunkEngine(binding: TextExports): HunkEngine {
  return {
    hunksBetween(before, after, encoding = "utf-8") {
      const from = new Unpacker(binding.hunksBetween(before, after, encoding));
      return from.list(() => decodeHunkRange(from));
    },
    composeHunks(before, after, chosen, encoding = "utf-8") {
      const numbers = numbersOfChoices(chosen);
      return asEngineCall(() => binding.composeHunks(before, after, encoding, numbers));
    },
  };
}

/** Returns the functions for hunks that use the threads of the given binding. */
export function makeHunkThreads(binding: TextExports): HunkThreads {
  return {
    async composeHunks(before, after, chosen, encoding = "utf-8") {
      const numbers = numbersOfChoices(chosen);
      return await onThread(
        { size: before.length + after.length },
        () => binding.composeHunks(before, after, encoding, numbers),
        binding.composeHunksAsync && (() => binding.composeHunksAsync?.(before, after, encoding, numbers)),
      );
    },
  };
}

/** Returns choices as the engine takes them. @throws INVALID_ARGUMENT */
function numbersOfChoices(chosen: readonly HunkChoice[]): number[] {
  const numbers = [...chosen]
    .sort((a, b) => a.hunk - b.hunk)
    .flatMap(({ hunk, rows }) => {
      // The engine takes no rows for all of them.
      if (rows?.length === 0) throw invalidChoiceError(`no row of hunk ${hunk} is chosen`);
      return [hunk, rows?.length ?? 0, ...[...(rows ?? [])].sort((a, b) => a - b)];
    });
  if (!numbers.every((number) => Number.isInteger(number) && number >= 0 && number <= MAX_UINT32))
    throw invalidChoiceError("the numbers of hunks and rows must be whole numbers of at least 0");
  return numbers;
}

function invalidChoiceError(message: string): FilewrightError {
  return new FilewrightError("INVALID_ARGUMENT", message, { details: { argument: "chosen" } });
}
