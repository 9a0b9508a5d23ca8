/**
 * Line diffs: the unified text, and its hunks as data.
 *
 * The engine works on bytes. Text is accepted as well and costs one conversion;
 * where both sides are `Uint8Array`s nothing is copied.
 */
import { FilewrightError, fromEngine } from "./errors.ts";
import { type Packed, type Unpacker, unpack } from "./unpack.ts";
import { withUtf8 } from "./utf8.ts";

/** How a diff is made and printed. */
export interface DiffOptions {
  /**
   * `histogram` (default): readable, as `git diff --diff-algorithm=histogram`.
   * `myers`: git's default. `minimal`: the fewest changed lines.
   */
  readonly algorithm?: DiffAlgorithm | undefined;
  /** Treat lines as equal that differ only in white space, CR included. Default false. */
  readonly ignoreWhitespace?: boolean | undefined;
  /** Unchanged lines around each change. Default 3. */
  readonly context?: number | undefined;
  /** The name after `--- a/`; null for a file that does not exist (`/dev/null`). Default `file`. */
  readonly oldName?: string | null | undefined;
  /** The name after `+++ b/`; null for a file that does not exist. Default: the old name. */
  readonly newName?: string | null | undefined;
  /**
   * `shown` (default): CRLF is printed as LF where both sides have the same kind
   * of line ends. `raw`: as they are, so that the patch is exact.
   */
  readonly lineEnds?: "shown" | "raw" | undefined;
  /** Cuts for display, in code points of a line and bytes of the text. Default: none. */
  readonly limits?: { readonly line?: number; readonly bytes?: number } | undefined;
}

/** The ways to match lines up. */
export type DiffAlgorithm = "histogram" | "myers" | "minimal";

/** One hunk. Lines are 1-based; an empty side names the line before it. */
export interface DiffHunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  /** The hunk's lines with their markers (` `, `-`, `+`, `\`), without line ends. */
  readonly lines: readonly string[];
}

/** What differs between two texts. */
export interface DiffResult {
  /** Whether nothing differs. */
  readonly identical: boolean;
  /** The unified diff; empty where nothing differs. */
  readonly text: string;
  readonly hunks: readonly DiffHunk[];
  /** Lines that only the new text has. */
  readonly added: number;
  /** Lines that only the old text has. */
  readonly removed: number;
  /** Whether `limits` cut something from `text`. */
  readonly truncated: boolean;
}

type DiffArguments = [
  flags: number,
  context: number,
  oldName: string | null,
  newName: string | null,
  lineLimit: number,
  byteLimit: number,
];

/** A stretch of text, and what became of it. */
export interface DiffPart {
  readonly fate: "same" | "removed" | "added";
  /** Words or characters in it. */
  readonly tokens: number;
  readonly text: string;
}

/** What both bindings export for this area. */
export interface DiffBinding {
  diffParts(before: string, after: string, chars: boolean): Packed;
  diff(before: Uint8Array, after: Uint8Array, ...rest: DiffArguments): Packed;
  /** Off the event loop; only where there are threads. */
  diffAsync?(before: Uint8Array, after: Uint8Array, ...rest: DiffArguments): Promise<Packed>;
}

/** Text, or the bytes of text in UTF-8. */
export type TextOrBytes = string | Uint8Array;

/** The functions of this area. */
export interface DiffEngine {
  /** Compares two texts, line by line. */
  diff(before: TextOrBytes, after: TextOrBytes, options?: DiffOptions): DiffResult;
  /** The same off the event loop where there are threads: for large inputs. */
  diffAsync(before: Uint8Array, after: Uint8Array, options?: DiffOptions): Promise<DiffResult>;
  /** Compares two texts within their lines, word by word or character by character: for display. */
  diffParts(before: string, after: string, unit?: "words" | "chars"): readonly DiffPart[];
}

const ALGORITHMS: Readonly<Record<string, number>> = { histogram: 0, myers: 1, minimal: 2 };
const FATES: readonly DiffPart["fate"][] = ["same", "removed", "added"];
const WHITESPACE = 4;
const RAW = 8;
const MAX = 0xffff_ffff;

/** Wraps a binding. */
export function diffEngine(binding: DiffBinding): DiffEngine {
  return {
    diff(before, after, options = {}) {
      const rest = toArguments(options);
      try {
        return toResult(withUtf8(before, after, (old, now) => binding.diff(old, now, ...rest)));
      } catch (error) {
        throw fromEngine(error);
      }
    },
    diffParts(before, after, unit = "words") {
      const from = unpack(binding.diffParts(before, after, unit === "chars"));
      let [old, made] = [0, 0];
      return Array.from({ length: from.num() }, () => {
        const [fate, tokens, length] = [FATES[from.num()] as DiffPart["fate"], from.num(), from.num()];
        const text = fate === "removed" ? before.slice(old, old + length) : after.slice(made, made + length);
        if (fate !== "added") old += length;
        if (fate !== "removed") made += length;
        return { fate, tokens, text };
      });
    },
    async diffAsync(before, after, options = {}) {
      const rest = toArguments(options);
      try {
        const packed = binding.diffAsync
          ? await binding.diffAsync(before, after, ...rest)
          : binding.diff(before, after, ...rest);
        return toResult(packed);
      } catch (error) {
        throw fromEngine(error);
      }
    },
  };
}

function toArguments(options: DiffOptions): DiffArguments {
  const algorithm = ALGORITHMS[options.algorithm ?? "histogram"];
  if (algorithm === undefined) {
    throw new FilewrightError("INVALID_ARGUMENT", `unknown diff algorithm "${options.algorithm}"`, {
      hint: "use histogram, myers or minimal",
      details: { argument: "algorithm" },
    });
  }
  const oldName = options.oldName === undefined ? "file" : options.oldName;
  const newName = options.newName === undefined ? (oldName ?? "file") : options.newName;
  return [
    algorithm | (options.ignoreWhitespace ? WHITESPACE : 0) | (options.lineEnds === "raw" ? RAW : 0),
    count("context", options.context ?? 3),
    oldName,
    newName,
    count("limits.line", options.limits?.line ?? 0),
    count("limits.bytes", options.limits?.bytes ?? 0),
  ];
}

function count(argument: string, value: number): number {
  if (value === Number.POSITIVE_INFINITY) return MAX;
  if (Number.isInteger(value) && value >= 0) return Math.min(value, MAX);
  throw new FilewrightError("INVALID_ARGUMENT", `${argument} must be a whole number of at least 0`, {
    details: { argument },
  });
}

/** Reads what `append` of `crates/core/src/diff/pack.rs` wrote. */
function toResult(packed: Packed): DiffResult {
  return readDiff(unpack(packed));
}

/** Reads a diff out of a packed result that holds more. */
export function readDiff(from: Unpacker): DiffResult {
  const identical = from.flag();
  const truncated = from.flag();
  const added = from.num();
  const removed = from.num();
  const numbers: number[] = [];
  for (let left = from.num() * HUNK_NUMBERS; left > 0; left--) numbers.push(from.num());
  const text = from.str();
  // Most callers only print: the hunks are cut out when they are first asked for.
  let hunks: readonly DiffHunk[] | undefined;
  return {
    identical,
    text,
    get hunks() {
      hunks ??= cut(text, numbers);
      return hunks;
    },
    added,
    removed,
    truncated,
  };
}

/** Numbers of one hunk: its two ranges of lines, and where its lines stand in the text. */
const HUNK_NUMBERS = 6;

function cut(text: string, numbers: readonly number[]): readonly DiffHunk[] {
  const hunks: DiffHunk[] = [];
  for (let at = 0; at < numbers.length; at += HUNK_NUMBERS) {
    const [oldStart, oldLines, newStart, newLines, start, end] = numbers.slice(at, at + HUNK_NUMBERS) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    hunks.push({ oldStart, oldLines, newStart, newLines, lines: text.slice(start, end - 1).split("\n") });
  }
  return hunks;
}
