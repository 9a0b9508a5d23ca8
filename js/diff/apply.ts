/** Applies patches to texts in memory. The caller can supply the function that compares lines. */
import { textEngine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import { toUtf8 } from "../engine/wire/bytes.ts";
import { parsePatch } from "./parse.ts";
import {
  formatPatch,
  isList,
  OMIT_HEADERS,
  type StructuredPatch,
  type StructuredPatchHunk,
} from "./patch.ts";

/** How a patch is applied. */
export interface ApplyPatchOptions {
  /** The number of context lines that may differ, 0 to 3. Default 0: all context lines must match. */
  readonly fuzzFactor?: number | undefined;
  /**
   * With true (default), a line of the patch also matches a line that differs only in its line ending, and a
   * new line gets the line ending of its neighbours. With false, CR is an ordinary character.
   */
  readonly autoConvertLineEndings?: boolean | undefined;
  /** Returns true when a line of the text matches a line of the patch. Default: `===`. */
  readonly compareLine?: CompareLine | undefined;
}

/** How the texts of several files are loaded and stored. */
export interface ApplyPatchesOptions extends ApplyPatchOptions {
  loadFile(index: StructuredPatch, callback: (error: unknown, text: string) => void): void;
  patched(index: StructuredPatch, text: string | false, callback: (error?: unknown) => void): void;
  complete(error?: unknown): void;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Returns the patched text; false when the patch does not match. @throws Error for a patch of several files */
export function applyPatch(
  source: string,
  patch: string | StructuredPatch | readonly StructuredPatch[],
  options: ApplyPatchOptions = {},
): string | false {
  const { fuzzFactor = 0, autoConvertLineEndings = true, compareLine } = options;
  if (!Number.isInteger(fuzzFactor) || fuzzFactor < 0) {
    throw new Error("fuzzFactor must be a non-negative integer");
  }
  const patches = typeof patch === "string" ? parsePatch(patch) : isList(patch) ? patch : [patch];
  if (patches.length > 1) throw new Error("applyPatch only works with a single input.");
  const hunks = patches[0]?.hunks ?? [];
  if (!hunks.some(({ lines }) => lines.some((line) => /^[+-]/u.test(line)))) return source;
  // The engine accepts a last line with another line ending. As in jsdiff, this is only accepted here with
  // fuzz.
  if (fuzzFactor === 0 && source.endsWith("\n") && lacksLineEnding(hunks.at(-1)?.lines ?? [], "-"))
    return false;
  const found = compareLine === undefined ? hunks : withLinesOfText(source, hunks, compareLine);
  if (found === undefined) return false;
  // The engine treats a CR before the line feed as part of the line ending. Where it is text, it is replaced
  // by an unused character while the patch is applied.
  const held = unusedCharacter(source, found);
  const hold = autoConvertLineEndings ? withFinalCrReplaced : (line: string) => line.replaceAll("\r", held);
  const kept = found.map((hunk) => ({
    ...hunk,
    lines: hunk.lines.map((line, at) => hold(line, hunk.lines[at + 1] ?? "", held)),
  }));
  const text = formatPatch({ hunks: kept, oldFileName: undefined, newFileName: undefined }, OMIT_HEADERS);
  const made = applyByEngine(
    autoConvertLineEndings ? source : source.replaceAll("\r", held),
    text,
    fuzzFactor,
  );
  return made === false ? false : made.replaceAll(held, "\r");
}

/** Returns true when a note after a line with this mark says that it has no line ending. */
function lacksLineEnding(lines: readonly string[], mark: string): boolean {
  return lines.some((line, at) => line.startsWith(mark) && lines[at + 1]?.startsWith("\\") === true);
}

/**
 * Returns the line with its final CR replaced by `held` when that CR is text: when the line has no line
 * ending, in a patch whose own lines end with LF.
 */
function withFinalCrReplaced(line: string, next: string, held: string): string {
  const isText = line.startsWith("+") && next.startsWith("\\") && !next.endsWith("\r");
  return isText ? line.replace(/\r$/u, held) : line;
}

/** Returns a character for private use that does not occur in the texts. */
function unusedCharacter(source: string, hunks: readonly StructuredPatchHunk[]): string {
  const isUsed = (one: string): boolean =>
    source.includes(one) || hunks.some(({ lines }) => lines.some((line) => line.includes(one)));
  for (let code = 0xe000; code <= 0xf8ff; code++) {
    const one = String.fromCharCode(code);
    if (!isUsed(one)) return one;
  }
  throw new Error("the text has every character for private use, so none can stand for CR");
}

function applyByEngine(source: string, patch: string, fuzz: number): string | false {
  const files = new Map([["file", toUtf8(source)]]);
  try {
    const [made] = textEngine().applyPatch(files, patch, { path: "file", fuzz });
    return decoder.decode(made?.bytes ?? new Uint8Array(0));
  } catch (error) {
    if (error instanceof FilewrightError && error.code === "PATCH_FAILED") return false;
    throw error;
  }
}

/** Applies a patch of several files, one file after the other. */
export function applyPatches(patch: string | readonly StructuredPatch[], options: ApplyPatchesOptions): void {
  const patches = typeof patch === "string" ? parsePatch(patch) : patch;
  const go = (at: number): void => {
    const index = patches[at];
    if (index === undefined) {
      options.complete();
      return;
    }
    options.loadFile(index, (error, text) => {
      if (error) {
        options.complete(error);
        return;
      }
      options.patched(index, applyPatch(text, index, options), (failed) => {
        if (failed) options.complete(failed);
        else go(at + 1);
      });
    });
  };
  go(0);
}

/** Returns true when a line of the text equals a line of the patch. `lineNumber` counts from 1. */
export type CompareLine = (
  lineNumber: number,
  line: string,
  operation: string,
  patchContent: string,
) => boolean;

/**
 * Returns the hunks with their lines replaced by the matching lines of the text. A hunk matches at the line
 * in its header plus the shift of the hunk before, or else at the only other place after that hunk. Returns
 * undefined when a hunk matches nowhere, or in several places.
 */
function withLinesOfText(
  source: string,
  hunks: readonly StructuredPatchHunk[],
  isSame: CompareLine,
): StructuredPatchHunk[] | undefined {
  const lines = source.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const found: StructuredPatchHunk[] = [];
  let [done, moved] = [0, 0];
  for (const hunk of hunks) {
    const olds = hunk.lines.filter((line) => line === "" || /^[ -]/u.test(line));
    const fits = (at: number): boolean =>
      at >= done &&
      at + olds.length <= lines.length &&
      olds.every((line, n) => isSame(at + n + 1, lines[at + n] as string, line[0] ?? " ", line.slice(1)));
    const expected = hunk.oldStart - 1 + moved;
    const isThere = fits(expected);
    const places: number[] = isThere ? [expected] : [];
    for (let at = done; !isThere && places.length < 2 && at < lines.length; at++) {
      if (fits(at)) places.push(at);
    }
    const [place] = places;
    if (place === undefined || places.length > 1) return undefined;
    let at = place;
    const own = (line: string): string =>
      line === "" || /^[ -]/u.test(line) ? `${line[0] ?? " "}${lines[at++]}` : line;
    found.push({ ...hunk, oldStart: place + 1, lines: hunk.lines.map(own) });
    moved = place - (hunk.oldStart - 1);
    done = place + olds.length;
  }
  return found;
}
