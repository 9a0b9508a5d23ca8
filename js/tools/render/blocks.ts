/** The blocks of an answer of `search_code`: their text, and as many as there is room for. */
import { escapeControls } from "../../engine/escape.ts";
import type { FoundBlock, SearchCodeData } from "../generated/types.ts";

/** Returns the text of a block: its place, then its lines with their numbers. */
export function blockText({ path, first_line: first, last_line: last, lines }: FoundBlock): string {
  return [`${escapeControls(path)}:${first}-${last}`, ...lines.map(lineText)].join("\n");
}

const lineText = ({ line, text }: FoundBlock["lines"][number]): string => `${line}:${text}`;

/**
 * Returns the data with its best blocks: those before the first one of which `take` does not take the text. The very
 * first is never left out; where it is not taken whole, it has as many of its lines as are taken.
 */
export function withBestBlocks(data: SearchCodeData, take: (text: string) => boolean): SearchCodeData {
  const end = data.blocks.findIndex((block) => !take(blockText(block)));
  if (end === -1) return data;
  const blocks = end === 0 ? [shortened(data.blocks[0] as FoundBlock, take)] : data.blocks.slice(0, end);
  return { ...data, blocks, left_out: data.left_out + data.blocks.length - blocks.length };
}

function shortened(block: FoundBlock, take: (text: string) => boolean): FoundBlock {
  take(blockText({ ...block, lines: [] }));
  const end = block.lines.findIndex((line) => !take(lineText(line)));
  return end === -1 ? block : { ...block, lines: block.lines.slice(0, end) };
}
