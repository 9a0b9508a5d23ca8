/** The kinds of the lines of a diff, and the words that changed in them. */
import { expect, test } from "vitest";
import { classifyDiffLines } from "../../js/diff/diff-lines.ts";

const kinds = (text: string) => classifyDiffLines(text.split("\n")).map(({ kind }) => kind);
/** The changed parts of each line, in brackets. */
const marked = (...lines: readonly string[]) =>
  classifyDiffLines(["@@ -1,9 +1,9 @@", ...lines])
    .slice(1)
    .map(({ text, parts }) =>
      parts === undefined ? text : parts.map((one) => (one.changed ? `[${one.text}]` : one.text)).join(""),
    );

test("lines are told by the counts of their hunk, whatever they say", () => {
  const text =
    "Edited f\n--- a/f\n+++ b/f\n@@ -1,3 +1,2 @@ fn\n a\n--- b\n-@@ -1 +1 @@\n+++ c\n\\ No newline\n--- a/g";
  expect(kinds(text)).toEqual([
    "other",
    "file",
    "file",
    "hunk",
    "kept",
    "removed",
    "removed",
    "added",
    "note",
    "file",
  ]);
});

test.each<[string, readonly string[], readonly string[]]>([
  ["a word", ["-let a = one;", "+let a = two;"], ["-let a = [one];", "+let a = [two];"]],
  [
    "two lines for two",
    ["-let a = 1;", "-let b = 1;", "+let a = 2;", "+let b = 2;"],
    ["-let a = [1];", "-let b = [1];", "+let a = [2];", "+let b = [2];"],
  ],
  ["an added word", ["-call(a)", "+call(a, b)"], ["-call(a)", "+call(a[, b])"]],
  ["not where the lines are different ones", ["-apples", "+bears"], ["-apples", "+bears"]],
  ["not where their numbers differ", ["-let a;", "+let a;;", "+x"], ["-let a;", "+let a;;", "+x"]],
  ["not across a line that stayed", ["-let a;", " x", "+let b;"], ["-let a;", " x", "+let b;"]],
])("changed words are marked: %s", (_, lines, shown) => {
  expect(marked(...lines)).toEqual(shown);
});
