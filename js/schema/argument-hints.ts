/**
 * The argument names of other systems, so that an error can suggest the argument that was meant. They are not
 * accepted, unlike aliases.
 */
import { nearest } from "./nearest.ts";

/**
 * Names with one meaning, over the systems that models have learnt, in the spelling without separators and capitals.
 * Whatever the tool calls it, a name of the list is taken for another one of the same list.
 */
const NAMES_BY_MEANING: readonly (readonly string[])[] = [
  [
    ...["oldtext", "oldstring", "oldstr", "oldcontent", "oldcode", "oldlines", "old", "original"],
    ...["originaltext", "search", "searchtext", "searchstring", "find", "findtext", "before", "textbefore"],
  ],
  [
    ...["newtext", "newstring", "newstr", "newcontent", "newcode", "newlines", "new", "updated", "replace"],
    ...[
      "replacement",
      "replacementtext",
      "replacetext",
      "replacewith",
      "replacestring",
      "after",
      "textafter",
    ],
  ],
  [
    ...["path", "filepath", "file", "filename", "absolutepath", "relativepath", "relativeworkspacepath"],
    ...[
      "targetfile",
      "targetpath",
      "fullpath",
      "uri",
      "directory",
      "dir",
      "dirpath",
      "directorypath",
      "folder",
    ],
    ...["targetdirectory", "root", "notebookpath", "paths", "filepaths", "files"],
  ],
  ["content", "contents", "filetext", "filecontent", "filecontents", "text", "data", "body", "codeedit"],
  ["edits", "changes", "replacements", "modifications", "operations"],
  ["patch", "diff", "patchtext", "unifieddiff", "input"],
  ["pattern", "regex", "regexp", "query", "searchpattern"],
  ["startline", "linestart", "fromline", "start", "line", "offset", "startlineoneindexed"],
  ["endline", "lineend", "toline", "end", "endlineoneindexedinclusive"],
  ["source", "from", "src", "oldpath", "sourcepath"],
  ["destination", "to", "dst", "dest", "newpath", "target", "destinationpath"],
  ["replaceall", "all", "global", "allowmultiple"],
];

const meaningsOf = new Map<string, readonly string[]>();
for (const names of NAMES_BY_MEANING) for (const name of names) meaningsOf.set(name, names);

/**
 * For each name of another system, in lower case, the arguments here that it may mean besides. The first one that the
 * tool has is suggested.
 */
const ARGUMENT_HINTS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    offset: ["start_line", "cursor"],
    limit: ["max_lines", "max_results", "limit"],
    head_limit: ["max_results"],
    search: ["pattern"],
    new_content: ["content"],
    file: ["source"],
    file_path: ["source"],
    filepath: ["source"],
    pattern: ["query"],
    name: ["query"],
    include: ["glob"],
    exclude_patterns: ["exclude"],
    excludepatterns: ["exclude"],
    ignore_case: ["case"],
    case_sensitive: ["case"],
    output_mode: ["output"],
    force: ["overwrite", "recursive"],
    recurse: ["recursive", "depth"],
    target: ["path"],
    input: ["content"],
    arguments: ["args"],
    params: ["args"],
    parameters: ["args"],
    calls: ["operations"],
  }),
);

const withoutSeparators = (name: string): string => name.toLowerCase().replaceAll(/[_-]/gu, "");

/**
 * Returns the name that means what an unknown name means in other systems; undefined without one. Unlike
 * {@link suggestArgument} it does not guess by the spelling.
 */
export function argumentOfMeaning(key: string, names: readonly string[]): string | undefined {
  const plain = withoutSeparators(key);
  const same = names.find((name) => withoutSeparators(name) === plain);
  if (same !== undefined) return same;
  const meant = meaningsOf.get(plain) ?? [];
  return (
    names.find((name) => meant.includes(withoutSeparators(name))) ??
    ARGUMENT_HINTS.get(key.toLowerCase())?.find((name) => names.includes(name))
  );
}

/** Returns the argument that an unknown name most likely means; undefined if none is similar. */
export function suggestArgument(key: string, names: readonly string[]): string | undefined {
  return argumentOfMeaning(key, names) ?? nearest(key, names);
}
