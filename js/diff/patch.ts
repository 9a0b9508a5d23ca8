/** Patches as data and as text. */
import { textEngine } from "../engine/current.ts";
import { plain } from "./changes.ts";

/** One hunk. `lines` have their marks; `\ No newline at end of file` is a line of its own. */
export interface StructuredPatchHunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
}

/** A patch of one file. */
export interface StructuredPatch {
  readonly oldFileName: string | undefined;
  readonly newFileName: string | undefined;
  readonly oldHeader?: string | undefined;
  readonly newHeader?: string | undefined;
  /** The name after `Index:`. */
  readonly index?: string | undefined;
  readonly hunks: readonly StructuredPatchHunk[];
}

/** Which headers are printed. */
export interface HeaderOptions {
  readonly includeIndex: boolean;
  readonly includeUnderline: boolean;
  readonly includeFileHeaders: boolean;
}

/** `Index:`, a line of `=`, `---` and `+++`. */
export const INCLUDE_HEADERS: HeaderOptions = Object.freeze({
  includeIndex: true,
  includeUnderline: true,
  includeFileHeaders: true,
});
/** `---` and `+++` alone. */
export const FILE_HEADERS_ONLY: HeaderOptions = Object.freeze({
  includeIndex: false,
  includeUnderline: false,
  includeFileHeaders: true,
});
/** Hunks alone. */
export const OMIT_HEADERS: HeaderOptions = Object.freeze({
  includeIndex: false,
  includeUnderline: false,
  includeFileHeaders: false,
});

/** How a patch is made. */
export interface PatchOptions {
  /** Unchanged lines around a change. Default 4. */
  readonly context?: number | undefined;
  readonly ignoreWhitespace?: boolean | undefined;
  readonly stripTrailingCr?: boolean | undefined;
  readonly headerOptions?: HeaderOptions | undefined;
}

/** The patch between two texts, as data. */
export function structuredPatch(
  oldFileName: string,
  newFileName: string,
  oldStr: string,
  newStr: string,
  oldHeader?: string,
  newHeader?: string,
  options: PatchOptions = {},
): StructuredPatch {
  const [before, after] =
    options.stripTrailingCr === true ? [plain(oldStr), plain(newStr)] : [oldStr, newStr];
  const { hunks } = textEngine().diff(before, after, {
    context: options.context ?? 4,
    lineEnds: "raw",
    ignoreWhitespace: options.ignoreWhitespace,
  });
  return {
    oldFileName,
    newFileName,
    oldHeader,
    newHeader,
    hunks: hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
      // As data, an empty side names the line after it.
      oldStart: oldLines === 0 ? oldStart + 1 : oldStart,
      oldLines,
      newStart: newLines === 0 ? newStart + 1 : newStart,
      newLines,
      lines,
    })),
  };
}

/** One patch, or several, as text. */
export function formatPatch(
  patch: StructuredPatch | readonly StructuredPatch[],
  headers: HeaderOptions = INCLUDE_HEADERS,
): string {
  if (isList(patch)) return patch.map((one) => formatPatch(one, headers)).join("\n");
  const { oldFileName, newFileName, oldHeader, newHeader, hunks } = patch;
  const lines: string[] = [];
  if (headers.includeIndex && oldFileName === newFileName) lines.push(`Index: ${oldFileName}`);
  if (headers.includeUnderline) lines.push("=".repeat(67));
  if (headers.includeFileHeaders && oldFileName !== undefined && newFileName !== undefined) {
    lines.push(`--- ${oldFileName}${oldHeader === undefined ? "" : `\t${oldHeader}`}`);
    lines.push(`+++ ${newFileName}${newHeader === undefined ? "" : `\t${newHeader}`}`);
  }
  for (const { oldStart, oldLines, newStart, newLines, lines: body } of hunks) {
    // As text, an empty side names the line before it.
    const [from, to] = [oldLines === 0 ? oldStart - 1 : oldStart, newLines === 0 ? newStart - 1 : newStart];
    lines.push(`@@ -${from},${oldLines} +${to},${newLines} @@`);
    for (const line of body) lines.push(line);
  }
  return `${lines.join("\n")}\n`;
}

/** The patch between two texts, as text. */
export function createTwoFilesPatch(
  oldFileName: string,
  newFileName: string,
  oldStr: string,
  newStr: string,
  oldHeader?: string,
  newHeader?: string,
  options: PatchOptions = {},
): string {
  const patch = structuredPatch(oldFileName, newFileName, oldStr, newStr, oldHeader, newHeader, options);
  return formatPatch(patch, options.headerOptions);
}

/** The patch between two states of one file, as text. */
export function createPatch(
  fileName: string,
  oldStr: string,
  newStr: string,
  oldHeader?: string,
  newHeader?: string,
  options: PatchOptions = {},
): string {
  return createTwoFilesPatch(fileName, fileName, oldStr, newStr, oldHeader, newHeader, options);
}

/** Whether several patches are given. */
export function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}
