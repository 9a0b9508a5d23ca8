/** Globs, ignore rules and searches over bytes give the same on both engines. */
import { expect, it } from "vitest";
import type { Engine } from "../../js/engine/engine.ts";
import { both, describeParity } from "./engines.ts";

const text = new TextEncoder().encode("one\nÉcole hit\r\nhit hit\n\nlast 😀 hit");

const calls: Record<string, (engine: Engine) => unknown> = {
  "a literal": (e) => e.grepText(text, { pattern: "hit", regex: false }),
  insensitive: (e) => e.grepText(text, { pattern: "éCOLE", case: "insensitive" }),
  "an end of line": (e) => e.grepText(text, { pattern: "hit$", context: 1 }),
  "a class": (e) => e.grepText(text, { pattern: "\\p{L}+ol\\w", maxLineChars: 6 }),
  "across lines": (e) => e.grepText(text, { pattern: "hit\\s+last", multiline: true }),
  "a count": (e) => e.compileQuery({ pattern: "hit" }).count(text, { maxPerFile: 2 }),
  "binary content": (e) => e.grepText("a\0b", { pattern: "a" }),
  "a wrong regex": (e) => e.grepText(text, { pattern: "a(b" }),
  "a large regex": (e) => e.grepText(text, { pattern: "(a{1000}){1000}" }),
  globs: (e) => ["a/b.ts", "a/b.TS", "é.ts", "x"].map((path) => e.glob(["*.ts", "x/"]).matches(path)),
  "a wrong glob": (e) => e.glob("../x"),
  "ignore rules": (e) => {
    const content = new TextEncoder().encode("*.log\n!a.log\n/build/\n");
    const rules = e
      .ignoreRules()
      .enter("", [{ place: 0, content }], true)
      .enter("sub", [], false);
    return ["sub/x.log", "sub/a.log", "build"].map((path) => rules.ignored(path, path === "build"));
  },
};

describeParity("search", () => {
  it.each(Object.entries(calls))("%s", async (_, call) => {
    const { native, wasm } = await both(call);
    expect(wasm).toEqual(native);
  });
});
