/** The text of the answer of `read_many_files`. */
import { escapeControls } from "../../engine/escape.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import type { ReadManyFilesData, ReadOne, SkippedOne } from "../generated/types.ts";

/** The maximum number of skipped paths that the text names; further ones are counted. */
const MAX_SHOWN_SKIPS = 5;

/** Returns the contents of the files one after the other, each behind a line with its path, and what was skipped. */
export function readManyFilesText(
  data: ReadManyFilesData,
  { separator }: Pick<CheckedArgs["read_many_files"], "separator">,
): string {
  const sections = data.files.map((file) => {
    const head = separator.replaceAll("{filePath}", escapeControls(file.path));
    if (file.unchanged === true) return `${head}\n\n[unchanged]\n`;
    const content = file.content.replace(/\r\n/gu, "\n").replace(/\n$/u, "");
    return `${head}\n\n${content}\n${file.truncated ? `${truncatedFileNote(file)}\n` : ""}`;
  });
  if (data.files.length === 0) sections.push("No files were read.");
  if (data.skipped.length > 0) sections.push(formatSkippedPaths(data.skipped));
  return sections.join("\n");
}

/** Returns the note that only the beginning of a file is included. */
function truncatedFileNote({ lines_read: read, total_lines: total }: ReadOne): string {
  return `[truncated: the first ${read} of ${total ?? "more"} lines; read_file goes on]`;
}

function formatSkippedPaths(skipped: readonly SkippedOne[]): string {
  const lines = skipped
    .slice(0, MAX_SHOWN_SKIPS)
    .map(({ path, reason }) => `- ${escapeControls(path)}: ${escapeControls(reason)}`);
  const more = skipped.length - lines.length;
  if (more > 0) lines.push(`… and ${more} more`);
  return `Skipped ${skipped.length}:\n${lines.join("\n")}`;
}
