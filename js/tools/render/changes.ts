/** The text of the answer of `changes_since`. */
import { escapeControls, plural } from "../../engine/escape.ts";
import type { ChangesSinceData, FileChange } from "../generated/types.ts";
import type { ReaderNames } from "../lib/tool.ts";

/** The most files that a text names because they could not be read. */
const MAX_UNREAD_NAMED = 5;

/** Returns the text of the changes, each file with its hunks; what did not fit has the call that gives it. */
export function changesText(
  { files, unread, left_out: left }: ChangesSinceData,
  names: ReaderNames,
  since = "read",
): string {
  if (files.length === 0 && unread.length === 0 && left === 0)
    return since === "read"
      ? "Nothing changed."
      : "No recorded call changed anything; what other programs write is not recorded.";
  const parts = files.map((file) => changeText(file, names));
  if (left > 0) parts.push(`[${plural(left, "more file")}; give a path below, or a larger max_tokens]`);
  if (unread.length > 0) {
    const named = unread.slice(0, MAX_UNREAD_NAMED).map(escapeControls).join(", ");
    const more = unread.length - MAX_UNREAD_NAMED;
    parts.push(`[not known, as it could not be read: ${named}${more > 0 ? ` and ${more} more` : ""}]`);
  }
  return parts.join("\n");
}

function changeText(
  { path, what, lines, by, shown, first_line: first }: FileChange,
  names: ReaderNames,
): string {
  const head = `${escapeControls(path)} ${what}: ${lines === undefined ? "" : `${lines}, `}by ${by}`;
  const text = shown === undefined ? head : `${head}\n${shown}`;
  const read = names.tool("read_file");
  return first === undefined || read === undefined
    ? text
    : `${text}\n[the rest is not shown; see it with ${read}: path="${escapeControls(path)}", start_line=${first}]`;
}

/** Returns the data with one file fewer that is shown, from the end; with one fewer at all, when none is. */
export function withoutLast(data: ChangesSinceData): ChangesSinceData {
  const last = data.files.findLastIndex(({ shown }) => shown !== undefined);
  if (last < 0) {
    const files = data.files.slice(0, -1);
    const dropped = data.files.length - files.length;
    return { ...data, files, truncated: true, left_out: data.left_out + dropped };
  }
  const files = data.files.map((file, index) => (index === last ? withoutShown(file) : file));
  return { ...data, files, truncated: true };
}

function withoutShown({ shown: _, ...file }: FileChange): FileChange {
  return { ...file, first_line: file.first_line ?? 1 };
}
