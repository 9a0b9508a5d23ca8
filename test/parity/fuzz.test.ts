/**
 * Both engines on whatever comes: random texts, edits, patches, patterns, globs
 * and bytes, compared answer by answer.
 *
 * The seed is fixed, so that a run repeats; `FILEWRIGHT_FUZZ=<runs>` takes another
 * one each time and as many runs as it says. A failure names seed and case.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Engine } from "../../js/engine/engine.ts";
import { both, describeParity } from "./engines.ts";

const wished = Number(process.env["FILEWRIGHT_FUZZ"] ?? 0);
const settings = wished > 0 ? { numRuns: wished } : { numRuns: 60, seed: 20_261_122 };

const word = fc.constantFrom(
  "a",
  "foo",
  "Bar",
  "x = 1;",
  "}",
  "\t",
  "  ",
  "näh",
  "日本",
  "e\u0301",
  "\u00e9",
  "😀",
  "“q”",
  "ﬁ",
);
const line = fc.array(word, { maxLength: 5 }).map((words) => words.join(" "));
const end = fc.constantFrom("\n", "\n", "\n", "\r\n", "\r", "");
const text = fc.array(fc.tuple(line, end), { maxLength: 25 }).map((lines) => lines.flat().join(""));

/** A text, and what a few random changes of lines made of it. */
const changed = fc
  .tuple(
    text,
    fc.array(fc.tuple(fc.nat(30), fc.constantFrom("drop", "put", "twice"), line), { maxLength: 4 }),
  )
  .map(([before, changes]) => {
    const lines = before.split(/(?<=\n)/u);
    for (const [place, what, made] of changes) {
      const at = place % (lines.length + 1);
      if (what === "drop") lines.splice(at, 1);
      else lines.splice(at, 0, what === "put" ? `${made}\n` : (lines[at] ?? ""));
    }
    return [before, lines.join("")] as const;
  });

const edit = fc.record(
  {
    oldText: fc.tuple(line, end, line).map((parts) => parts.join("")),
    newText: line,
    replaceAll: fc.boolean(),
    nearLine: fc.integer({ min: 0, max: 30 }),
  },
  { requiredKeys: ["oldText", "newText"] },
);

const piece = fc.constantFrom(
  "a",
  "foo",
  "\\w+",
  "\\b",
  ".*",
  "[a-z]{2,3}",
  "(x|日)",
  "^",
  "$",
  "\\s",
  "(?i)bar",
  "(",
  "é",
  "\\p{L}",
  "\\x",
  "?",
);
const pattern = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(""));
const glob = fc.array(fc.constantFrom("*", "**", "/", "a", ".ts", "?", "[ab]", "{a,b}", "!", "ä", "["), {
  minLength: 1,
  maxLength: 5,
});
const path = fc.array(fc.constantFrom("a", "b.ts", "ä", ".x", "src"), { minLength: 1, maxLength: 4 });
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  text.map((made) => new TextEncoder().encode(made)),
  text.map((made) => Uint8Array.from(`\ufeff${made}`, (c) => c.charCodeAt(0) % 256)),
);

const encoding = fc.constantFrom("utf-8", "utf-16", "utf-16be", "windows-1252");

/**
 * An outcome without a guess: which of the older encodings some bytes are in is
 * guessed by other means on the platform's decoders (see docs/decisions).
 */
function sure(outcome: unknown): unknown {
  return JSON.parse(
    JSON.stringify(outcome, (key, value: unknown) =>
      key === "detected" || (key === "hint" && String(value).startsWith("the bytes look like")) ? "?" : value,
    ),
  ) as unknown;
}

const diffOptions = fc.record({
  algorithm: fc.constantFrom("histogram" as const, "myers" as const, "minimal" as const),
  context: fc.nat(4),
  ignoreWhitespace: fc.boolean(),
  lineEnds: fc.constantFrom("raw" as const, "shown" as const),
  limits: fc.record({ line: fc.nat(30), bytes: fc.nat(300) }),
});

/** Draws arguments and gives the call to make on each engine. */
const calls: Record<string, fc.Arbitrary<(engine: Engine) => unknown>> = {
  diff: fc.tuple(changed, diffOptions).map(
    ([[a, b], options]) =>
      (e) =>
        e.diff(a, b, options),
  ),
  diffParts: changed.map(([a, b]) => (e) => [e.diffParts(a, b), e.diffParts(a, b, "chars")]),
  planEdits: fc
    .tuple(changed, fc.array(edit, { maxLength: 3 }), fc.constantFrom("exact", "whitespace", "fuzzy"))
    .map(([[a, b], edits, match]) => (e) => {
      const options = { match: match as "exact", path: "f.ts" };
      // Most of the time something like what stands in the text.
      const near = b.split("\n").slice(1, 4).join("\n");
      return [e.planEdits(a, edits, options), e.planEdits(a, [{ oldText: near, newText: "new" }], options)];
    }),
  applyPatch: fc.tuple(changed, changed, fc.nat(3)).map(([[a, b], [other], fuzz]) => (e) => {
    const patch = e.diff(a, b, { lineEnds: "raw", oldName: "f" }).text;
    const read = patch === "" ? [] : e.parsePatch(patch).files;
    return [read, patch === "" || e.applyPatch({ f: `${other}${a}` }, patch, { fuzz })];
  }),
  parsePatch: text.map((made) => (e) => e.parsePatch(`--- a/f\n+++ b/f\n@@ -1,2 +1 @@\n${made}`)),
  merge3: fc
    .tuple(
      changed,
      fc.array(line, { maxLength: 3 }),
      fc.constantFrom("merge", "diff3", "zdiff3"),
      fc.boolean(),
    )
    .map(
      ([[base, ours], more, style, adjacent]) =>
        (e) =>
          e.merge3(base, ours, `${more.join("\n")}${base}`, { style: style as "merge", adjacent }),
    ),
  grepText: fc
    .tuple(
      bytes,
      pattern,
      fc.constantFrom("sensitive", "insensitive", "smart"),
      fc.boolean(),
      fc.boolean(),
      fc.nat(9),
    )
    .map(
      ([content, searched, letters, word, multiline, n]) =>
        (e) =>
          e.grepText(content, {
            pattern: searched,
            case: letters as "smart",
            word,
            multiline,
            context: n % 3,
            maxLineChars: n * 3,
          }),
    ),
  glob: fc
    .tuple(fc.array(glob, { maxLength: 3 }), fc.array(path), fc.boolean())
    .map(([globs, paths, caseSensitive]) => (e) => {
      const compiled = e.glob(
        globs.map((parts) => parts.join("")),
        { caseSensitive },
      );
      return paths.map((parts) => {
        const at = parts.join("/");
        return [compiled.matches(at), compiled.excluded(at, true), compiled.mayContain(at)];
      });
    }),
  ignoreRules: fc.tuple(fc.array(glob, { maxLength: 4 }), fc.array(path)).map(([lines, paths]) => (e) => {
    const content = new TextEncoder().encode(lines.map((parts) => parts.join("")).join("\n"));
    const rules = e.ignoreRules().enter("", [{ place: 0, content }], true);
    return paths.map((parts) => rules.ignored(parts.join("/"), parts.length % 2 === 0));
  }),
  readPage: fc.tuple(bytes, encoding, fc.integer({ min: -9, max: 9 }), fc.nat(40), fc.boolean()).map(
    ([content, label, startLine, n, anchors]) =>
      (e) =>
        e.readPage(content, {
          encoding: label,
          startLine,
          maxLines: n,
          maxLineChars: n,
          contentBytes: 10 * n,
          anchors,
          forceText: anchors,
        }),
  ),
  inspect: fc.tuple(bytes, fc.boolean()).map(([content, partial]) => (e) => {
    const { kind, mime, eol, bom } = e.inspect(content, { partial });
    return { kind, mime, eol, bom };
  }),
  decodeText: fc.tuple(bytes, encoding).map(
    ([content, label]) =>
      (e) =>
        e.decodeText(content, label),
  ),
  compileRules: fc.tuple(fc.array(glob, { maxLength: 3 }), fc.array(path)).map(([deny, paths]) => (e) => {
    const rules = e.compileRules({
      cwd: "/w",
      roots: ["/w"],
      deny: deny.map((parts) => parts.join("")),
      protect: true,
      secrets: true,
    });
    return paths.map((parts) => rules.check(`/w/${parts.join("/")}`));
  }),
  sha256: bytes.map((content) => (e) => [
    e.sha256(content),
    e.lineAnchors(new TextDecoder().decode(content)),
  ]),
};

describeParity("whatever comes, both engines say the same", () => {
  it.each(Object.entries(calls))(
    "%s",
    async (_, arbitrary) => {
      const compared = fc.asyncProperty(arbitrary, async (call) => {
        const { native, wasm } = await both(call);
        expect(sure(wasm)).toEqual(sure(native));
      });
      await fc.assert(compared, settings);
    },
    wished > 0 ? 3_600_000 : 20_000,
  );
});
