// Text and its bytes give one diff, whatever it holds and however long it is.
import { expect, test } from "vitest";
import { diff } from "../../js/engine/index.node.ts";

const numbered = (lines: number, line: (i: number) => string): string =>
  Array.from({ length: lines }, (_, i) => `${line(i)}\n`).join("");

const CASES: ReadonlyArray<readonly [name: string, before: string, after: string]> = [
  ["ASCII", "a\nb\n", "a\nc\n"],
  ["Latin-1", "é\nb\n", "é\nç\n"],
  ["beyond the first plane", "😀\n漢\n", "😀\n字\n"],
  ["nothing against something", "", "😀\n"],
  [
    "longer than the first scratch buffer",
    numbered(9_000, (i) => `line ${i}`),
    numbered(9_001, (i) => `line ${i}`),
  ],
  [
    "three bytes a unit, as long",
    numbered(40_000, () => "漢字漢字漢字"),
    numbered(40_001, () => "漢字漢字漢字"),
  ],
  [
    "longer than any kept buffer",
    numbered(400_000, (i) => `line ${i}`),
    numbered(400_001, (i) => `line ${i}`),
  ],
  ["short after long", "x\n", "y\n"],
];

test.each(CASES)("text and bytes: %s", (_name, before, after) => {
  const bytes = [before, after].map((text) => new TextEncoder().encode(text)) as [Uint8Array, Uint8Array];
  const expected = diff(...bytes);
  expect(expected.identical).toBe(false);
  for (const [old, now] of [
    [before, after],
    [before, bytes[1]],
    [bytes[0], after],
  ] as const) {
    expect(diff(old, now)).toEqual(expected);
  }
});

test("an unpaired surrogate is shown as U+FFFD", () => {
  expect(diff("a\n", "\ud800\n").text).toContain("+\ufffd\n");
});

test("hunks are in the JSON of a result", () => {
  const hunk = { oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ["-a", "+b"] };
  expect(JSON.parse(JSON.stringify(diff("a\n", "b\n"))).hunks).toEqual([hunk]);
});

test("text that looks like a header makes no hunk", () => {
  const looks = "@@ -1 +1 @@";
  for (const old of [`${looks}\n`, `a\r${looks}\n`, `[${looks}\n`]) {
    const { hunks } = diff(old, "b\n", { lineEnds: "raw" });
    expect(hunks.map(({ lines }) => lines)).toEqual([[`-${old.slice(0, -1)}`, "+b"]]);
  }
});

test("a cut diff has the hunks that were begun", () => {
  const text = (mark: string) => numbered(100, (i) => (i % 20 === 10 ? `${mark}${i}` : `${i}`));
  const { hunks, truncated, text: shown } = diff(text("a"), text("b"), { limits: { bytes: 100 } });
  expect([truncated, hunks.length < 5, shown.includes("[diff cut")]).toEqual([true, true, true]);
  expect(hunks.flatMap(({ lines }) => lines).every((line) => /^[-+ ]/.test(line))).toBe(true);
});
