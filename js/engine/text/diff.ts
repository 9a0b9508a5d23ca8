/**
 * Line diffs: the unified text, and its hunks as data.
 *
 * The engine works on bytes. Text is accepted, too, and is encoded first; two `Uint8Array`s are passed
 * without a copy.
 */
import { checkAborted, FilewrightError, fromEngine, type Signalled } from "../errors.ts";
import { untilAborted, asEngineCall } from "../threads.ts";
import {
  type Algorithm,
  ALGORITHM_WORDS,
  decodeUnified,
  DIFF_FLAGS,
  type Unified,
} from "../generated/records.ts";
import { Unpacker } from "../wire/unpack.ts";
import type { TextExports } from "../generated/exports.ts";
import { withUtf8 } from "../wire/bytes.ts";

/** How a diff is computed and printed. */
export interface DiffOptions {
  /**
   * `histogram` (default): readable, as `git diff --diff-algorithm=histogram`.
   * `myers`: git's default. `minimal`: the fewest changed lines.
   */
  readonly algorithm?: Algorithm | undefined;
  /** Treat lines as equal that differ only in white space, CR included. Default false. */
  readonly ignoreWhitespace?: boolean | undefined;
  /** Unchanged lines around each change. Default 3. */
  readonly context?: number | undefined;
  /** The name after `--- a/`; null for a file that does not exist (`/dev/null`). Default `file`. */
  readonly oldName?: string | null | undefined;
  /** The name after `+++ b/`; null for a file that does not exist. Default: the old name. */
  readonly newName?: string | null | undefined;
  /**
   * `shown` (default): CRLF is printed as LF where both sides have the same kind of line ending.
   * `raw`: line endings are unchanged, so that the patch is exact.
   */
  readonly lineEnds?: "shown" | "raw" | undefined;
  /**
   * Truncates lines to `line` code points, and the text to `bytes` bytes, for display: a truncated diff
   * cannot be applied. Default: no limits.
   */
  readonly limits?: { readonly line?: number; readonly bytes?: number } | undefined;
}

export type { Algorithm as DiffAlgorithm } from "../generated/records.ts";

/** One hunk. Lines count from 1. A side without lines has the number of the line before it. */
export interface DiffHunk {
  /** The first line of the hunk in the old text, from 1. */
  readonly oldStart: number;
  /** The number of lines of the hunk in the old text. */
  readonly oldLines: number;
  /** The first line of the hunk in the new text, from 1. */
  readonly newStart: number;
  /** The number of lines of the hunk in the new text. */
  readonly newLines: number;
  /** The hunk's lines with their markers (` `, `-`, `+`, `\`), without line endings. */
  readonly lines: readonly string[];
}

/** Lines that others replace, with no unchanged line among them; counted as those of a {@link DiffHunk}. */
export type ReplacedRange = Omit<DiffHunk, "lines">;

/** The differences between two texts. */
export interface DiffResult {
  /** True when nothing differs. */
  readonly identical: boolean;
  /** The unified diff; empty when nothing differs. */
  readonly text: string;
  readonly hunks: readonly DiffHunk[];
  /** The number of lines that only the new text has. */
  readonly added: number;
  /** The number of lines that only the old text has. */
  readonly removed: number;
  /** True when `limits` truncated `text`. */
  readonly truncated: boolean;
}

/** A part of a text with its kind of change. */
export interface DiffPart {
  readonly fate: "same" | "removed" | "added";
  /** The number of words or characters in it. */
  readonly tokens: number;
  readonly text: string;
}

/** Text, or the bytes of text in UTF-8. */
export type TextOrBytes = string | Uint8Array;

/** The functions of the engine for comparing texts. */
export interface DiffEngine {
  /** Compares two texts, line by line. */
  diff(before: TextOrBytes, after: TextOrBytes, options?: DiffOptions): DiffResult;
  /**
   * Like {@link DiffEngine.diff}, but on another thread where threads exist, so that large inputs do not
   * block the caller.
   */
  diffAsync(before: Uint8Array, after: Uint8Array, options?: DiffOptions & Signalled): Promise<DiffResult>;
  /** Compares two texts word by word or character by character, for display. */
  diffParts(before: string, after: string, unit?: "words" | "chars"): readonly DiffPart[];
}

const FATE_BY_NUMBER: readonly DiffPart["fate"][] = ["same", "removed", "added"];
const MAX_UINT32 = 0xffff_ffff;

/** Returns the functions of the engine for comparing texts, which call the given binding. */
export function makeDiffEngine(binding: TextExports): DiffEngine {
  const totals = new Uint32Array(3);
  const compare = (before: Uint8Array, after: Uint8Array, options: DiffOptions): DiffResult => {
    const { flags, context, oldName, newName, line, bytes } = toDiffArguments(options);
    const text = binding.diff(before, after, totals, flags, context, oldName, newName, line, bytes);
    const [truncated, added, removed] = totals as unknown as readonly [number, number, number];
    return new UnifiedDiff({ text, truncated: truncated === 1, added, removed });
  };
  return {
    diff(before, after, options = NO_DIFF_OPTIONS) {
      return asEngineCall(() => {
        if (typeof before !== "string" && typeof after !== "string") return compare(before, after, options);
        return withUtf8(before, after, (old, now) => compare(old, now, options));
      });
    },
    diffParts(before, after, unit = "words") {
      const from = new Unpacker(binding.diffParts(before, after, unit === "chars"));
      let [old, made] = [0, 0];
      return Array.from({ length: from.num() }, () => {
        const [fate, tokens, length] = [
          FATE_BY_NUMBER[from.num()] as DiffPart["fate"],
          from.num(),
          from.num(),
        ];
        const text = fate === "removed" ? before.slice(old, old + length) : after.slice(made, made + length);
        if (fate !== "added") old += length;
        if (fate !== "removed") made += length;
        return { fate, tokens, text };
      });
    },
    async diffAsync(before, after, options = {}) {
      checkAborted(options.signal);
      try {
        if (binding.diffAsync === undefined) return compare(before, after, options);
        const { flags, context, oldName, newName, line, bytes } = toDiffArguments(options);
        const made = binding.diffAsync(
          before,
          after,
          flags,
          context,
          oldName,
          newName,
          line,
          bytes,
          options.signal,
        );
        return new UnifiedDiff(decodeUnified(new Unpacker(await untilAborted(options.signal, made))));
      } catch (error) {
        throw fromEngine(error);
      }
    },
  };
}

const NO_DIFF_OPTIONS: DiffOptions = Object.freeze({});

interface DiffArguments {
  readonly flags: number;
  readonly context: number;
  /** Undefined for the default, `file`. */
  readonly oldName: string | undefined;
  /** Undefined for the default, the old name. */
  readonly newName: string | undefined;
  readonly line: number;
  readonly bytes: number;
}

/** The arguments of a call without options. */
const DEFAULT_DIFF_ARGUMENTS: DiffArguments = Object.freeze({
  flags: 0,
  context: 3,
  oldName: undefined,
  newName: undefined,
  line: 0,
  bytes: 0,
});

function toDiffArguments(options: DiffOptions): DiffArguments {
  if (options === NO_DIFF_OPTIONS) return DEFAULT_DIFF_ARGUMENTS;
  const algorithm = ALGORITHM_WORDS.indexOf(options.algorithm ?? "histogram");
  if (algorithm < 0) {
    throw new FilewrightError("INVALID_ARGUMENT", `unknown diff algorithm "${options.algorithm}"`, {
      hint: "use histogram, myers or minimal",
      details: { argument: "algorithm" },
    });
  }
  const { oldName, newName = oldName ?? "file" } = options;
  return {
    flags:
      algorithm |
      (options.ignoreWhitespace ? DIFF_FLAGS.ignoreWhitespace : 0) |
      (options.lineEnds === "raw" ? DIFF_FLAGS.raw : 0) |
      (oldName === null ? DIFF_FLAGS.noOld : 0) |
      (newName === null ? DIFF_FLAGS.noNew : 0),
    context: checkCount("context", options.context ?? 3),
    oldName: oldName ?? undefined,
    newName: newName === oldName ? undefined : (newName ?? undefined),
    line: checkCount("limits.line", options.limits?.line ?? 0),
    bytes: checkCount("limits.bytes", options.limits?.bytes ?? 0),
  };
}

function checkCount(argument: string, value: number): number {
  if (value === Number.POSITIVE_INFINITY) return MAX_UINT32;
  if (Number.isInteger(value) && value >= 0) return Math.min(value, MAX_UINT32);
  throw new FilewrightError("INVALID_ARGUMENT", `${argument} must be a whole number of at least 0`, {
    details: { argument },
  });
}

/** A diff that the engine printed. A class, because an object literal with a getter for each diff would cost a tenth of a small diff. */
export class UnifiedDiff implements DiffResult {
  readonly identical: boolean;
  readonly text: string;
  readonly added: number;
  readonly removed: number;
  readonly truncated: boolean;
  #hunks: readonly DiffHunk[] | undefined;

  constructor({ text, truncated, added, removed }: Unified) {
    this.identical = text === "";
    this.text = text;
    this.added = added;
    this.removed = removed;
    this.truncated = truncated;
  }

  /** Parses the hunks on first access, because most callers only print the text. */
  get hunks(): readonly DiffHunk[] {
    this.#hunks ??= parseHunks(this.text);
    return this.#hunks;
  }

  toJSON(): DiffResult {
    const { identical, text, hunks, added, removed, truncated } = this;
    return { identical, text, hunks, added, removed, truncated };
  }
}

/** Returns the replaced lines of the hunks of a whole diff: the hunks that it has without unchanged lines around them. */
export function replacedRanges(hunks: readonly DiffHunk[]): readonly ReplacedRange[] {
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => {
    // The lines before the hunk, in both texts.
    let [old, now] = [oldLines === 0 ? oldStart : oldStart - 1, newLines === 0 ? newStart : newStart - 1];
    const ranges: ReplacedRange[] = [];
    for (const [, same = "", removed = "", added = ""] of marksOf(lines).matchAll(/( *)(-*)(\+*)/gu)) {
      old += same.length;
      now += same.length;
      const [oldCount, newCount] = [removed.length, added.length];
      const [first, second] = [oldCount === 0 ? old : old + 1, newCount === 0 ? now : now + 1];
      if (oldCount + newCount > 0)
        ranges.push({ oldStart: first, oldLines: oldCount, newStart: second, newLines: newCount });
      old += oldCount;
      now += newCount;
    }
    return ranges;
  });
}

/** Returns the markers of the lines of a hunk, without those about a missing line end. */
function marksOf(lines: readonly string[]): string {
  return lines.map((line) => (line.startsWith("\\") ? "" : line.slice(0, 1))).join("");
}

const HUNK_HEADER = /(?<=\n)@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n/g;

/**
 * Parses the hunks of a diff that the engine printed. A hunk ends at a line that begins with `@`, or with `[`
 * as a truncation note does, because lines of a hunk begin with a marker.
 */
function parseHunks(text: string): readonly DiffHunk[] {
  const heads = [...text.matchAll(HUNK_HEADER)];
  return heads.map((head, index) => {
    const [whole, oldStart, oldLines = "1", newStart, newLines = "1"] = head;
    const lines = text.slice(head.index + whole.length, heads[index + 1]?.index).split("\n");
    lines.pop();
    if (lines.at(-1)?.startsWith("[")) lines.pop();
    return {
      oldStart: Number(oldStart),
      oldLines: Number(oldLines),
      newStart: Number(newStart),
      newLines: Number(newLines),
      lines,
    };
  });
}
