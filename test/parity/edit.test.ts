import { expect, it } from "vitest";
import type { EditInput, EditOptions } from "../../js/engine/text/edit.ts";
import { all, describeParity } from "./engines.ts";

const file = "fn main() {\r\n    let näme = 1;\r\n    let b = 1;\r\n}\r\n";

const cases: Record<string, readonly [string, readonly EditInput[], EditOptions?]> = {
  "an exact edit": [file, [{ oldText: "let näme = 1;", newText: "let 名前 = 2;" }]],
  "lines with other ends": [file, [{ oldText: "let b = 1;\n}", newText: "}" }]],
  "two edits in order": [
    file,
    [
      { oldText: "b", newText: "c" },
      { oldText: "c = 1", newText: "c = 2" },
    ],
  ],
  "white space": [file, [{ oldText: "  let b = 1;\n  }", newText: "  }" }]],
  everywhere: [file, [{ oldText: "= 1", newText: "= 3", replaceAll: true }]],
  "not found": [file, [{ oldText: "let x = 1;" }], { path: "src/a.rs" }],
  "not unique": [file, [{ oldText: "= 1", newText: "= 2" }]],
  "the nearest of several": [file, [{ oldText: "= 1", newText: "= 2", nearLine: 3 }]],
  "another count than expected": [file, [{ oldText: "= 1", newText: "= 2", expectedMatches: 3 }]],
  "no change": [file, [{ oldText: "b", newText: "b" }]],
  "nothing to look for": [file, [{ oldText: "", newText: "b" }]],
  "half a character": [file, [{ oldText: "\ud800", newText: "y" }]],
  "a near miss": ["let value = 1;\n", [{ oldText: "let valeu = 1;", newText: "y" }], { path: "a.ts" }],
  "no edits": [file, []],
  "an unknown mode": [file, [{ oldText: "b" }], { match: "loose" as "exact" }],
};

describeParity("edits are the same on both engines", () => {
  it.each(Object.entries(cases))("%s", async (_, [text, edits, options]) => {
    const { native, wasm, small } = await all((engine) => engine.planEdits(text, edits, options));
    expect(wasm).toEqual(native);
    expect(small).toEqual(native);
  });

  it.each(Object.entries(cases))("%s, as bytes and a promise", async (_, [text, edits, options]) => {
    const bytes = new TextEncoder().encode(text);
    const { native, wasm, small } = await all((engine) => engine.planEditsBytesAsync(bytes, edits, options));
    expect(wasm).toEqual(native);
    expect(small).toEqual(native);
  });
});
