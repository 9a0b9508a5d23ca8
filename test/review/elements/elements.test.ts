/** The parts of the elements that need no browser: what a patch looks like, and the style in a shadow root. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { rowsOfPatch } from "../../../js/review/page/elements/patch.ts";
import { elementStyle } from "../../../scripts/lib/element-style.mjs";

const root = resolve(import.meta.dirname, "../../..");

describe("rowsOfPatch", () => {
  it("reads the files of a patch with their kinds, names and hunks", () => {
    const patch = `diff --git a/a.txt b/a.txt
index 1..2 100644
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@ heading
 one
-two
+deux
@@ -9 +9,2 @@
-nine
\\ No newline at end of file
+neuf
+dix
--- /dev/null\t2026-01-01
+++ b/new.txt\t2026-01-01
@@ -0,0 +1,1 @@
+-- a text that looks like a head
--- a/old.txt
+++ /dev/null
@@ -1,1 +0,0 @@
--- and this
--- a/from.txt
+++ b/to.txt
`;
    const files = rowsOfPatch(patch);
    expect(files.map(({ change }) => [change.kind, change.path, change.added, change.removed])).toEqual([
      ["edit", "a.txt", 3, 2],
      ["create", "new.txt", 1, 0],
      ["delete", "old.txt", 0, 1],
      ["move", "to.txt", 0, 0],
    ]);
    expect(files[0]?.hunks).toEqual([
      { oldStart: 1, newStart: 1, oldLines: 2, newLines: 2, lines: " one\n-two\n+deux" },
      {
        oldStart: 9,
        newStart: 9,
        oldLines: 1,
        newLines: 2,
        lines: "-nine\n\\ No newline at end of file\n+neuf\n+dix",
      },
    ]);
    expect(files[2]?.hunks[0]?.lines).toBe("--- and this");
    expect(files[3]?.change.from).toBe("from.txt");
  });

  it.each(["", "no patch\n", "--- a\n", "--- a\n+++ b\n@@ nonsense\n"])(
    "draws nothing of %j that is no hunk",
    (text) => {
      expect(rowsOfPatch(text).flatMap(({ hunks }) => hunks)).toEqual([]);
    },
  );
});

describe("the style of the elements", () => {
  const css = readFileSync(`${root}/js/review/page/review.css`, "utf8");
  const { rules, properties } = elementStyle(css);

  it("takes each colour from the page around, with a default for both colour schemes", () => {
    expect(rules).toContain("--ground: var(--filewright-ground, light-dark(#ffffff, #131416));");
    expect(rules).not.toMatch(/:root|prefers-color-scheme|@media \(width/u);
    expect(rules).toContain("@container (width < 900px)");
  });

  it("names its properties in the guide", () => {
    const guide = readFileSync(`${root}/docs/guides/elements.md`, "utf8");
    expect(properties.filter((name) => !guide.includes(`\`--filewright-${name}\``))).toEqual([]);
  });

  it("says so when the style of the page has another form", () => {
    expect(() => elementStyle("body { color: red }")).toThrow("another form");
  });
});
