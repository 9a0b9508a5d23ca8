/** The search of `search_code`. It is loaded with its first call. */
import { searchCode } from "../../backends/search/search-code.ts";
import { childOf } from "../../backends/paths.ts";
import { plural } from "../../engine/escape.ts";
import { RANK_LIMITS } from "../../engine/generated/records.ts";
import type { SearchCodeData } from "../generated/types.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import type { Answer, Call } from "../lib/tool.ts";
import { BYTES_PER_MIB } from "../lib/limits.ts";
import { assertWellFormed } from "../lib/text.ts";
import { NOTE_TOKENS, TokenRoom } from "../lib/tokens.ts";
import { searchedGlobs } from "../lib/walks.ts";
import { coveredRoots, leftOutRootsNote } from "../every-root.ts";
import { withBestBlocks } from "../render/blocks.ts";
import { leftOutNote } from "../render/left-out.ts";

/** Answers a call of `search_code`. */
export async function runSearchCode(
  args: CheckedArgs["search_code"],
  call: Call,
): Promise<Answer<SearchCodeData>> {
  const { query, kind, limit } = args;
  assertWellFormed("query", query);
  const known = new Set(args.known.map((hash) => hash.replace("#", "")));
  const covered = await coveredRoots(args.path, call);
  const roots = covered.roots.map(({ path }) => path);
  const glob = args.glob && searchedGlobs(call, args.glob);
  const { ignoreFiles } = call.settings;
  const found = await searchCode(call.fs, roots, {
    query,
    kind,
    limit,
    glob,
    ignoreFiles,
    timeoutMs: Math.max(1, call.timer.timeLeft?.() ?? args.timeout_ms),
    signal: call.signal,
  });
  const blocks = found.blocks.map(({ root, path, first, last, hash, lines }) => ({
    path: call.reader.display(childOf(roots[root] as string, path)),
    first_line: first,
    last_line: last,
    hash,
    known: known.has(hash),
    lines: known.has(hash) ? [] : lines,
  }));
  const { filesSearched: files_searched, complete } = found;
  const room = new TokenRoom({ most: args.max_tokens - NOTE_TOKENS, count: call.settings.tokens });
  const data = withBestBlocks({ blocks, left_out: 0, files_searched, complete }, "max_tokens", (text) =>
    // Below a block is an empty line.
    room.take(`${text}\n`),
  );
  const { unreadable, skippedLarge: skipped } = found;
  const large = leftOutNote(skipped, "searched", {
    path: call.reader.display(childOf(roots[found.largeRoot] as string, found.firstLarge)),
    reason: `over ${RANK_LIMITS.maxRankedBytes / BYTES_PER_MIB} MiB`,
  });
  const notes = [
    large && `${large}; grep searches ${skipped === 1 ? "it" : "them"}`,
    unreadable > 0 ? `${plural(unreadable, "entry", "entries")} could not be read` : undefined,
    leftOutRootsNote(covered, blocks.length, call),
  ];
  return { data, warnings: notes.filter((note) => note !== undefined) };
}
