/** The names and arguments of all tools, for code that checks names without loading the tools. */
import type { HistoryArgs } from "./history.ts";
import type { ToolArgs, ToolName } from "./index.ts";
import type { RunCommandArgs } from "./run_command.ts";
import type { UndoArgs } from "./undo.ts";

interface AllArgs extends ToolArgs {
  run_command: RunCommandArgs;
  undo: UndoArgs;
  history: HistoryArgs;
}

// Records, so that a tool or an argument missing from them does not compile.
const ARGUMENTS: {
  readonly [Name in ToolName | keyof AllArgs]: Readonly<Record<keyof AllArgs[Name], true>>;
} = {
  read_file: {
    path: true,
    start_line: true,
    max_lines: true,
    max_line_chars: true,
    line_numbers: true,
    encoding: true,
    non_text: true,
    anchors: true,
    force_text: true,
    start_byte: true,
    pages: true,
    json_pointer: true,
  },
  read_many_files: {
    paths: true,
    include: true,
    exclude: true,
    use_default_excludes: true,
    respect_ignore: true,
    recursive: true,
    max_files: true,
    max_total_bytes: true,
    separator: true,
    non_text: true,
    timeout_ms: true,
  },
  write_file: {
    path: true,
    content: true,
    overwrite: true,
    create_dirs: true,
    append: true,
    encoding: true,
    content_encoding: true,
    eol: true,
    mode: true,
    expected_hash: true,
    whole_file: true,
  },
  edit_file: {
    path: true,
    edits: true,
    old_text: true,
    new_text: true,
    replace_all: true,
    expected_matches: true,
    near_line: true,
    from: true,
    to: true,
    insert: true,
    json_pointer: true,
    dry_run: true,
    match: true,
    threshold: true,
    on_multiple: true,
    expected_hash: true,
    whole_file: true,
  },
  apply_patch: { patch: true, path: true, strip: true, fuzz: true, reverse: true, dry_run: true },
  diff: {
    a: true,
    b: true,
    content_b: true,
    context: true,
    ignore_whitespace: true,
    format: true,
    timeout_ms: true,
  },
  list_directory: {
    path: true,
    depth: true,
    hidden: true,
    ignore: true,
    respect_ignore: true,
    sort: true,
    order: true,
    limit: true,
    cursor: true,
    format: true,
    timeout_ms: true,
  },
  glob: {
    pattern: true,
    path: true,
    exclude: true,
    type: true,
    case_sensitive: true,
    hidden: true,
    respect_ignore: true,
    sort: true,
    recency_ms: true,
    limit: true,
    cursor: true,
    timeout_ms: true,
  },
  find_files: { query: true, path: true, rank: true, respect_ignore: true, limit: true, timeout_ms: true },
  grep: {
    pattern: true,
    path: true,
    glob: true,
    exclude: true,
    file_types: true,
    regex: true,
    case: true,
    word: true,
    multiline: true,
    before: true,
    after: true,
    context: true,
    output: true,
    rank: true,
    max_results: true,
    max_per_file: true,
    max_line_chars: true,
    hidden: true,
    respect_ignore: true,
    cursor: true,
    timeout_ms: true,
  },
  stat: { path: true, follow: true, hash: true },
  copy: { source: true, destination: true, overwrite: true, create_dirs: true, timeout_ms: true },
  move: { source: true, destination: true, overwrite: true, create_dirs: true, timeout_ms: true },
  delete: { path: true, recursive: true, missing_ok: true, timeout_ms: true },
  mkdir: { path: true, parents: true, exist_ok: true },
  batch: { operations: true, atomic: true, dry_run: true },
  access_info: {},
  run_command: { command: true, shell: true, cwd: true, timeout_ms: true, max_output_bytes: true },
  undo: { call_id: true },
  history: { path: true, limit: true, cursor: true },
};

/** The canonical names of all tools, including `run_command`, `undo` and `history`: those that rules and hooks may name. */
export const TOOL_NAMES: ReadonlySet<string> = new Set(Object.keys(ARGUMENTS));

/** The argument names of each tool. */
export const TOOL_ARGUMENTS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(ARGUMENTS).map(([name, args]) => [name, Object.keys(args)]),
);
