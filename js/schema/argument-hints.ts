/**
 * The argument names of other systems, so that an error can suggest the argument that was meant. They are not
 * accepted, unlike aliases.
 */
import { nearest } from "./nearest.ts";

/**
 * For each name of another system, in lower case, the arguments here that it may mean. The first one that the tool
 * has is suggested.
 */
const ARGUMENT_HINTS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    offset: ["start_line", "cursor"],
    limit: ["max_lines", "max_results", "limit"],
    head_limit: ["max_results"],
    old_string: ["old_text"],
    oldtext: ["old_text"],
    old_content: ["old_text"],
    search: ["old_text", "pattern"],
    new_string: ["new_text"],
    newtext: ["new_text"],
    new_content: ["new_text", "content"],
    replace: ["new_text"],
    replacement: ["new_text"],
    text: ["content"],
    data: ["content"],
    file: ["path", "source"],
    file_path: ["path", "source"],
    filepath: ["path", "source"],
    filename: ["path"],
    directory: ["path"],
    dir: ["path"],
    dir_path: ["path"],
    folder: ["path"],
    root: ["path"],
    query: ["pattern"],
    pattern: ["query"],
    name: ["query"],
    regexp: ["pattern"],
    include: ["glob"],
    exclude_patterns: ["exclude"],
    excludepatterns: ["exclude"],
    ignore_case: ["case"],
    case_sensitive: ["case"],
    output_mode: ["output"],
    force: ["overwrite", "recursive"],
    recurse: ["recursive", "depth"],
    from: ["source"],
    src: ["source"],
    to: ["destination"],
    dst: ["destination"],
    dest: ["destination"],
    target: ["destination", "path"],
    input: ["patch", "content"],
    diff: ["patch"],
    arguments: ["args"],
    params: ["args"],
    parameters: ["args"],
    calls: ["operations"],
    contents: ["content"],
    file_text: ["content"],
    old_str: ["old_text"],
    new_str: ["new_text"],
    line: ["start_line"],
    line_start: ["start_line"],
  }),
);

/** Returns the argument that an unknown name most likely means; undefined if none is similar. */
export function suggestArgument(key: string, names: readonly string[]): string | undefined {
  return ARGUMENT_HINTS.get(key.toLowerCase())?.find((name) => names.includes(name)) ?? nearest(key, names);
}
