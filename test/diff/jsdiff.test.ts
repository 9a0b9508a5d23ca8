/** `filewright/diff` beside the package whose names it has. docs/diff-compatibility.md lists what is not alike. */
import * as theirs from "diff";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as ours from "../../js/diff/index.node.ts";

const texts: readonly [name: string, before: string, after: string][] = [
  ["one line changed", "a\nb\nc\n", "a\nB\nc\n"],
  ["a line added at the beginning", "a\nb\n", "x\na\nb\n"],
  ["a line added at the end", "a\nb\n", "a\nb\nx\n"],
  ["a new text", "", "a\nb\n"],
  ["a text gone", "a\nb\n", ""],
  ["no final newline before", "a\nb", "a\nB\n"],
  ["no final newline after", "a\nb\n", "a\nB"],
  ["no final newline on either side", "a\nb", "a\nB"],
  ["equal texts", "a\n", "a\n"],
  ["CRLF", "a\r\nb\r\n", "a\r\nB\r\n"],
  ["letters beyond ASCII", "näh\n𝒳\n", "nah\n𝒳\n"],
  ["two hunks", `${"l\n".repeat(3)}a\n${"m\n".repeat(20)}b\n`, `${"l\n".repeat(3)}A\n${"m\n".repeat(20)}B\n`],
];

describe("patches are the same text and the same data", () => {
  test.each(texts)("%s", (_, before, after) => {
    for (const context of [0, 1, 3, undefined]) {
      const options = context === undefined ? {} : { context };
      expect(ours.createPatch("f", before, after, "h1", "h2", options)).toBe(
        theirs.createPatch("f", before, after, "h1", "h2", options),
      );
      const patch = ours.structuredPatch("f", "g", before, after, undefined, undefined, options);
      expect(patch).toEqual(theirs.structuredPatch("f", "g", before, after, undefined, undefined, options));
    }
    expect(ours.createTwoFilesPatch("f", "g", before, after)).toBe(
      theirs.createTwoFilesPatch("f", "g", before, after),
    );
  });

  test("headers are printed as asked", () => {
    const patch = theirs.structuredPatch("f", "f", "a\n", "b\n", "x", "y");
    expect(ours.formatPatch(patch, ours.INCLUDE_HEADERS)).toBe(
      theirs.formatPatch(patch, theirs.INCLUDE_HEADERS),
    );
    expect(ours.formatPatch(patch, ours.FILE_HEADERS_ONLY)).toBe(
      theirs.formatPatch(patch, theirs.FILE_HEADERS_ONLY),
    );
    expect(ours.formatPatch(patch, ours.OMIT_HEADERS)).toBe(theirs.formatPatch(patch, theirs.OMIT_HEADERS));
    expect(ours.formatPatch([patch, patch])).toBe(theirs.formatPatch([patch, patch]));
  });
});

describe("patches are read, applied and reversed alike", () => {
  test.each(texts)("%s", (_, before, after) => {
    const text = theirs.createPatch("f", before, after);
    expect(ours.parsePatch(text)).toMatchObject(JSON.parse(JSON.stringify(theirs.parsePatch(text))));
    expect(ours.applyPatch(before, text)).toBe(theirs.applyPatch(before, text));
    expect(ours.applyPatch(before, ours.structuredPatch("f", "f", before, after))).toBe(after);
    const [patch] = ours.parsePatch(text);
    expect(ours.applyPatch(after, ours.reversePatch(patch!))).toBe(before);
  });

  const refused: readonly [name: string, source: string, patch: string][] = [
    ["other lines", "x\ny\nz\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"],
    ["one line of context changed", "a\nb\nX\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"],
    ["already applied", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"],
  ];
  test.each(refused)("%s is refused by both", (_, source, patch) => {
    expect(theirs.applyPatch(source, patch)).toBe(false);
    expect(ours.applyPatch(source, patch)).toBe(false);
  });

  const applied: readonly [name: string, source: string, patch: string][] = [
    ["lines that moved", "0\n0\na\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"],
    ["several hunks", "a\nb\nc\nd\n", "@@ -1 +1 @@\n-a\n+A\n@@ -4 +4 @@\n-d\n+D\n"],
    ["CRLF by LF", "a\r\nb\r\nc\r\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"],
  ];
  test.each(applied)("%s is applied by both", (_, source, patch) => {
    const expected = theirs.applyPatch(source, patch);
    expect(expected).not.toBe(false);
    expect(ours.applyPatch(source, patch)).toBe(expected);
  });

  test("where a hunk fits twice, theirs takes one and ours refuses", () => {
    const patch = "@@ -3,2 +3,2 @@\n x\n-y\n+z\n";
    expect(theirs.applyPatch("x\ny\nq\nq\nx\ny\n", patch)).not.toBe(false);
    expect(ours.applyPatch("x\ny\nq\nq\nx\ny\n", patch)).toBe(false);
  });

  test("malformed patches throw in both", () => {
    for (const patch of ["@@ -1,2 +1,1 @@\n-a\n+b\n", "@@ -1 +1 @@\n?a\n"]) {
      expect(() => theirs.parsePatch(patch)).toThrow();
      expect(() => ours.parsePatch(patch)).toThrow();
    }
    const two = `${theirs.createPatch("f", "a\n", "b\n")}${theirs.createPatch("g", "a\n", "b\n")}`;
    expect(ours.parsePatch(two)).toHaveLength(2);
    expect(() => ours.applyPatch("a\n", two)).toThrow();
  });

  test("several files, one after the other", () => {
    const files: Record<string, string> = { f: "a\n", g: "c\n" };
    const two = `${ours.createPatch("f", "a\n", "b\n")}${ours.createPatch("g", "c\n", "d\n")}`;
    let done: unknown = "not called";
    ours.applyPatches(two, {
      loadFile: (index, back) => back(null, files[index.oldFileName!]!),
      patched: (index, text, back) => {
        files[index.newFileName!] = text as string;
        back();
      },
      complete: (error) => {
        done = error;
      },
    });
    expect([files, done]).toEqual([{ f: "b\n", g: "d\n" }, undefined]);
  });
});

describe("changes have the shapes of theirs", () => {
  test.each(texts)("by lines: %s", (_, before, after) => {
    expect(ours.diffLines(before, after)).toEqual(theirs.diffLines(before, after));
  });

  const words: readonly [before: string, after: string][] = [
    ["let a = 1;", "let ab = 1;"],
    ["one two three", "one three"],
    ["", "a"],
    ["same", "same"],
  ];
  test.each(words)("by characters, and by words with white space: %s -> %s", (before, after) => {
    expect(ours.diffChars(before, after)).toEqual(theirs.diffChars(before, after));
    const flat = (changes: readonly { readonly value: string }[]): string =>
      changes.map(({ value }) => value).join("|");
    expect(flat(ours.diffWordsWithSpace(before, after))).toBe(flat(theirs.diffWordsWithSpace(before, after)));
  });

  test("white space alone is no difference of words", () => {
    expect(ours.diffWords("a  b", "a b")).toEqual([{ value: "a b", count: 3, added: false, removed: false }]);
  });
});

const lines = fc
  .array(fc.constantFrom("", "a", "b", "  a", "long line", "}"), { maxLength: 30 })
  .chain((all) => fc.constantFrom("", "\n").map((end) => all.join("\n") + end));

test("whatever differs: their apply takes our patches, ours takes theirs, and changes hold both sides", () => {
  fc.assert(
    fc.property(lines, lines, fc.integer({ min: 0, max: 5 }), (before, after, context) => {
      const [patch, other] = [ours, theirs].map((from) =>
        from.createPatch("f", before, after, "", "", { context }),
      );
      expect(theirs.applyPatch(before, patch!)).toBe(after);
      if (context >= 3) expect(ours.applyPatch(before, other!)).toBe(after);
      expect(ours.applyPatch(before, patch!)).toBe(after);
      for (const changes of [
        ours.diffLines(before, after),
        ours.diffChars(before, after),
        ours.diffWordsWithSpace(before, after),
      ]) {
        const side = (gone: "added" | "removed"): string =>
          changes
            .filter((change) => !change[gone])
            .map(({ value }) => value)
            .join("");
        expect(side("added")).toBe(before);
        expect(side("removed")).toBe(after);
      }
    }),
    { numRuns: 200 },
  );
});
