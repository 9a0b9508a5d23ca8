// Types of the tools that are not public, written by `npm run tool-types`, not to be edited.
import type {
  AccessInfoArgs,
  ApplyPatchArgs,
  BatchArgs,
  ChangesSinceArgs,
  CopyArgs,
  DeleteArgs,
  DiffArgs,
  EditFileArgs,
  FindFilesArgs,
  FindSymbolArgs,
  GlobArgs,
  GrepArgs,
  ListDirectoryArgs,
  MkdirArgs,
  MoveArgs,
  OutlineArgs,
  ReadFileArgs,
  ReadManyFilesArgs,
  SearchCodeArgs,
  StatArgs,
  WriteFileArgs,
} from "./types.ts";

/** The arguments of `run_command`. */
export interface RunCommandArgs {
  /** The program and its arguments as a list, passed on as they are; with shell: true one string for /bin/sh. */
  readonly command: readonly string[] | string;
  /** Have /bin/sh run the command, which is one string then. Default `false`. */
  readonly shell?: boolean;
  /** The directory to run in; relative to the workspace, or absolute. Default `"."`. */
  readonly cwd?: string;
  /** Milliseconds after which it is killed with everything it started. Default `120000`. */
  readonly timeout_ms?: number;
  /** Bytes kept of its output and of its errors, each. Default `32768`. */
  readonly max_output_bytes?: number;
}

/** The data of `run_command`. */
export interface RunCommandData {
  /** Null where it was killed. */
  readonly exit_code: number | null;
  /** The signal that ended it. */
  readonly signal: number | null;
  /** Whether it ran out of time. */
  readonly timed_out: boolean;
  /** Whether more was written than is given. */
  readonly truncated: boolean;
  /** Its output. */
  readonly stdout: string;
  /** Its errors. */
  readonly stderr: string;
  /** What kept it in, such as landlock+seccomp or bubblewrap; none where nothing did. */
  readonly tier: string;
  /** The limit that ended it: processes, memory or file_size. */
  readonly exceeded?: string;
  /** Protected places that it made and that were removed afterwards. */
  readonly removed?: readonly string[];
  /** Repositories that it made: their hooks were emptied, their config was reduced. */
  readonly repositories?: readonly string[];
}

/** The arguments of `undo`. */
export interface UndoArgs {
  /** The call to undo, as history lists it. Default: your last change that is not undone yet. */
  readonly call_id?: string;
}

/** The data of `undo`. */
export interface UndoData {
  /** The call that was undone. */
  readonly undone: string;
  /** Its tool. */
  readonly tool: string;
  /** What was put back, relative to the workspace. */
  readonly paths: readonly string[];
  /** What was put back, as a diff; for a person. */
  readonly diff?: string;
  /** What else is to be known of the answer, such as what was left out. */
  readonly warnings?: readonly string[];
}

/** The arguments of `history`. */
export interface HistoryArgs {
  /** Only changes of this file, or below this directory. */
  readonly path?: string;
  /** The most changes given. Default `20`. */
  readonly limit?: number;
  /** `next_cursor` of an earlier call, to go on from there. */
  readonly cursor?: string;
}

/** The newest first. */
export interface ListedChange {
  /** What undo takes. */
  readonly call_id: string;
  /** The tool that was called, or undo. */
  readonly tool: string;
  /** When, ISO 8601 in UTC. */
  readonly time: string;
  /** What it touched. */
  readonly paths: readonly string[];
  /** Who made it, where that is known. */
  readonly agent?: string;
  /** The call that this one undid. */
  readonly undo_of?: string;
}

/** The data of `history`. */
export interface HistoryData {
  /** The newest first. */
  readonly changes: readonly ListedChange[];
  /** Whether there are more. */
  readonly truncated: boolean;
  /** For the next page. */
  readonly next_cursor?: string;
}

/** Arguments with their defaults. Those that `Open` names have none. */
type Checked<Args, Open extends keyof Args> = Required<Omit<Args, Open>> & Pick<Args, Open>;

/** The arguments of each tool, with their defaults. */
export interface CheckedArgs {
  readonly read_file: Checked<ReadFileArgs, "max_tokens" | "known_hash" | "start_byte" | "pages" | "symbol" | "json_pointer">;
  readonly read_many_files: Checked<ReadManyFilesArgs, "max_total_bytes" | "max_tokens">;
  readonly write_file: Checked<WriteFileArgs, "mode" | "expected_hash">;
  readonly edit_file: Checked<EditFileArgs, "edits" | "old_text" | "new_text" | "replace_all" | "expected_matches" | "near_line" | "from" | "to" | "insert" | "json_pointer" | "symbol" | "match" | "threshold" | "expected_hash">;
  readonly apply_patch: Checked<ApplyPatchArgs, "path" | "strip">;
  readonly diff: Checked<DiffArgs, "b" | "content_b">;
  readonly list_directory: Checked<ListDirectoryArgs, "cursor" | "max_tokens">;
  readonly glob: Checked<GlobArgs, "cursor" | "max_tokens">;
  readonly find_files: Required<FindFilesArgs>;
  readonly grep: Checked<GrepArgs, "glob" | "before" | "after" | "max_per_file" | "cursor" | "max_tokens">;
  readonly outline: Checked<OutlineArgs, "depth">;
  readonly search_code: Checked<SearchCodeArgs, "glob">;
  readonly find_symbol: Checked<FindSymbolArgs, "glob">;
  readonly stat: Required<StatArgs>;
  readonly changes_since: Required<ChangesSinceArgs>;
  readonly copy: Required<CopyArgs>;
  readonly move: Required<MoveArgs>;
  readonly delete: Required<DeleteArgs>;
  readonly mkdir: Required<MkdirArgs>;
  readonly batch: Required<BatchArgs>;
  readonly access_info: Required<AccessInfoArgs>;
  readonly run_command: Required<RunCommandArgs>;
  readonly undo: Checked<UndoArgs, "call_id">;
  readonly history: Checked<HistoryArgs, "path" | "cursor">;
}
