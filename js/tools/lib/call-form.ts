/**
 * Finds the closing tags of a tool call at the end of what a model sent as content. Some models write them once too
 * often, and they would stay in the file without a word.
 */

/** Names of elements that call forms have. A content that opens one itself is meant as it is. */
const CALL_ELEMENTS = [
  ...[
    "parameter",
    "invoke",
    "function_calls",
    "function_call",
    "function",
    "tool_call",
    "tool_calls",
    "tool_use",
  ],
  ...["arguments", "args", "content", "file_content", "file_text", "text", "code", "new_text", "new_string"],
  ...[
    "new_str",
    "newText",
    "newString",
    "replacement",
    "replace",
    "diff",
    "patch",
    "write_to_file",
    "write_file",
  ],
  ...[
    "create_file",
    "edit_file",
    "replace_in_file",
    "insert_content",
    "apply_diff",
    "str_replace",
    "antArtifact",
  ],
];
const CLOSING_TAGS = new RegExp(
  String.raw`(?:\s*(?:</(?:[\w-]+:)?(?:${CALL_ELEMENTS.join("|")})>|<\|[a-z_]{2,30}\|>))+\s*$`,
  "u",
);
/** The number of UTF-16 units at the end of a content that are looked at. */
const LOOKED_AT_UNITS = 300;

/** Returns the closing tags at the end of a content that nothing in it opens; undefined without any. */
function strayClosingTags(content: string): string | undefined {
  const [tags] = CLOSING_TAGS.exec(content.slice(-LOOKED_AT_UNITS)) ?? [];
  if (tags === undefined) return undefined;
  const before = content.slice(0, content.length - tags.length);
  const [, first] = /<\/?([\w:-]+)/u.exec(tags) ?? [];
  const isOpened = first !== undefined && new RegExp(String.raw`<${first}[\s>]`, "u").test(before);
  return isOpened ? undefined : tags.trim().replaceAll(/\s+/gu, "");
}

/** Returns a warning when a content ends in tags of a call; undefined otherwise. */
export function closingTagWarning(content: string): string | undefined {
  const tags = strayClosingTags(content);
  return tags === undefined
    ? undefined
    : `the content ends in ${tags}, which closes a call and is in the file now; take it out unless it belongs there`;
}
