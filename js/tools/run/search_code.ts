/** The search of `search_code`. It is loaded with its first call. */
import { searchCode } from "../../backends/search/search-code.ts";
import { childOf } from "../../backends/paths.ts";
import { plural } from "../../engine/escape.ts";
import { RANK_LIMITS } from "../../engine/generated/records.ts";
import type { CodeSearchResult } from "../../engine/search-types.ts";
import type { SearchCodeData } from "../generated/types.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import type { Answer, Call } from "../lib/tool.ts";
import { assertWellFormed } from "../lib/text.ts";
import { NOTE_TOKENS, TokenRoom } from "../lib/tokens.ts";
import { type CoveredQuery, findLeftOut } from "../lib/left-out-entry.ts";
import { searchedGlobs } from "../lib/walks.ts";
import { closedRootsNote, coveredRoots } from "../every-root.ts";
import { withBestBlocks } from "../render/blocks.ts";
import { leftOutNote, otherRootsNote } from "../render/left-out.ts";

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
  const others =
    roots.length > 1 || covered.closed.length > 0
      ? closedRootsNote(covered, "searched")
      : otherRootsNote(blocks.length, roots[0] as string, call.reach.summary);
  const { unreadable } = found;
  const notes = [
    await largeNote(found, roots, { glob, ignoreFiles }, call),
    unreadable > 0 ? `${plural(unreadable, "entry", "entries")} could not be read` : undefined,
    others,
  ];
  return { data, warnings: notes.filter((note) => note !== undefined) };
}

/** Returns a note about the files that are too large to be ranked, with the name of the first; undefined without any. */
async function largeNote(
  { skippedLarge }: CodeSearchResult,
  roots: readonly string[],
  query: CoveredQuery,
  call: Call,
): Promise<string | undefined> {
  if (skippedLarge === 0) return undefined;
  const above = RANK_LIMITS.maxRankedBytes;
  const note = leftOutNote(
    skippedLarge,
    "searched",
    (await findLeftOut(call, roots, query, { files: true, above })) ?? {
      path: "the first",
      reason: "over 1 MiB",
    },
  );
  return `${note}; grep searches ${skippedLarge === 1 ? "it" : "them"}`;
}
