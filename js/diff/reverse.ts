/** The patch that undoes a patch. */
import { isList, type StructuredPatch } from "./patch.ts";

/** Turns a patch around, or several. */
export function reversePatch(patch: StructuredPatch): StructuredPatch;
export function reversePatch(patch: readonly StructuredPatch[]): StructuredPatch[];
export function reversePatch(
  patch: StructuredPatch | readonly StructuredPatch[],
): StructuredPatch | StructuredPatch[] {
  if (isList(patch)) return patch.map((one) => reversePatch(one)).reverse();
  return {
    ...patch,
    oldFileName: patch.newFileName,
    newFileName: patch.oldFileName,
    oldHeader: patch.newHeader,
    newHeader: patch.oldHeader,
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
}
