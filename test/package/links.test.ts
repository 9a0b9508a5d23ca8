/** Every relative link of a documentation page leads to a file, and its fragment to a heading. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const pages = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"], {
  cwd: root,
  encoding: "utf8",
})
  .trim()
  .split("\n")
  .filter((page) => existsSync(join(root, page)));

/** Returns a page without its code. */
const textOf = (page: string): string =>
  readFileSync(join(root, page), "utf8")
    .replaceAll(/^```.*?^```$/gmsu, "")
    .replaceAll(/`[^`\n]*`/gu, (code) => code.replaceAll(/[[\]]/gu, ""));

/** Returns the fragments of the headings of a page, as GitHub makes them. */
function fragments(page: string): ReadonlySet<string> {
  const headings = [...textOf(page).matchAll(/^#+ (.*)$/gmu)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{Letter}\p{Number}\p{Mark} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
  return new Set(headings);
}

test("links between pages lead somewhere", () => {
  let count = 0;
  const broken: string[] = [];
  for (const page of pages) {
    for (const [, target = ""] of textOf(page).matchAll(/\]\(([^)\s]+)\)/gu)) {
      if (/^[a-z]+:/u.test(target)) continue;
      count += 1;
      const [path = "", fragment] = target.split("#");
      const file = path === "" ? page : join(dirname(page), path);
      if (!existsSync(join(root, file))) broken.push(`${page}: ${target}`);
      else if (fragment !== undefined && file.endsWith(".md") && !fragments(file).has(fragment))
        broken.push(`${page}: ${target}`);
    }
  }
  expect(broken).toEqual([]);
  expect(count).toBeGreaterThan(100);
});
