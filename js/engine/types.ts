/** The types that the engine's functions speak, for the entries to pass on. */
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
export type { Engine, EngineInfo } from "./engine.ts";
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
export type {
  DecodedText,
  Eol,
  FileKind,
  InspectOptions,
  Inspection,
  LineNumbers,
  LongLine,
  Page,
  PageRequest,
} from "./read.ts";
export type { RankedPath, RankedPaths, RankOptions } from "./rank.ts";
export type {
  CompiledQuery,
  FileCount,
  FindQuery,
  FindResult,
  Freshness,
  FuzzyQuery,
  FuzzyResult,
  GlobOptions,
  IgnoreFile,
  IgnoreRules,
  IncompleteReason,
  IndexStatus,
  IndexUse,
  PathGlobs,
  SearchMatch,
  SearchQuery,
  SearchResult,
  TextHits,
  TextLimits,
  TextMatch,
  TextQuery,
  WalkQuery,
} from "./search.ts";
