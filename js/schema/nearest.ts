/**
 * Finds the nearest known word to a mistyped one, for "did you mean".
 *
 * Only for small lists of short names (arguments, tools, entries of one directory). `rank` in the
 * engine ranks the paths of a whole tree.
 */

/** Returns true when the two letters before `i` in one word are those before `j` in the other, the other way round. */
function areSwapped(a: string, i: number, b: string, j: number): boolean {
  return i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
}

/**
 * Returns the edit distance of two words, in which a swap of neighbouring letters counts one; `limit + 1` when it
 * is above `limit`.
 */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    let best = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      const edited = Math.min(
        (previous[j] as number) + 1,
        (current[j - 1] as number) + 1,
        (previous[j - 1] as number) + (same ? 0 : 1),
      );
      const cost = areSwapped(a, i, b, j) ? Math.min(edited, (before[j - 2] as number) + 1) : edited;
      current.push(cost);
      if (cost < best) best = cost;
    }
    if (best > limit) return limit + 1;
    before = previous;
    previous = current;
  }
  return previous[b.length] as number;
}

/**
 * Returns the candidate that is most similar to `word`; undefined if none is similar. Case matters only between
 * equally similar ones.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  if (wanted.length === 0 || wanted.length > 255) return undefined;
  let best: string | undefined;
  let bestCost = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const other = candidate.toLowerCase();
    let cost = editDistance(wanted, other, bestCost);
    // `contents` for `content`, `config` for `config.json`: one word is a prefix of the other.
    if (
      cost >= bestCost &&
      wanted.length >= 3 &&
      other.length >= 3 &&
      (other.startsWith(wanted) || wanted.startsWith(other))
    ) {
      cost = bestCost - 0.5;
    }
    if (cost < bestCost || (cost === 0 && candidate === word)) {
      best = candidate;
      bestCost = cost;
      if (cost === 0 && candidate === word) break;
    }
  }
  return best;
}
