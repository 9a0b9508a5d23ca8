/**
 * The tools: one file each. What a model may ask for, how it is computed and how
 * the answer reads; nothing about paths being allowed, locks or approvals.
 */
import { accessInfo, type AccessInfoArgs, type AccessInfoData } from "./access_info.ts";
import { copy, type CopyData } from "./copy.ts";
import { deletePath, type DeleteArgs, type DeleteData } from "./delete.ts";
import { diff, type DiffArgs, type DiffData } from "./diff.ts";
import { editFile, type EditFileArgs, type EditFileData } from "./edit_file.ts";
import { listDirectory, type ListDirectoryArgs, type ListDirectoryData } from "./list_directory.ts";
import { mkdir, type MkdirArgs, type MkdirData } from "./mkdir.ts";
import { move, type MoveData } from "./move.ts";
import { readFile, type ReadFileArgs, type ReadFileData } from "./read_file.ts";
import { stat, type StatArgs, type StatData } from "./stat.ts";
import type { Tool } from "./tool.ts";
import type { TransferArgs } from "./transfer.ts";
import { writeFile, type WriteFileArgs, type WriteFileData } from "./write_file.ts";

/** The arguments of each tool. */
export interface ToolArgs {
  read_file: ReadFileArgs;
  write_file: WriteFileArgs;
  edit_file: EditFileArgs;
  diff: DiffArgs;
  list_directory: ListDirectoryArgs;
  stat: StatArgs;
  copy: TransferArgs;
  move: TransferArgs;
  delete: DeleteArgs;
  mkdir: MkdirArgs;
  access_info: AccessInfoArgs;
}

/** The data of each tool's result. */
export interface ToolData {
  read_file: ReadFileData;
  write_file: WriteFileData;
  edit_file: EditFileData;
  diff: DiffData;
  list_directory: ListDirectoryData;
  stat: StatData;
  copy: CopyData;
  move: MoveData;
  delete: DeleteData;
  mkdir: MkdirData;
  access_info: AccessInfoData;
}

/** The name of a tool. */
export type ToolName = keyof ToolArgs;

/** Every tool, in the order models are shown. */
export const TOOLS: readonly Tool[] = Object.freeze([
  readFile,
  writeFile,
  editFile,
  diff,
  listDirectory,
  stat,
  copy,
  move,
  deletePath,
  mkdir,
  accessInfo,
] as unknown as Tool[]);

export type {
  AccessInfoArgs,
  AccessInfoData,
  CopyData,
  DeleteArgs,
  DeleteData,
  DiffArgs,
  DiffData,
  EditFileArgs,
  EditFileData,
  ListDirectoryArgs,
  ListDirectoryData,
  MkdirArgs,
  MkdirData,
  MoveData,
  ReadFileArgs,
  ReadFileData,
  StatArgs,
  StatData,
  TransferArgs,
  WriteFileArgs,
  WriteFileData,
};
export { DEFAULT_LIMITS, type Limits } from "./limits.ts";
export type { ImageBlock, Progress, Tool } from "./tool.ts";
