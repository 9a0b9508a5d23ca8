/** The parts of a change that a reviewer may take. */
import { expect, test } from "vitest";
import { createTwoFilesPatch } from "../../js/diff/index.node.ts";
import { selectableHunksOf } from "../../js/hooks/hunks.ts";

const change = (originalContent: string, newContent: string) => ({
  originalContent,
  newContent,
  fileDiff: createTwoFilesPatch("f", "f", originalContent, newContent, "", "", { context: 1 }),
});
const lines = (count: number): string => Array.from({ length: count }, (_, at) => `${at}\n`).join("");

test.each<[string, string, string, readonly string[]]>([
  ["changed lines", lines(20), lines(20).replace("3\n", "x\n").replace("15\n", "y\nz\n"), ["x", "y"]],
  ["a first line and an end without a line end", lines(9), `new\n${lines(9)}end`, ["new", "end"]],
  ["removed lines", lines(9), lines(9).replace("0\n", "").replace("8\n", ""), ["-0", "-8"]],
  ["other line ends", "a\r\nb\r\nc\r\nd\r\ne\r\n", "A\r\nb\r\nc\r\nd\r\nE\r\n", ["A", "E"]],
  ["lines like headers", `-- a\n${lines(9)}b\n`, `++ a\n${lines(9)}@@ -1 +1 @@\n`, ["++ a", "@@ -1"]],
])("are separate hunks: %s", (_, before, after, marks) => {
  const hunks = selectableHunksOf(change(before, after));
  expect(hunks?.shown).toHaveLength(2);
  for (const [index, mark] of marks.entries()) expect(hunks?.shown[index]?.join("\n")).toContain(mark);
  expect(hunks?.take([false, false])).toBe(before);
  expect(hunks?.take([true, true])).toBe(after);
  const [first, second] = [hunks?.take([true, false]), hunks?.take([false, true])];
  expect(new Set([before, after, first, second]).size).toBe(4);
});

test("there are none where the change has one hunk, or its diff is not that of the contents", () => {
  expect(selectableHunksOf(change(lines(9), lines(9).replace("3", "x")))).toBeUndefined();
  expect(selectableHunksOf({ ...change("", "a\n"), originalContent: null })).toBeUndefined();
  const two = change(lines(20), lines(20).replace("3\n", "x\n").replace("15\n", "y\n"));
  expect(selectableHunksOf({ ...two, newContent: `${two.newContent}more\n` })).toBeUndefined();
  expect(
    selectableHunksOf({ ...two, fileDiff: two.fileDiff.split("@@ -15").join("@@ -14") }),
  ).toBeUndefined();
});
