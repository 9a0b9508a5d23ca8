/**
 * Orders the results of a search by relevance instead of by path: definitions of the searched name first, or
 * recently changed files first.
 *
 * Only the first `MAX_RANKED_MATCHES` matches in path order are ranked. An answer that had to stop there says that it
 * is incomplete. It has no cursor.
 */
import type { Files } from "../../backends/files.ts";
import { concurrentGroups } from "../../backends/concurrent.ts";
import { timeOf } from "../../backends/search/search.ts";
import { childOf } from "../../backends/paths.ts";
import type { FileCount, SearchMatch, SearchQuery, SearchResult } from "../../engine/search-types.ts";
import { STEPS_PER_YIELD_CHECK, sortYielding, Yielder } from "../../engine/yielder.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { utf8Length } from "../lib/text.ts";

/** The maximum number of matches, or of files, that are ranked. */
const MAX_RANKED_MATCHES = 5000;

/**
 * The bytes of one line of an answer in addition to its path and text: two separators, at least one digit of
 * the line number, and the line end.
 */
const BYTES_PER_ROW_FRAME = 4;

/**
 * Searches, and returns the results in the order of `rank`. Returns only as many as fit in `answerBytes`
 * UTF-8 bytes, and one more, because an answer cannot show more.
 */
export async function rankedGrep(
  backend: Files,
  root: string,
  query: SearchQuery & { readonly signal?: AbortSignal | undefined },
  { rank, answerBytes }: RankOptions,
): Promise<SearchResult> {
  const { maxResults: most = MAX_RANKED_MATCHES } = query;
  const yielder = new Yielder({ signal: query.signal });
  const wide = { ...query, maxResults: Math.max(most, MAX_RANKED_MATCHES) };
  const found = await backend.grep(root, wide);
  const first =
    rank === "recent"
      ? await sortByTime(backend, root, found, yielder)
      : (query.output ?? "content") === "content"
        ? { matches: await sortDefinitionsFirst(found.matches, yielder), counts: found.counts }
        : await sortDefiningFilesFirst(found, yielder, async () => {
            const lines = { ...wide, output: "content", before: 0, after: 0, context: 0 } as const;
            return (await backend.grep(root, lines)).matches;
          });
  const matches = first.matches.slice(0, most);
  const counts = query.output === "content" ? found.counts : first.counts.slice(0, most);
  const cut = found.truncated || matches.length < first.matches.length || counts.length < first.counts.length;
  const { nextCursor: _, incompleteReason, ...rest } = found;
  const reason = cut ? (incompleteReason ?? "max_results") : incompleteReason;
  const shown = firstItemsWithin(answerBytes, matches, ({ path, text, rest: more = [] }) =>
    [text, ...more].reduce((bytes, line) => bytes + utf8Length(line), utf8Length(path) + BYTES_PER_ROW_FRAME),
  );
  const shownCounts =
    query.output === "content"
      ? counts
      : firstItemsWithin(answerBytes, counts, ({ path }) => utf8Length(path) + 1);
  return withoutUndefined({
    ...rest,
    matches: shown,
    counts: shownCounts,
    truncated: cut || shown.length < matches.length || shownCounts.length < counts.length,
    complete: reason === undefined,
    incompleteReason: reason,
  });
}

/** The order of the results, and how many bytes of them are returned. */
interface RankOptions {
  readonly rank: "definitions" | "recent";
  readonly answerBytes: number;
}

interface OrderedResults {
  readonly matches: readonly SearchMatch[];
  readonly counts: readonly FileCount[];
}

/** Returns the first items whose sizes add up to at most `limit`, and the first item beyond it. */
function firstItemsWithin<T>(limit: number, items: readonly T[], bytesOf: (item: T) => number): readonly T[] {
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += bytesOf(item);
    return bytes > limit;
  });
  return end < 0 ? items : items.slice(0, end + 1);
}

async function sortDefinitionsFirst(
  matches: readonly SearchMatch[],
  yielder: Yielder,
): Promise<readonly SearchMatch[]> {
  const first: SearchMatch[] = [];
  const others: SearchMatch[] = [];
  for (const [index, match] of matches.entries()) {
    (isDefinitionAt(match.text, match.column) ? first : others).push(match);
    if (index % STEPS_PER_YIELD_CHECK === 0) await yielder.yieldIfDue();
  }
  return [...first, ...others];
}

async function sortDefiningFilesFirst(
  found: SearchResult,
  yielder: Yielder,
  lines: () => Promise<readonly SearchMatch[]>,
): Promise<OrderedResults> {
  const files = new Set<string>();
  for (const [index, match] of (await lines()).entries()) {
    if (!files.has(match.path) && isDefinitionAt(match.text, match.column)) files.add(match.path);
    if (index % STEPS_PER_YIELD_CHECK === 0) await yielder.yieldIfDue();
  }
  const defines = ({ path }: FileCount): boolean => files.has(path);
  const counts = [...found.counts.filter(defines), ...found.counts.filter((one) => !defines(one))];
  return { matches: found.matches, counts };
}

async function sortByTime(
  backend: Files,
  root: string,
  found: SearchResult,
  yielder: Yielder,
): Promise<OrderedResults> {
  const paths = [...new Set(found.counts.map(({ path }) => path))];
  const times = new Map<string, number>();
  for (const some of concurrentGroups(paths)) {
    const ask = async (path: string): Promise<void> => {
      // A file that has been deleted meanwhile counts as the oldest.
      const time = await timeOf(backend, path === "" ? root : childOf(root, path)).catch(() => 0);
      times.set(path, time);
    };
    await Promise.all(some.map(ask));
    await yielder.yieldIfDue();
  }
  // The sorts are stable: files that changed at the same time stay in path order.
  const later = (a: { readonly path: string }, b: { readonly path: string }): number =>
    (times.get(b.path) ?? 0) - (times.get(a.path) ?? 0);
  return {
    matches: await sortYielding(found.matches, later, yielder),
    counts: await sortYielding(found.counts, later, yielder),
  };
}

/**
 * Matches text that ends in a keyword of a definition, and what may stand between the keyword and the name: a
 * Go receiver, asterisks, or the `!` of `macro_rules!`.
 */
const ENDS_IN_DEFINITION_KEYWORD =
  /(?:^|[^\w$])(?:fn|func|function|def|defn|class|struct|enum|union|trait|interface|type|typedef|protocol|record|object|module|mod|namespace|package|const|static|let|var|val|macro_rules!|(?:#\s*)define|sub|impl|extension|table|view)\s+(?:\([^)]*\)\s*)?(?:mut\s+|async\s+|\*+\s*)?$/iu;
const DEFINITION_BEGINNING =
  /^(?:(?:pub(?:\([^)]*\))?|export|default|async|abstract|static|final|public|private|protected|const|unsafe|extern)\s+)*(?:fn|func|function|def|class|struct|enum|trait|interface|type|module|namespace|#\s*define)\s/u;
/** Matches a name that is assigned a function or class: `name = (…) =>`, `name: function`. */
const ASSIGNED_FUNCTION =
  /^[\w$]+\s*[:=]\s*(?:async\s+)?(?:function\b|\([^)]*\)\s*(?::[^=]+)?=>|[\w$]+\s*=>|lambda\b|class\b)/u;
/**
 * Matches the text before the name in a C function definition that begins in column 1: its type. `C_PARAMETERS`
 * matches the rest, but no prototype.
 */
const C_RETURN_TYPE = /^[A-Za-z_][\w\s*&:<>,]*[\s*&]$/u;
const C_PARAMETERS = /^[\w$~]+\s*\([^;]*$/u;
const NOT_A_C_RETURN_TYPE =
  /^(?:return|else|throw|new|await|yield|goto|case|delete|typeof|in|of|not|and|or|if|while|for)\b/u;

/**
 * Returns true when a line defines the name that was matched at `column`, judged by the words around it;
 * nothing is parsed. `column` counts code points from 1. Only the first 2,000 UTF-16 units of a line are
 * examined.
 */
export function isDefinitionAt(line: string, column: number): boolean {
  const points = Array.from(line.length > 2000 ? line.slice(0, 2000) : line);
  const whole = points.slice(0, column - 1).join("");
  const begin = (/[\w$~]*$/u.exec(whole) ?? [""])[0].length;
  const before = whole.slice(0, whole.length - begin);
  const rest = line.slice(before.length);
  if (
    ENDS_IN_DEFINITION_KEYWORD.test(before.slice(-200)) ||
    DEFINITION_BEGINNING.test(rest) ||
    ASSIGNED_FUNCTION.test(rest)
  )
    return true;
  return (
    C_RETURN_TYPE.test(before.slice(0, 200)) &&
    !NOT_A_C_RETURN_TYPE.test(before) &&
    C_PARAMETERS.test(rest.slice(0, 400))
  );
}
