/** Decodes the matches of a search from a packed result. */
import type { TextHits, TextMatch, TextQuery } from "../search-types.ts";
import { STEPS_PER_YIELD_CHECK, type Yielder } from "../yielder.ts";
import { type Packed, Unpacker } from "./unpack.ts";

/**
 * Decodes what `search_packed` of `crates/core/src/search/pack.rs` wrote. `attributed`: see
 * {@link hasSeveralPatterns}.
 */
export function decodeTextHits(packed: Packed, attributed: boolean): TextHits {
  const { from, shape, ...head } = decodeHitsHead(packed, attributed);
  const matches: TextMatch[] = [];
  // The list may be shorter than the count: empty when only a count was requested, or ended by a limit of
  // size.
  while (!from.isAtEnd) matches.push(decodeMatch(from, shape, {}));
  return { matches, ...head };
}

/**
 * Like {@link decodeTextHits}, but lets other tasks run in between, because there may be a million matches. @throws
 * CANCELLED
 */
export async function decodeTextHitsYielding(
  packed: Packed,
  attributed: boolean,
  yielder: Yielder,
): Promise<TextHits> {
  const { from, shape, ...head } = decodeHitsHead(packed, attributed);
  const matches: TextMatch[] = [];
  while (!from.isAtEnd) {
    if (matches.push(decodeMatch(from, shape, {})) % STEPS_PER_YIELD_CHECK === 0) await yielder.yieldIfDue();
  }
  return { matches, ...head };
}

/** Decodes the fields that precede the matches. */
function decodeHitsHead(
  packed: Packed,
  attributed: boolean,
): Omit<TextHits, "matches"> & { readonly from: Unpacker; readonly shape: MatchShape } {
  // Each access to a field of a WebAssembly result copies it, so each is read once.
  const { nums, text } = packed;
  (packed as { free?(): void }).free?.();
  const from = new Unpacker({ nums, text });
  const binary = from.num() === 1;
  const more = from.num() === 1;
  const total = from.num();
  const context = from.num() === 1;
  return { from, shape: { context, attributed }, total, binary, more };
}

/** Which optional fields the packed matches have. */
interface MatchShape {
  readonly context: boolean;
  readonly attributed: boolean;
}

/** Returns true if the query has `patterns`; then each match has the indexes of those that matched. */
export function hasSeveralPatterns(query: Pick<TextQuery, "patterns">): boolean {
  return query.patterns !== undefined && query.patterns.length > 0;
}

/**
 * Decodes one match, which `pack_hit` of `crates/core/src/search/pack.rs` wrote. Returns a copy of `base`
 * with its fields.
 */
export function decodeMatch<Base extends object>(
  from: Unpacker,
  { context, attributed }: MatchShape,
  base: Base,
): Base & TextMatch {
  const line = from.num();
  const endLine = from.num();
  const column = from.num();
  const cut = from.num() === 1;
  const match: Record<string, unknown> = { ...base, line, column, text: from.str() };
  if (cut) match["cut"] = true;
  if (endLine > line) {
    match["endLine"] = endLine;
    match["rest"] = Array.from({ length: endLine - line }, () => from.str());
  }
  if (context) {
    match["before"] = decodeLines(from);
    match["after"] = decodeLines(from);
  }
  if (attributed) match["patterns"] = from.list(() => from.num());
  return match as Base & TextMatch;
}

/** Decodes a list of strings: their number, then each of them. */
export function decodeLines(from: Unpacker): readonly string[] {
  return from.list(() => from.str());
}
