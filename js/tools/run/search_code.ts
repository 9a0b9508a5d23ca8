/** The search of `search_code`. It is loaded with its first call. */
import { searchCode } from "../../backends/search/search-code.ts";
import { childOf } from "../../backends/paths.ts";
import { plural } from "../../engine/escape.ts";
import type { SearchCodeData } from "../generated/types.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import type { Answer, Call } from "../lib/tool.ts";
import { NOTE_TOKENS, TokenRoom } from "../lib/tokens.ts";
import { searchedGlobs } from "../lib/walks.ts";
import { withBestBlocks } from "../render/blocks.ts";

/** Answers a call of `search_code`. */
export async function runSearchCode(
  args: CheckedArgs["search_code"],
  call: Call,
): Promise<Answer<SearchCodeData>> {
  const root = call.locations[0]!.path;
  const { query, kind, limit } = args;
  const found = await searchCode(call.fs, root, {
    query,
    kind,
    limit,
    glob: args.glob && searchedGlobs(call, args.glob),
    ignoreFiles: call.settings.ignoreFiles,
    timeoutMs: Math.max(1, call.timer.timeLeft?.() ?? args.timeout_ms),
    signal: call.signal,
  });
  const blocks = found.blocks.map(({ path, first, last, lines }) => ({
    path: call.reader.display(childOf(root, path)),
    first_line: first,
    last_line: last,
    lines,
  }));
  const { filesSearched: files_searched, complete } = found;
  const room = new TokenRoom({ most: args.max_tokens - NOTE_TOKENS, count: call.settings.tokens });
  const data = withBestBlocks({ blocks, left_out: 0, files_searched, complete }, (text) =>
    // Below a block is an empty line.
    room.take(`${text}\n`),
  );
  const warnings =
    found.unreadable > 0 ? [`${plural(found.unreadable, "entry", "entries")} could not be read`] : [];
  return { data, warnings };
}
