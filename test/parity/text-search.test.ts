import { expect, it } from "vitest";
import type { TextLimits, TextQuery } from "../../js/engine/search-types.ts";
import { both, describeParity } from "./engines.ts";

const text = [
  "fn main() {",
  '\tprintln!("näh — 日本");\r',
  "    let FooBar = foo_bar(1);",
  `${"x".repeat(700)} foo ${"y".repeat(700)}`,
  "",
  "foo foo foo\u212A",
].join("\n");

const queries: Record<string, TextQuery & TextLimits> = {
  "a literal": { pattern: "foo", regex: false },
  "a regular expression": { pattern: "\\bf\\w+\\(" },
  "letters of either case": { pattern: "foobar", case: "insensitive" },
  "folds beyond ASCII": { pattern: "k", case: "insensitive" },
  "smart case": { pattern: "Foo", case: "smart" },
  words: { pattern: "foo", word: true },
  "across lines": { pattern: "main.*\\n\\s+println", multiline: true },
  "classes of Unicode": { pattern: "\\p{Han}+" },
  context: { pattern: "let", context: 1 },
  "a cut line": { pattern: "foo", maxLineChars: 40 },
  "few hits": { pattern: "foo", maxPerFile: 1 },
  "nothing found": { pattern: "absent" },
  "a pattern that is none": { pattern: "(" },
  "a look-around": { pattern: "(?=a)b" },
  "an empty pattern": { pattern: "" },
};

describeParity("texts are searched the same on both engines", () => {
  it.each(Object.entries(queries))("%s", async (_, query) => {
    const { native, wasm } = await both((engine) => engine.grepText(text, query));
    expect(wasm).toEqual(native);
  });
});

const paths = ["a.ts", "src/a.ts", "src/deep/b.tsx", "src/.env", "README.md", "näh/日本.ts", "src"];
const globs: Record<
  string,
  readonly [string | readonly string[], { exclude?: string[]; caseSensitive?: boolean }?]
> = {
  "no slash": ["*.ts"],
  "any depth": ["src/**"],
  alternatives: ["**/*.{ts,tsx}"],
  several: [["*.md", "!*.ts"]],
  classes: ["src/[a-z]*/[!a]*"],
  excluded: ["**", { exclude: ["deep/", "*.md"] }],
  "either case": ["readme.MD", { caseSensitive: false }],
  "letters beyond ASCII": ["n?h/**"],
  "a glob that is none": ["a{b"],
  nothing: [""],
};

describeParity("globs match the same on both engines", () => {
  it.each(Object.entries(globs))("%s", async (_, [patterns, options]) => {
    const { native, wasm } = await both((engine) => {
      const compiled = engine.glob(patterns, options);
      return paths.map((path) => [
        path,
        compiled.matches(path),
        compiled.excluded(path),
        compiled.mayContain(path),
      ]);
    });
    expect(wasm).toEqual(native);
  });
});
