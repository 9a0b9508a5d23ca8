/** The types of every tool's arguments and data, with those of their parts. */
export type { GrantedDirectory } from "./access_info.ts";
export type { PatchOutcome } from "./lib/patching.ts";
export type { BatchOperation } from "./batch.ts";
export type { HunkData } from "./render/diff_html.ts";
export type { EditArgs, EditOutcome } from "./edit/schema.ts";
export type { ImageFacts, SentImage } from "./render/image.ts";
export type {
  AccessInfoArgs,
  AccessInfoData,
  ApplyPatchArgs,
  ApplyPatchData,
  BatchArgs,
  BatchData,
  BatchOutcome,
  CopyArgs,
  CopyData,
  DeleteArgs,
  DeleteData,
  DiffArgs,
  DiffData,
  EditFileArgs,
  EditFileData,
  FindFilesArgs,
  FindFilesData,
  FoundFile,
  GlobArgs,
  GlobData,
  GrepArgs,
  GrepContentData,
  GrepCount,
  GrepCountData,
  GrepData,
  GrepFilesData,
  GrepMatch,
  GrepOutput,
  GrepSummary,
  ListDirectoryArgs,
  ListDirectoryData,
  MkdirArgs,
  MkdirData,
  MoveArgs,
  MoveData,
  Progress,
  ReadFileArgs,
  ReadFileData,
  ReadManyFilesArgs,
  ReadManyFilesData,
  StatArgs,
  StatData,
  ToolArgs,
  ToolData,
  ToolName,
  TransferOptions,
  WriteFileArgs,
  WriteFileData,
} from "./index.ts";
export type { Limits } from "./lib/limits.ts";
export type { DecidingSource } from "./lib/tool.ts";
export type { Rank } from "./grep/rank.ts";
export type { ListedEntry } from "./render/listing.ts";
export type { ReadOne } from "./read_many_files.ts";
export type { SkippedOne } from "./lib/read_many_paths.ts";
export type { ObjectSchema, Schema, SchemaType } from "./lib/schema.ts";
export type { AccessSummary, Annotations, EditDefaults } from "./lib/tool.ts";
