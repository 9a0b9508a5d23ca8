import { expect, it } from "vitest";
import type { DiffOptions } from "../../js/engine/text/diff.ts";
import { all, describeParity } from "./engines.ts";

const lines = (count: number, make: (line: number) => string) =>
  Array.from({ length: count }, (_, i) => make(i)).join("\n");

const cases: Record<string, readonly [string, string, DiffOptions?]> = {
  nothing: ["", ""],
  "a new file": ["", "a\nb\n", { oldName: null, newName: "a b.txt" }],
  "a final newline lost": ["a\nb\n", "a\nb"],
  "letters beyond ASCII": ["näh\n日本\n𝒳\n", "nah\n日本\n𝒴\n"],
  "lone surrogates": ["\ud800\n", "\udc00\n"],
  "line ends": ["a\r\nb\r\n", "a\nb\n", { lineEnds: "raw" }],
  "white space ignored": ["a  b\n\tc\n", "a b\nc\n", { ignoreWhitespace: true }],
  myers: [lines(50, (i) => `${i % 7}`), lines(60, (i) => `${i % 5}`), { algorithm: "myers" }],
  minimal: [lines(50, (i) => `${i % 7}`), lines(60, (i) => `${i % 5}`), { algorithm: "minimal", context: 0 }],
  "a cut": [lines(200, (i) => `${i}`), lines(200, (i) => `${i * 2}`), { limits: { bytes: 300, line: 10 } }],
  "an unknown algorithm": ["a", "b", { algorithm: "patience" as "myers" }],
  "a context below zero": ["a", "b", { context: -1 }],
};

describeParity("diff is the same on both engines", () => {
  it.each(Object.entries(cases))("%s", async (_, [before, after, options]) => {
    const { native, wasm, small } = await all((engine) => engine.diff(before, after, options));
    expect(wasm).toEqual(native);
    expect(small).toEqual(native);
  });

  it.each(Object.entries(cases))("%s, as bytes and a promise", async (_, [before, after, options]) => {
    const bytes = (text: string) => new TextEncoder().encode(text);
    const { native, wasm, small } = await all((engine) =>
      engine.diffAsync(bytes(before), bytes(after), options),
    );
    expect(wasm).toEqual(native);
    expect(small).toEqual(native);
  });
});
