/** The blocks of an answer of `search_code`: their text, and as many as there is room for. */
import { escapeControls, plural } from "../../engine/escape.ts";
import type { FoundBlock, SearchCodeData } from "../generated/types.ts";

/** Returns the text of a block: its place and its hash, its lines with their numbers, and how many are missing. */
export function blockText({
  path,
  first_line: first,
  last_line: last,
  hash,
  known,
  lines,
  lines_left_out: missing = 0,
}: FoundBlock): string {
  const place = `${escapeControls(path)}:${first}-${last} #${hash}${known ? " (known)" : ""}`;
  return [place, ...lines.map(lineText), ...(missing > 0 ? [missingText(missing)] : [])].join("\n");
}

const missingText = (missing: number): string => `[${plural(missing, "line")} of this block left out]`;

const lineText = ({ line, text }: FoundBlock["lines"][number]): string => `${line}:${text}`;

/**
 * Returns the data with its best blocks: those before the first one of which `take` does not take the text. The very
 * first is never left out; where it is not taken whole, it has as many of its lines as are taken. `by` is the limit that
 * leaves out the others.
 */
export function withBestBlocks(
  data: SearchCodeData,
  by: NonNullable<SearchCodeData["left_out_by"]>,
  take: (text: string) => boolean,
): SearchCodeData {
  const end = data.blocks.findIndex((block) => !take(blockText(block)));
  if (end === -1) return data;
  const blocks = end === 0 ? [shortened(data.blocks[0] as FoundBlock, take)] : data.blocks.slice(0, end);
  const left_out = data.left_out + data.blocks.length - blocks.length;
  return { ...data, blocks, left_out, left_out_by: by };
}

function shortened(block: FoundBlock, take: (text: string) => boolean): FoundBlock {
  take(blockText({ ...block, lines: [] }));
  const { lines, lines_left_out: missing = 0 } = block;
  take(missingText(missing + lines.length));
  const end = lines.findIndex((line) => !take(lineText(line)));
  if (end === -1) return block;
  return { ...block, lines: lines.slice(0, end), lines_left_out: missing + lines.length - end };
}
