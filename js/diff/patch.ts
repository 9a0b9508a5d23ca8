/** Patches as data and as text, and the patch that reverses another one. */
import { textEngine } from "../engine/current.ts";
import {
  returnOrCallBack,
  type Callback,
  type DiffResult,
  withCallbackAsOption,
  withLfEndings,
  type SearchOptions,
} from "./changes.ts";

/** One hunk. Each of its `lines` begins with its mark; `\ No newline at end of file` is a separate line. */
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
  /** The name after `Index:`, or in the first line that Mercurial writes. */
  readonly index?: string | undefined;
  /** True when the patch begins with `diff --git`. Only git writes what the following properties contain. */
  readonly isGit?: boolean | undefined;
  readonly isRename?: boolean | undefined;
  readonly isCopy?: boolean | undefined;
  readonly isCreate?: boolean | undefined;
  readonly isDelete?: boolean | undefined;
  readonly isBinary?: boolean | undefined;
  /** The file's mode, such as `100644`. */
  readonly oldMode?: string | undefined;
  readonly newMode?: string | undefined;
  readonly hunks: readonly StructuredPatchHunk[];
}

/** Which headers are written. */
export interface HeaderOptions {
  readonly includeIndex: boolean;
  readonly includeUnderline: boolean;
  readonly includeFileHeaders: boolean;
}

/** Writes `Index:`, a line of `=`, `---` and `+++`. */
export const INCLUDE_HEADERS: HeaderOptions = Object.freeze({
  includeIndex: true,
  includeUnderline: true,
  includeFileHeaders: true,
});
/** Writes `---` and `+++` only. */
export const FILE_HEADERS_ONLY: HeaderOptions = Object.freeze({
  includeIndex: false,
  includeUnderline: false,
  includeFileHeaders: true,
});
/** Writes no headers, only hunks. */
export const OMIT_HEADERS: HeaderOptions = Object.freeze({
  includeIndex: false,
  includeUnderline: false,
  includeFileHeaders: false,
});

/** How a patch is computed. */
export interface PatchOptions<T = StructuredPatch> extends SearchOptions<T> {
  /** The number of unchanged lines around each change. Default 4. */
  readonly context?: number | undefined;
  readonly ignoreWhitespace?: boolean | undefined;
  readonly stripTrailingCr?: boolean | undefined;
  readonly headerOptions?: HeaderOptions | undefined;
}

/** Returns the patch from one text to another, as data. */
export function structuredPatch<O extends PatchOptions | Callback<StructuredPatch> = PatchOptions>(
  oldFileName: string,
  newFileName: string,
  oldStr: string,
  newStr: string,
  oldHeader?: string,
  newHeader?: string,
  options?: O,
): DiffResult<StructuredPatch, O> {
  const given = withCallbackAsOption<PatchOptions>(options);
  const names = { oldFileName, newFileName, oldHeader, newHeader };
  return returnOrCallBack(given, () => structuredPatchOf(names, oldStr, newStr, given)) as DiffResult<
    StructuredPatch,
    O
  >;
}

function structuredPatchOf(
  names: Pick<StructuredPatch, "oldFileName" | "newFileName" | "oldHeader" | "newHeader">,
  oldStr: string,
  newStr: string,
  options: PatchOptions<never>,
): StructuredPatch | undefined {
  if ("newlineIsToken" in options && options.newlineIsToken === true) {
    throw new Error(
      "newlineIsToken may not be used with patch-generation functions, only with diffing functions",
    );
  }
  const [before, after] =
    options.stripTrailingCr === true ? [withLfEndings(oldStr), withLfEndings(newStr)] : [oldStr, newStr];
  const { hunks, added, removed } = textEngine().diff(before, after, {
    context: options.context ?? 4,
    algorithm: "myers",
    lineEnds: "raw",
    ignoreWhitespace: options.ignoreWhitespace,
  });
  if (added + removed > (options.maxEditLength ?? Infinity)) return undefined;
  return {
    ...names,
    hunks: hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
      // In the data, a side without lines has the number of the line after it.
      oldStart: oldLines === 0 ? oldStart + 1 : oldStart,
      oldLines,
      newStart: newLines === 0 ? newStart + 1 : newStart,
      newLines,
      lines,
    })),
  };
}

/** Returns patches as text. A patch of git always has git's headers, whatever `headers` says. */
export function formatPatch(
  patch: StructuredPatch | readonly StructuredPatch[],
  headers: HeaderOptions = INCLUDE_HEADERS,
): string {
  if (isList(patch)) {
    if (patch.length > 1 && !headers.includeFileHeaders && !patch.every(({ isGit }) => isGit === true)) {
      throw new Error("Cannot omit file headers on a multi-file patch: nothing would tell the files apart");
    }
    return patch.map((one) => formatPatch(one, headers)).join("\n");
  }
  const { oldFileName, newFileName, oldHeader, newHeader, hunks } = patch;
  const isGit = patch.isGit === true;
  const lines: string[] = isGit ? gitHeaderLines(patch) : [];
  if (!isGit && headers.includeIndex && oldFileName !== undefined && oldFileName === newFileName) {
    lines.push(`Index: ${oldFileName}`);
  }
  if (!isGit && headers.includeUnderline) lines.push("=".repeat(67));
  const isNamed = isGit ? hunks.length > 0 : headers.includeFileHeaders;
  if (isNamed && oldFileName !== undefined && newFileName !== undefined) {
    // Without a header nothing follows the name, not even the tab; `parsePatch` reads such a line as an empty header.
    const after = (header: string | undefined): string => (header ? `\t${header}` : "");
    lines.push(`--- ${quoteName(oldFileName)}${after(oldHeader)}`);
    lines.push(`+++ ${quoteName(newFileName)}${after(newHeader)}`);
  }
  for (const { oldStart, oldLines, newStart, newLines, lines: body } of hunks) {
    // In the text, a side without lines has the number of the line before it.
    const [from, to] = [oldLines === 0 ? oldStart - 1 : oldStart, newLines === 0 ? newStart - 1 : newStart];
    lines.push(`@@ -${from},${oldLines} +${to},${newLines} @@`);
    for (const line of body) lines.push(line);
  }
  return `${lines.join("\n")}\n`;
}

/** Returns the line `diff --git`, and those between it and the names. */
function gitHeaderLines(patch: StructuredPatch): string[] {
  const { oldFileName, newFileName, oldMode, newMode } = patch;
  if (!oldFileName) throw new Error("oldFileName must be specified for Git patches");
  if (!newFileName) throw new Error("newFileName must be specified for Git patches");
  const [isCreate, isDelete] = [patch.isCreate === true, patch.isDelete === true];
  // If a side is `/dev/null`, the first line has the name of the other side in its place.
  const old = isCreate && oldFileName === "/dev/null" ? newFileName.replace(/^b\//u, "a/") : oldFileName;
  const made = isDelete && newFileName === "/dev/null" ? oldFileName.replace(/^a\//u, "b/") : newFileName;
  const lines = [`diff --git ${quoteName(old)} ${quoteName(made)}`];
  if (isDelete) lines.push(`deleted file mode ${oldMode ?? "100644"}`);
  if (isCreate) lines.push(`new file mode ${newMode ?? "100644"}`);
  if (!isCreate && !isDelete && oldMode && newMode) lines.push(`old mode ${oldMode}`, `new mode ${newMode}`);
  for (const [is, word] of [
    [patch.isRename, "rename"],
    [patch.isCopy, "copy"],
  ] as const) {
    if (is !== true) continue;
    lines.push(`${word} from ${quoteName(oldFileName.replace(/^a\//u, ""))}`);
    lines.push(`${word} to ${quoteName(newFileName.replace(/^b\//u, ""))}`);
  }
  return lines;
}

/** Returns the patch from one text to another, as text. */
export function createTwoFilesPatch<O extends PatchOptions<string> | Callback<string> = PatchOptions<string>>(
  oldFileName: string,
  newFileName: string,
  oldStr: string,
  newStr: string,
  oldHeader?: string,
  newHeader?: string,
  options?: O,
): DiffResult<string, O> {
  const given = withCallbackAsOption<PatchOptions<string>>(options);
  const names = { oldFileName, newFileName, oldHeader, newHeader };
  return returnOrCallBack(given, () => {
    const patch = structuredPatchOf(names, oldStr, newStr, given as PatchOptions<never>);
    return patch === undefined ? undefined : formatPatch(patch, given.headerOptions);
  }) as DiffResult<string, O>;
}

/** Returns the patch from one state of a file to another, as text. */
export function createPatch<O extends PatchOptions<string> | Callback<string> = PatchOptions<string>>(
  fileName: string,
  oldStr: string,
  newStr: string,
  oldHeader?: string,
  newHeader?: string,
  options?: O,
): DiffResult<string, O> {
  return createTwoFilesPatch(fileName, fileName, oldStr, newStr, oldHeader, newHeader, options);
}

/** Returns true for a list. */
export function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

/** The letter that stands for a byte after a backslash, in names quoted as in C. */
const ESCAPE_LETTER_BY_BYTE: Readonly<Record<number, string>> = {
  7: "a",
  8: "b",
  9: "t",
  10: "n",
  11: "v",
  12: "f",
  13: "r",
  34: '"',
  92: "\\",
};
const BYTE_BY_ESCAPE_LETTER: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(ESCAPE_LETTER_BY_BYTE).map(([byte, letter]) => [letter, Number(byte)]),
);

/**
 * Returns the name in quotes, as C and git write strings, if it contains quotes, backslashes, or characters
 * that are not printable ASCII.
 */
function quoteName(name: string): string {
  if (/^[ !#-[\]-~]*$/u.test(name)) return name;
  let text = "";
  for (const byte of new TextEncoder().encode(name)) {
    const letter = ESCAPE_LETTER_BY_BYTE[byte];
    if (letter !== undefined) text += `\\${letter}`;
    else if (byte >= 0x20 && byte <= 0x7e) text += String.fromCharCode(byte);
    else text += `\\${byte.toString(8).padStart(3, "0")}`;
  }
  return `"${text}"`;
}

/**
 * Returns the quoted name with which a text begins, without its quotes, and the length of its quoted form;
 * undefined when it is malformed.
 */
export function parseQuotedName(
  text: string,
): { readonly name: string; readonly length: number } | undefined {
  const [whole, body] = /^"((?:[^"\\]|\\[abtnvfr"\\]|\\[0-7]{3})*)"/u.exec(text) ?? [];
  if (whole === undefined || body === undefined) return undefined;
  const bytes: number[] = [];
  for (const [part, octal, letter] of body.matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/gu)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8) & 0xff);
    else if (letter !== undefined) bytes.push(BYTE_BY_ESCAPE_LETTER[letter] as number);
    else for (const byte of new TextEncoder().encode(part)) bytes.push(byte);
  }
  return { name: new TextDecoder().decode(new Uint8Array(bytes)), length: whole.length };
}

/** Returns the name without quotes; unchanged if it has none. */
export function unquoteName(text: string): string {
  return parseQuotedName(text)?.name ?? text;
}

/**
 * Returns the patch, or patches, with which the given ones are undone. A reversed copy becomes a deletion
 * without hunks.
 */
export function reversePatch(patch: StructuredPatch): StructuredPatch;
export function reversePatch(patch: readonly StructuredPatch[]): StructuredPatch[];
export function reversePatch(
  patch: StructuredPatch | readonly StructuredPatch[],
): StructuredPatch | StructuredPatch[];
export function reversePatch(
  patch: StructuredPatch | readonly StructuredPatch[],
): StructuredPatch | StructuredPatch[] {
  if (isList(patch)) return patch.map((one) => reversePatch(one)).reverse();
  const { isGit, isCopy, isCreate, isDelete, isRename, oldMode, newMode, ...rest } = patch;
  const [oldFileName, newFileName] =
    isGit === true
      ? [withOtherSidePrefix(patch.newFileName), withOtherSidePrefix(patch.oldFileName)]
      : [patch.newFileName, patch.oldFileName];
  const reversed: StructuredPatch = {
    ...rest,
    oldFileName,
    newFileName,
    oldHeader: patch.newHeader,
    newHeader: patch.oldHeader,
    ...(isGit === undefined ? {} : { isGit }),
    ...(isRename === undefined ? {} : { isRename }),
    oldMode: newMode,
    newMode: oldMode,
    isCreate: isDelete,
    isDelete: isCreate,
    hunks: patch.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
      oldStart: newStart,
      oldLines: newLines,
      newStart: oldStart,
      newLines: oldLines,
      lines: lines.map((line) => {
        if (line.startsWith("-")) return `+${line.slice(1)}`;
        return line.startsWith("+") ? `-${line.slice(1)}` : line;
      }),
    })),
  };
  if (isCopy !== true) return reversed;
  // The patch of a copy does not contain the copied content, so a reversed one cannot list the lines to
  // remove.
  const { isCreate: _create, isRename: _rename, ...deletion } = reversed;
  return { ...deletion, newFileName: "/dev/null", newHeader: undefined, isDelete: true, hunks: [] };
}

/** Returns the name of a file with the prefix of the other side: `b/` for `a/`, and the reverse. */
function withOtherSidePrefix(name: string | undefined): string | undefined {
  if (name?.startsWith("a/") === true) return `b/${name.slice(2)}`;
  return name?.startsWith("b/") === true ? `a/${name.slice(2)}` : name;
}
