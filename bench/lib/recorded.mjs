// Compares measured rows with those that the README's table "Measured" records.

/**
 * How many times slower than recorded a row may be. The README tells by how much machines of one kind
 * differed; another kind of machine differs no less.
 */
const MAX_SLOWDOWN = 3;

/**
 * Returns how many times faster each row of the table is, by the key in its command.
 *
 * @param {string} readme
 * @returns {ReadonlyMap<string, number>}
 */
export function recordedFigures(readme) {
  const row =
    /^\|[^|]*\| (\d+(?:\.\d+)?) times (?:faster|as fast) \|.*`npm run bench -- --row ([\w-]+)` \|$/gmu;
  return new Map([...readme.matchAll(row)].map(([, figure, key]) => [key, Number(figure)]));
}

/**
 * Returns a line for each row that is much slower than recorded, failed, or is not recorded. A row that
 * was skipped is a complaint too, since it would hide every loss of speed.
 *
 * @param {readonly { group: string, name: string, faster?: number, skipped?: string, failed?: string }[]} results
 *   rows as bench/run.mjs collects them; those of other groups are not compared
 * @param {ReadonlyMap<string, number>} figures by the key, which begins the name of a row
 */
export function findSlowRows(results, figures) {
  return results
    .filter(({ group }) => group === "readme")
    .flatMap(({ name, faster, skipped, failed }) => {
      const [key] = name.split(":");
      const recorded = figures.get(key);
      if (failed !== undefined || skipped !== undefined)
        return [`${key}: not measured: ${failed ?? skipped}`];
      if (recorded === undefined) return [`${key}: the README has no figure`];
      if (faster * MAX_SLOWDOWN >= recorded) return [];
      return [`${key}: ${faster.toFixed(2)} times faster, but ${recorded} are recorded`];
    });
}
