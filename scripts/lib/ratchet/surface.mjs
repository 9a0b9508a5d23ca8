// Counts what a user has to learn: the entries of the package and the rows of options.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The page that `npm run options` prints; a test holds it to the tables of options. */
const OPTIONS_PAGE = "docs/reference/options.md";

/** Returns the number of keys of `exports` in package.json, without its own manifest. */
function entryCount(root) {
  const { exports = {} } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.keys(exports).filter((key) => key !== "./package.json").length;
}

/** Returns the number of rows of the page of options that describe an option. */
function optionCount(root) {
  const page = join(root, OPTIONS_PAGE);
  return existsSync(page) ? (readFileSync(page, "utf8").match(/^\| `/gm) ?? []).length : 0;
}

/**
 * Returns the numbers of entries and of options, each as one row.
 * @returns {Record<"entries" | "options", import("./list.mjs").Offender[]>}
 */
export const surfaceOffenders = (root) => ({
  entries: [{ path: "package.json", name: "exports", figure: entryCount(root) }],
  options: [{ path: OPTIONS_PAGE, name: "", figure: optionCount(root) }],
});
