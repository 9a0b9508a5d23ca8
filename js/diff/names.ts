/** What `filewright/diff` exports on every runtime. */
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
