/**
 * `filewright/diff`: the patch family and the line, word and character diffs
 * under the names and shapes of the package `diff` (jsdiff), on our engine. What
 * is not alike is listed in docs/diff-compatibility.md. No files, no workspace;
 * outside Node after `await ready()` of `filewright/engine`.
 */
export { applyPatch, type ApplyPatchOptions, applyPatches, type ApplyPatchesOptions } from "./apply.ts";
export {
  type ChangeObject,
  diffChars,
  diffLines,
  type LineOptions,
  diffWords,
  diffWordsWithSpace,
} from "./changes.ts";
export {
  createPatch,
  createTwoFilesPatch,
  FILE_HEADERS_ONLY,
  formatPatch,
  type HeaderOptions,
  INCLUDE_HEADERS,
  OMIT_HEADERS,
  type PatchOptions,
  type StructuredPatch,
  type StructuredPatchHunk,
  structuredPatch,
} from "./patch.ts";
export { parsePatch } from "./parse.ts";
export { reversePatch } from "./reverse.ts";
