/** `filewright/diff` compared with the package whose names it has. docs/diff-compatibility.md lists the differences. */
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
    expect(ours.diffWords("a  b", "a b")).toEqual([{ value: "a b", count: 2, added: false, removed: false }]);
    expect(ours.diffWords("a  b", "a b")).toEqual(theirs.diffWords("a  b", "a b"));
  });
});

test.each([
  ["white space before a removal at the end", "foo bar ", "foo"],
  ["white space before and after it", "foo  bar  ", "foo "],
  ["a line break before it", "foo\n bar", "foo\n"],
  ["white space after a removal at the start", "  foo bar", " bar"],
  ["a removal between words", "a  b  c", "a c"],
])("words are compared as in theirs with %s", (_, before, after) => {
  expect(ours.diffWords(before, after)).toEqual(theirs.diffWords(before, after));
});

describe("options of comparisons do what they do in theirs", () => {
  const before = "One  two\n\nthree four. Five!\n  six\n";
  const after = "one two\n\nthree FOUR. Five!\nsix\nseven";
  type Compare = (before: string, after: string, options: object) => unknown;
  const pairs = {
    diffChars: [ours.diffChars, theirs.diffChars],
    diffWords: [ours.diffWords, theirs.diffWords],
    diffWordsWithSpace: [ours.diffWordsWithSpace, theirs.diffWordsWithSpace],
    diffLines: [ours.diffLines, theirs.diffLines],
    diffTrimmedLines: [ours.diffTrimmedLines, theirs.diffTrimmedLines],
    diffSentences: [ours.diffSentences, theirs.diffSentences],
    diffCss: [ours.diffCss, theirs.diffCss],
  } as unknown as Record<string, readonly [Compare, Compare]>;
  const names = Object.keys(pairs);
  const options = [
    {},
    { ignoreCase: true },
    { oneChangePerToken: true },
    { ignoreWhitespace: true },
    { newlineIsToken: true },
    { ignoreNewlineAtEof: true },
    { maxEditLength: 2 },
    { maxEditLength: 60 },
  ];
  test.each(names.flatMap((name) => options.map((one) => [name, one] as const)))(
    "%s with %o",
    (name, one) => {
      const [mine, other] = pairs[name]!;
      expect(mine(before, after, one)).toEqual(other(before, after, one));
    },
  );

  test("a text without common words is compared by words", () => {
    expect(ours.diffWords("a b  c", "x y")).toEqual(theirs.diffWords("a b  c", "x y"));
  });

  test("words are those of a segmenter that is given", () => {
    const given = { intlSegmenter: new Intl.Segmenter("zh", { granularity: "word" }) };
    expect(ours.diffWords("我有一只猫。", "我有两只猫。", given)).toEqual(
      theirs.diffWords("我有一只猫。", "我有两只猫。", given),
    );
    const lines = { intlSegmenter: new Intl.Segmenter("en", { granularity: "sentence" }) };
    expect(() => ours.diffWords("a", "b", lines)).toThrow("granularity");
  });

  test("a callback is given the result in a later turn, and undefined beyond a bound", async () => {
    const later = <T>(start: (back: (result: T) => void) => undefined): Promise<T> =>
      new Promise((resolve) => expect(start(resolve)).toBeUndefined());
    expect(await later((callback) => ours.diffLines("a\n", "b\n", { callback }))).toHaveLength(2);
    expect(
      await later((callback) => ours.diffChars("a", "b", { callback, maxEditLength: 1 })),
    ).toBeUndefined();
    expect(await later((callback) => ours.createPatch("f", "a\n", "b\n", "", "", callback))).toContain(
      "-a\n+b\n",
    );
    expect(ours.createPatch("f", "a\n", "b\n", "", "", { maxEditLength: 1 })).toBeUndefined();
  });

  test("texts with very many changes are compared too, and their sides are whole", () => {
    const [old, made] = [0, 1].map((from) =>
      Array.from({ length: 4000 }, (_, n) => `w${(n * 7 + from * 3) % 1500}`).join(" "),
    ) as [string, string];
    const found = ours.diffWordsWithSpace(old, made);
    const side = (skip: "added" | "removed"): string =>
      found.flatMap((change) => (change[skip] ? [] : [change.value])).join("");
    expect([side("added"), side("removed")]).toEqual([old, made]);
    expect(ours.diffWordsWithSpace(old, made, { maxEditLength: 1500 })).toBeUndefined();
  });

  test("lists, values and their sorted forms", () => {
    expect(ours.diffArrays([1, 2, 3, Number.NaN], [1, 3, 4, Number.NaN])).toEqual(
      theirs.diffArrays([1, 2, 3, Number.NaN], [1, 3, 4, Number.NaN]),
    );
    const comparator = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase();
    expect(ours.diffArrays(["a", "b"], ["A", "c"], { comparator })).toEqual(
      theirs.diffArrays(["a", "b"], ["A", "c"], { comparator }),
    );
    const [one, other] = [
      { b: [1, { z: 1, a: undefined }], a: new Date(0) },
      { a: 1, c: "x" },
    ];
    expect(ours.diffJson(one, other)).toEqual(theirs.diffJson(one, other));
    expect(ours.diffJson(one, other, { undefinedReplacement: null })).toEqual(
      theirs.diffJson(one, other, { undefinedReplacement: null }),
    );
    expect(JSON.stringify(ours.canonicalize(one))).toBe('{"a":"1970-01-01T00:00:00.000Z","b":[1,{"z":1}]}');
  });

  test("changes are written as XML and as pairs", () => {
    const changes = theirs.diffChars('a<"', "b&<");
    expect(ours.convertChangesToXML(changes)).toBe(theirs.convertChangesToXML(changes));
    expect(ours.convertChangesToDMP(changes)).toEqual(theirs.convertChangesToDMP(changes));
  });
});

describe("git's patches are read, printed and reversed as by theirs", () => {
  const patches: readonly [name: string, patch: string][] = [
    ["a mode alone", "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"],
    [
      "a rename with a change, then a binary file",
      "diff --git a/old b/new\nsimilarity index 50%\nrename from old\nrename to new\n--- a/old\n+++ b/new\n@@ -1,1 +1,1 @@\n-a\n+b\ndiff --git a/i.png b/i.png\nindex 1..2 100644\nBinary files a/i.png and b/i.png differ\n",
    ],
    ["a copy", "diff --git a/x b/y\ncopy from x\ncopy to y\n"],
    [
      "a new file in quotes",
      'diff --git "a/\\303\\251\\t" "b/\\303\\251\\t"\nnew file mode 100755\n--- /dev/null\n+++ "b/\\303\\251\\t"\n@@ -0,0 +1,1 @@\n+x\n',
    ],
    [
      "a file that goes",
      "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n",
    ],
    ["names with blanks and b/", "diff --git a/x b/y z b/x b/y z\nold mode 100644\nnew mode 100755\n"],
    [
      "Mercurial's",
      "diff -r 9117c6561b0b -r 273ce12ad8f1 .hgignore\n--- a/.hgignore\n+++ b/.hgignore\n@@ -1 +1 @@\n-a\n+b\n",
    ],
    ["notes of Subversion", "Index: f\n--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n\nProperty changes on: f\n"],
  ];
  test.each(patches)("%s", (_, patch) => {
    const [mine, other] = [ours.parsePatch(patch), theirs.parsePatch(patch)];
    expect(mine).toEqual(other);
    expect(ours.formatPatch(mine)).toBe(theirs.formatPatch(other));
    expect(ours.reversePatch(mine)).toEqual(theirs.reversePatch(other));
    expect(ours.formatPatch(ours.reversePatch(mine))).toBe(theirs.formatPatch(theirs.reversePatch(other)));
  });

  test("a header without its partner, and lines beyond a hunk's count, are refused by both", () => {
    for (const patch of [
      "--- a\n@@ -1 +1 @@\n-a\n+b\n",
      "@@ -1 +1 @@\n-a\n+b\n+c\n",
      "@@ -1,2 +1 @@\n-a\n+b\n",
    ]) {
      expect(() => theirs.parsePatch(patch)).toThrow();
      expect(() => ours.parsePatch(patch)).toThrow();
    }
  });
});

describe("line ends and comparisons of a patch that is applied", () => {
  const patch = "--- f\n+++ f\n@@ -2,1 +2,1 @@\n-b\n+B\n";

  test("CR is a character where line ends are not converted", () => {
    const given = { autoConvertLineEndings: false };
    expect(ours.applyPatch("a\r\nb\r\n", patch, given)).toBe(theirs.applyPatch("a\r\nb\r\n", patch, given));
    expect(ours.applyPatch("a\r\nb\r\n", patch.replace("-b", "-b\r"), given)).toBe("a\r\nB\n");
  });

  test("CR at the end of a last line without a line end is text", () => {
    const made = "line1\nline3\r";
    const change = ours.structuredPatch("f", "f", "line1\nline2\n", made, undefined, undefined, {
      context: 0,
    });
    expect(ours.applyPatch("line1\nline2\n", change)).toBe(made);
    expect(ours.applyPatch("line1\r\nline2\r\n", change)).toBe("line1\r\nline3\r");
  });

  test("a last line without a line end is not one with it, unless with fuzz", () => {
    const ends =
      "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n";
    expect(theirs.applyPatch("a\n", ends)).toBe(false);
    expect(ours.applyPatch("a\n", ends)).toBe(false);
    expect(ours.applyPatch("a", ends)).toBe("b");
  });

  test("the caller's comparison finds the place, and the text's lines stay", () => {
    const compareLine = (_line: number, line: string, _mark: string, content: string): boolean =>
      line.toLowerCase() === content.toLowerCase();
    const text = "x\nA\nB\nc\n";
    const change = "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+new\n C\n";
    expect(ours.applyPatch(text, change)).toBe(false);
    expect(ours.applyPatch(text, change, { compareLine })).toBe("x\nA\nnew\nc\n");
    expect(theirs.applyPatch(text, change, { compareLine })).toBe("x\nA\nnew\nc\n");
    // In two places it is refused, as without a comparison.
    expect(ours.applyPatch(`y\n${text}q\n${text}`, change.replace("-1,3", "-9,3"), { compareLine })).toBe(
      false,
    );
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

/** Lines of patches as tools and models write them, in any order. */
const PATCH_LINES = [
  ...[
    "--- a/x",
    "+++ b/x",
    "--- a/x\t2020-01-01",
    "+++ b/x y\t",
    '--- "a/x\\303\\244"',
    "--- /dev/null",
    "---- c",
  ],
  ...["@@ -1 +1 @@", "@@ -1,2 +1,2 @@", "@@ -0,0 +1,2 @@", "@@ -1,2 +0,0 @@ fn f()", "-a", "+b", " c", ""],
  ...["\\ No newline at end of file", "Index: x", "=".repeat(67), "diff --git a/x b/x", "old mode 100644"],
  ...[
    "rename from x",
    "rename to y",
    "new file mode 100644",
    "Binary files a/x and b/x differ",
    "-- ",
    "hello",
  ],
];

test("what jsdiff parses is parsed alike", () => {
  const text = fc
    .tuple(
      fc.array(fc.constantFrom(...PATCH_LINES), { maxLength: 8 }),
      fc.constantFrom("\n", "\r\n"),
      fc.constantFrom("", "\n", "\n\n"),
    )
    .map(([lines, eol, end]) => lines.join(eol) + end);
  let both = 0;
  fc.assert(
    fc.property(text, (patch) => {
      let expected: unknown;
      try {
        expected = theirs.parsePatch(patch);
      } catch {
        return;
      }
      both += 1;
      expect(ours.parsePatch(patch)).toEqual(JSON.parse(JSON.stringify(expected)));
    }),
    { numRuns: 2000 },
  );
  expect(both).toBeGreaterThan(200);
});
