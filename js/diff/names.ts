/** The exports of `filewright/diff` on every runtime. */
export {
  applyPatch,
  type ApplyPatchOptions,
  applyPatches,
  type ApplyPatchesOptions,
  type CompareLine,
} from "./apply.ts";
export {
  type Callback,
  type ChangeObject,
  diffChars,
  diffLines,
  diffWordsWithSpace,
  type DiffResult,
  type LineOptions,
  type SearchOptions,
  type TokenOptions,
} from "./changes.ts";
export type { Bounds, IsSame } from "./tokens.ts";
export { diffWords, type WordOptions } from "./words.ts";
export {
  type ArrayOptions,
  canonicalize,
  convertChangesToDMP,
  convertChangesToXML,
  diffArrays,
  diffCss,
  diffJson,
  diffSentences,
  diffTrimmedLines,
  type JsonOptions,
} from "./others.ts";
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
  reversePatch,
} from "./patch.ts";
export { parsePatch } from "./parse.ts";
