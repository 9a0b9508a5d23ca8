/** The names of our tools, for those who check names without loading the tools. */
import type { ToolName } from "./index.ts";

// A record, so that a tool missing from it does not compile.
const NAMES: Record<ToolName | "run_command" | "undo" | "history", true> = {
  read_file: true,
  read_many_files: true,
  write_file: true,
  edit_file: true,
  apply_patch: true,
  diff: true,
  list_directory: true,
  glob: true,
  find_files: true,
  grep: true,
  stat: true,
  copy: true,
  move: true,
  delete: true,
  mkdir: true,
  batch: true,
  access_info: true,
  run_command: true,
  undo: true,
  history: true,
};

/** The canonical names of all tools, `run_command`, `undo` and `history` among them: what rules and hooks may name. */
export const TOOL_NAMES: ReadonlySet<string> = new Set(Object.keys(NAMES));
