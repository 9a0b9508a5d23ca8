import { expect, it } from "vitest";
import type { EditInput, EditOptions } from "../../js/engine/edit.ts";
import { both, describeParity } from "./engines.ts";

const cases: Record<string, [text: string, edits: EditInput[], options?: EditOptions]> = {
  "an exact edit": ["a\r\nb\r\n", [{ oldText: "b", newText: "B" }]],
  "an indented edit": ["\tif x:\n\t\ty()\n", [{ oldText: "if x:\n    y()", newText: "if x:\n    z()" }]],
  "two places": ["x\nx\n", [{ oldText: "x", newText: "y" }]],
  "no place": ["let value = 1;\n", [{ oldText: "let valeu = 1;", newText: "y" }], { path: "a.ts" }],
  "half a character": ["a\n", [{ oldText: "\ud800", newText: "y" }]],
};

describeParity("planEdits is the same on both engines", () => {
  it.each(Object.entries(cases))("%s", async (_, [text, edits, options]) => {
    const { native, wasm } = await both((engine) => {
      const plan = engine.planEdits(text, edits, options);
      return plan.ok ? plan : { ok: false, code: plan.error.code, message: plan.error.message };
    });
    expect(wasm).toEqual(native);
  });
});

describeParity("diff is the same on both engines", () => {
  it.each([
    ["", "a\n"],
    ["a\nb\n", "a\nB"],
    ["päth\r\n", "path\n"],
  ])("%j and %j", async (before, after) => {
    const { native, wasm } = await both((engine) => engine.diff(before, after));
    expect(native).toMatchObject({ value: { identical: false } });
    expect(wasm).toEqual(native);
  });
});
