/** The types of the text functions, re-exported by the entries. */
export type { DiffAlgorithm, DiffHunk, DiffOptions, DiffPart, DiffResult, TextOrBytes } from "./diff.ts";
export type {
  AppliedEdit,
  BytesPlan,
  EditInput,
  EditOptions,
  MatchMode,
  PlanFacts,
  PlanRefusal,
  TextPlan,
} from "./edit.ts";
export type { EngineInfo, TextEngine } from "./text-engine.ts";
export type {
  ApplyOptions,
  FileContents,
  LineRange,
  MergeConflict,
  MergeOptions,
  MergeResult,
  ParsedPatch,
  ParseOptions,
  PatchedFile,
  PatchFile,
  PatchHunk,
  PatchOperation,
  PlacedHunk,
} from "./patch.ts";
