/**
 * The tools, one file each: their schemas, their computation and the text of their answers. Path
 * policy, locks and approvals are elsewhere.
 */
import { ARGUMENTS_BY_TOOL } from "../schema/tool-names.ts";
import { accessInfo, type AccessInfoArgs, type AccessInfoData } from "./access_info.ts";
import { applyPatch, type ApplyPatchArgs } from "./apply_patch.ts";
import type { ApplyPatchData } from "./lib/patching.ts";
import { batch, type BatchArgs, type BatchData, type BatchOutcome } from "./batch.ts";
import { copy, type CopyData } from "./copy.ts";
import { deletePath, type DeleteArgs, type DeleteData } from "./delete.ts";
import { diff, type DiffArgs, type DiffData } from "./diff.ts";
import { editFile, type EditFileArgs, type EditFileData } from "./edit_file.ts";
import { findFiles, type FindFilesArgs, type FindFilesData, type FoundFile } from "./find_files.ts";
import { glob, type GlobArgs, type GlobData } from "./glob.ts";
import { grep } from "./grep.ts";
import type {
  GrepArgs,
  GrepContentData,
  GrepCount,
  GrepCountData,
  GrepData,
  GrepFilesData,
  GrepMatch,
  GrepOutput,
  GrepSummary,
} from "./grep/types.ts";
import type { HistoryArgs } from "./history.ts";
import { listDirectory, type ListDirectoryArgs } from "./list_directory.ts";
import type { ListDirectoryData } from "./render/listing.ts";
import { mkdir, type MkdirArgs, type MkdirData } from "./mkdir.ts";
import { move, type MoveData } from "./move.ts";
import { readFile, type ReadFileArgs, type ReadFileData } from "./read_file.ts";
import { readManyFiles, type ReadManyFilesArgs, type ReadManyFilesData } from "./read_many_files.ts";
import type { RunCommandArgs } from "./run_command.ts";
import { stat, type StatArgs, type StatData } from "./stat.ts";
import type { Tool } from "./lib/tool.ts";
import type { CopyArgs, MoveArgs, TransferOptions } from "./lib/transfer.ts";
import type { UndoArgs } from "./undo.ts";
import { writeFile, type WriteFileData } from "./write_file.ts";
import type { WriteFileArgs } from "./write/arguments.ts";

/** The arguments of each tool. */
export interface ToolArgs {
  read_file: ReadFileArgs;
  read_many_files: ReadManyFilesArgs;
  write_file: WriteFileArgs;
  edit_file: EditFileArgs;
  apply_patch: ApplyPatchArgs;
  diff: DiffArgs;
  list_directory: ListDirectoryArgs;
  glob: GlobArgs;
  find_files: FindFilesArgs;
  grep: GrepArgs;
  stat: StatArgs;
  copy: CopyArgs;
  move: MoveArgs;
  delete: DeleteArgs;
  mkdir: MkdirArgs;
  batch: BatchArgs;
  access_info: AccessInfoArgs;
}

/** The data of each tool's result. */
export interface ToolData {
  read_file: ReadFileData;
  read_many_files: ReadManyFilesData;
  write_file: WriteFileData;
  edit_file: EditFileData;
  apply_patch: ApplyPatchData;
  diff: DiffData;
  list_directory: ListDirectoryData;
  glob: GlobData;
  find_files: FindFilesData;
  grep: GrepData;
  stat: StatData;
  copy: CopyData;
  move: MoveData;
  delete: DeleteData;
  mkdir: MkdirData;
  batch: BatchData;
  access_info: AccessInfoData;
}

/** The name of a tool. */
export type ToolName = keyof ToolArgs;

interface ArgsOfAllTools extends ToolArgs {
  run_command: RunCommandArgs;
  undo: UndoArgs;
  history: HistoryArgs;
}

ARGUMENTS_BY_TOOL satisfies {
  readonly [Name in keyof ArgsOfAllTools]: Readonly<Record<keyof ArgsOfAllTools[Name], true>>;
};

/** Every tool, in the order in which models see them. */
export const TOOLS: readonly Tool[] = Object.freeze([
  readFile,
  readManyFiles,
  writeFile,
  editFile,
  applyPatch,
  diff,
  listDirectory,
  glob,
  findFiles,
  grep,
  stat,
  copy,
  move,
  deletePath,
  mkdir,
  batch,
  accessInfo,
] as unknown as Tool[]);

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
  ReadFileArgs,
  ReadFileData,
  ReadManyFilesArgs,
  ReadManyFilesData,
  StatArgs,
  StatData,
  TransferOptions,
  WriteFileArgs,
  WriteFileData,
};
export { DEFAULT_EXCLUDE_GLOBS } from "./lib/read_many_paths.ts";
export { DEFAULT_LIMITS, type Limits } from "./lib/limits.ts";
export type { ContentBlock, DocumentBlock, ImageBlock, Progress, Tool } from "./lib/tool.ts";
