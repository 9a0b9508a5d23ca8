/** The search of `search_code`. It is loaded with its first call. */
import type { CodeBlock } from "../../engine/rank.ts";
import { utf8Length } from "../../engine/wire/bytes.ts";
import { childOf } from "../../backends/paths.ts";
import { plural } from "../../engine/escape.ts";
import type { SearchCodeData } from "../generated/types.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import type { Answer, Call } from "../lib/tool.ts";
import { searchedGlobs } from "../lib/walks.ts";

/** The number of bytes of code that count as one token. Tokenizers need 3 to 4 for code; fewer is never over. */
const BYTES_PER_TOKEN = 3.6;

/** Answers a call of `search_code`. */
export async function runSearchCode(
  args: CheckedArgs["search_code"],
  call: Call,
): Promise<Answer<SearchCodeData>> {
  const root = call.locations[0]!.path;
  const { query, kind, limit } = args;
  const found = await call.fs.searchCode(root, {
    query,
    kind,
    limit,
    glob: args.glob && searchedGlobs(call, args.glob),
    ignoreFiles: call.settings.ignoreFiles,
    timeoutMs: Math.max(1, call.timer.timeLeft?.() ?? args.timeout_ms),
    signal: call.signal,
  });
  const shown = found.blocks.map((block) => ({
    ...block,
    path: call.reader.display(childOf(root, block.path)),
  }));
  const { blocks, bytes } = firstWithin(shown, args.max_tokens * BYTES_PER_TOKEN);
  const data = {
    blocks: blocks.map(({ path, first, last, lines }) => ({
      path,
      first_line: first,
      last_line: last,
      lines,
    })),
    left_out: shown.length - blocks.length,
    tokens: Math.ceil(bytes / BYTES_PER_TOKEN),
    files_searched: found.filesSearched,
    complete: found.complete,
  };
  const warnings =
    found.unreadable > 0 ? [`${plural(found.unreadable, "entry", "entries")} could not be read`] : [];
  return { data, warnings };
}

/** Returns the first blocks whose text has at most so many bytes, the first one always. */
function firstWithin(
  all: readonly CodeBlock[],
  most: number,
): { readonly blocks: readonly CodeBlock[]; readonly bytes: number } {
  let bytes = 0;
  const blocks: CodeBlock[] = [];
  for (const block of all) {
    const size = block.lines.reduce(
      (sum, { line, text }) => sum + utf8Length(text) + `${line}`.length + 2,
      utf8Length(block.path) + `${block.first}${block.last}`.length + 4,
    );
    if (blocks.length > 0 && bytes + size > most) break;
    blocks.push(block);
    bytes += size;
  }
  return { blocks, bytes };
}
