/** The types of the engine's functions, re-exported by the entries. */
export * from "./text/text-types.ts";
export type { Engine } from "./engine.ts";
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
  ContentLimits,
  Counting,
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
  SearchCounts,
  SearchMatch,
  SearchQuery,
  SearchResult,
  TextHits,
  TextLimits,
  TextMatch,
  TextQuery,
  WalkQuery,
} from "./search.ts";
