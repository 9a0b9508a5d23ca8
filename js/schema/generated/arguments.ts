// The arguments of each tool, written by `npm run tool-types`, not to be edited.

/** The names of the arguments, by the name of the tool. */
export const ARGUMENTS_BY_TOOL: Readonly<Record<string, readonly string[]>> = {
  read_file: ["path","start_line","max_lines","max_tokens","known_hash","max_line_chars","line_numbers","encoding","non_text","anchors","force_text","start_byte","pages","symbol","json_pointer"],
  read_many_files: ["paths","include","exclude","use_default_excludes","respect_ignore","recursive","max_files","max_total_bytes","max_tokens","known_hashes","separator","non_text","timeout_ms"],
  write_file: ["path","content","overwrite","create_dirs","append","encoding","content_encoding","eol","mode","expected_hash","whole_file"],
  edit_file: ["path","edits","old_text","new_text","replace_all","expected_matches","near_line","from","to","insert","json_pointer","symbol","dry_run","match","threshold","on_multiple","expected_hash","whole_file"],
  apply_patch: ["patch","path","strip","fuzz","reverse","dry_run"],
  diff: ["a","b","content_b","context","ignore_whitespace","format","timeout_ms"],
  list_directory: ["path","depth","hidden","ignore","respect_ignore","sort","order","limit","cursor","format","max_tokens","timeout_ms"],
  glob: ["pattern","path","exclude","type","case_sensitive","hidden","respect_ignore","sort","recency_ms","limit","cursor","max_tokens","timeout_ms"],
  find_files: ["query","path","rank","respect_ignore","limit","timeout_ms"],
  grep: ["pattern","path","glob","exclude","file_types","regex","case","word","multiline","before","after","context","output","rank","max_results","max_per_file","max_line_chars","hidden","respect_ignore","cursor","max_tokens","timeout_ms"],
  outline: ["path","depth","max_tokens","anchors","hidden","respect_ignore","timeout_ms"],
  search_code: ["query","path","glob","kind","max_tokens","limit","known","timeout_ms"],
  find_symbol: ["name","path","glob","uses","max_tokens","timeout_ms"],
  stat: ["path","follow","hash"],
  changes_since: ["since","path","by","max_tokens"],
  copy: ["source","destination","overwrite","create_dirs","timeout_ms"],
  move: ["source","destination","overwrite","create_dirs","timeout_ms"],
  delete: ["path","recursive","missing_ok","timeout_ms"],
  mkdir: ["path","parents","exist_ok"],
  batch: ["operations","atomic","dry_run"],
  access_info: [],
  run_command: ["command","shell","cwd","timeout_ms","max_output_bytes"],
  undo: ["call_id"],
  history: ["path","limit","cursor"],
};
