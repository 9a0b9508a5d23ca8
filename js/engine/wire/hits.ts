/** Reading the hits of a search out of a packed result. */
import type { TextHits, TextMatch, TextQuery } from "../search-types.ts";
import { ENTRIES_PER_CHECK, type Yielder } from "../yielder.ts";
import { type Packed, type Unpacker, unpack } from "./unpack.ts";

/** Reads what `search_packed` of `crates/core/src/search/pack.rs` wrote. */
export function toHits(packed: Packed, attributed: boolean): TextHits {
  const { from, shape, ...head } = hitsHead(packed, attributed);
  const matches: TextMatch[] = [];
  // A count comes without its hits, and where their text is limited there may be fewer than were counted.
  while (!from.isAtEnd) matches.push(readMatch(from, shape, {}));
  return { matches, ...head };
}

/** The same as {@link toHits}; there may be a million hits, so they are decoded in slices. @throws CANCELLED */
export async function toHitsYielding(
  packed: Packed,
  attributed: boolean,
  yielder: Yielder,
): Promise<TextHits> {
  const { from, shape, ...head } = hitsHead(packed, attributed);
  const matches: TextMatch[] = [];
  while (!from.isAtEnd) {
    if (matches.push(readMatch(from, shape, {})) % ENTRIES_PER_CHECK === 0) await yielder.yieldIfDue();
  }
  return { matches, ...head };
}

/** Reads what comes before the hits. */
function hitsHead(
  packed: Packed,
  attributed: boolean,
): Omit<TextHits, "matches"> & { readonly from: Unpacker; readonly shape: MatchShape } {
  // Each field of what WebAssembly gives is a copy.
  const { nums, text } = packed;
  (packed as { free?(): void }).free?.();
  const from = unpack({ nums, text });
  const binary = from.flag();
  const more = from.flag();
  const total = from.num();
  const context = from.flag();
  return { from, shape: { context, attributed }, total, binary, more };
}

/** The optional fields that matches have. */
interface MatchShape {
  readonly context: boolean;
  readonly attributed: boolean;
}

/** Returns true when matches name the patterns that they belong to. */
export function isAttributed(query: Pick<TextQuery, "patterns">): boolean {
  return query.patterns !== undefined && query.patterns.length > 0;
}

/** Reads what `pack_hit` of `crates/core/src/search/pack.rs` wrote, into a copy of `base`. */
export function readMatch<Base extends object>(
  from: Unpacker,
  { context, attributed }: MatchShape,
  base: Base,
): Base & TextMatch {
  const line = from.num();
  const endLine = from.num();
  const column = from.num();
  const cut = from.flag();
  const match: Record<string, unknown> = { ...base, line, column, text: from.str() };
  if (cut) match["cut"] = true;
  if (endLine > line) {
    match["endLine"] = endLine;
    match["rest"] = Array.from({ length: endLine - line }, () => from.str());
  }
  if (context) {
    match["before"] = readLines(from);
    match["after"] = readLines(from);
  }
  if (attributed) match["patterns"] = Array.from({ length: from.num() }, () => from.num());
  return match as Base & TextMatch;
}

/** Reads a number of strings and the strings. */
export function readLines(from: Unpacker): readonly string[] {
  const lines: string[] = [];
  for (let left = from.num(); left > 0; left--) lines.push(from.str());
  return lines;
}
