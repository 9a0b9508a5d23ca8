/**
 * The tools, one file each: their schemas, their computation and the text of their answers. Path
 * policy, locks and approvals are elsewhere.
 */
import { accessInfo } from "./access_info.ts";
import { applyPatch } from "./apply_patch.ts";
import { batch } from "./batch.ts";
import { changesSince } from "./changes_since.ts";
import { copy } from "./copy.ts";
import { deletePath } from "./delete.ts";
import { diff } from "./diff.ts";
import { editFile } from "./edit_file.ts";
import { findFiles } from "./find_files.ts";
import { findSymbol } from "./find_symbol.ts";
import { glob } from "./glob.ts";
import { grep } from "./grep.ts";
import { listDirectory } from "./list_directory.ts";
import { mkdir } from "./mkdir.ts";
import { move } from "./move.ts";
import { outline } from "./outline.ts";
import { readFile } from "./read_file.ts";
import { readManyFiles } from "./read_many_files.ts";
import { searchCode } from "./search_code.ts";
import { stat } from "./stat.ts";
import { writeFile } from "./write_file.ts";
import type { Tool } from "./lib/tool.ts";

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
  outline,
  searchCode,
  findSymbol,
  stat,
  changesSince,
  copy,
  move,
  deletePath,
  mkdir,
  batch,
  accessInfo,
] as unknown as Tool[]);

/** The same tools by their names. */
export const TOOL_BY_NAME: ReadonlyMap<string, Tool> = new Map(TOOLS.map((tool) => [tool.name, tool]));

export type * from "./generated/types.ts";
export { DEFAULT_EXCLUDE_GLOBS } from "./lib/read_many_paths.ts";
export { DEFAULT_LIMITS, type Limits } from "./lib/limits.ts";
export type { ContentBlock, DocumentBlock, ImageBlock, Progress, Tool } from "./lib/tool.ts";
