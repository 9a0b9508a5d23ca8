/** Creates the patch that undoes a patch. */
import { isList, type StructuredPatch } from "./patch.ts";

/** Reverses a patch, or several. A reversed copy is a deletion without hunks. */
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
      ? [otherSide(patch.newFileName), otherSide(patch.oldFileName)]
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
  // The patch does not contain the content of the copy, so its lines cannot be removed one by one.
  const { isCreate: _create, isRename: _rename, ...deletion } = reversed;
  return { ...deletion, newFileName: "/dev/null", newHeader: undefined, isDelete: true, hunks: [] };
}

/** Returns git's name of a file on the other side. */
function otherSide(name: string | undefined): string | undefined {
  if (name?.startsWith("a/") === true) return `b/${name.slice(2)}`;
  return name?.startsWith("b/") === true ? `a/${name.slice(2)}` : name;
}
