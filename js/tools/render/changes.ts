/** The text of the answer of `changes_since`. */
import { escapeControls } from "../../engine/escape.ts";
import type { ChangesSinceData, FileChange } from "../generated/types.ts";
import type { ReaderNames } from "../lib/tool.ts";

/** Returns the text of the changes, each file with its hunks; what did not fit has the call that gives it. */
export function changesText({ files, unread }: ChangesSinceData, names: ReaderNames): string {
  if (files.length === 0 && unread.length === 0) return "Nothing changed.";
  const parts = files.map((file) => changeText(file, names));
  if (unread.length > 0)
    parts.push(`[not known, as it could not be read: ${unread.map(escapeControls).join(", ")}]`);
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
  const files =
    last < 0
      ? data.files.slice(0, -1)
      : data.files.map((file, index) => (index === last ? withoutShown(file) : file));
  return { ...data, files, truncated: true };
}

function withoutShown({ shown: _, ...file }: FileChange): FileChange {
  return { ...file, first_line: file.first_line ?? 1 };
}
