/** Rules on `delete` and `move` hold for an undo that deletes or moves. */
import { describe, expect, test } from "vitest";
import { toolsFor } from "../../js/index.node.ts";
import { leanPreset } from "../../js/presets/lean.ts";
import { KINDS, place } from "../tools/harness.ts";

/** A change, a rule that forbids what its undo does besides, and a file that must stay as the change left it. */
const CASES = [
  ["write_file", { path: "new.txt", content: "new\n" }, { tool: "delete" }, "new.txt"],
  ["write_file", { path: "new.txt", content: "new\n" }, { tool: "delete", path: "*.txt" }, "new.txt"],
  ["copy", { source: "a", destination: "b" }, { tool: "delete" }, "b"],
  ["move", { source: "a", destination: "b" }, { tool: "move", args: { source: "b" } }, "b"],
  ["move", { source: "a", destination: "b" }, { tool: "undo", path: "a" }, "b"],
] as const;

describe.each(KINDS)("an undo on %s", (kind) => {
  test.each(CASES)("of %s %j is refused where a rule denies %j", async (tool, args, rule, kept) => {
    const { ws, text } = await place(kind, { a: "one\n" }, { rules: [{ ...rule, decision: "deny" }] });
    expect((await ws.call(tool, args)).ok).toBe(true);
    const content = await text(kept);
    const undo = toolsFor(ws, leanPreset()).find(({ name }) => name === "undo");
    const undone = await undo?.execute({});
    expect(undone?.ok === false && undone.error.code, undone?.text).toBe("APPROVAL_DENIED");
    expect(await text(kept)).toBe(content);
    await ws.close();
  });

  const DIRECTORY = { "d/x": "one\n", "d/y": "two\n", "a.txt": "one\n" };
  const MOVE = { tool: "move", args: { source: "d", destination: "e" } };
  const REMOVE = { tool: "delete", args: { path: "a.txt" } };
  test.each([
    ["deletes nothing below it", [MOVE], { tool: "delete" }, "ok"],
    // `a.txt` was equal to a file that is now below `e`.
    ["moves no file out of it", [MOVE, REMOVE], { tool: "move", args: { source: "e/x" } }, "ok"],
    ["moves it back", [MOVE, REMOVE], { tool: "move", args: { source: "e" } }, "APPROVAL_DENIED"],
  ])("of a move of a directory %s", async (_, operations, rule, code) => {
    const { ws, text } = await place(kind, DIRECTORY, { rules: [{ ...rule, decision: "deny" }] });
    expect((await ws.call("batch", { operations } as never)).ok).toBe(true);
    const undo = toolsFor(ws, leanPreset()).find(({ name }) => name === "undo");
    const undone = await undo?.execute({});
    expect(undone?.ok === false ? undone.error.code : "ok", undone?.text).toBe(code);
    const names = ["d/x", "d/y", "e/x", "e/y"];
    const there = await Promise.all(names.map(async (name) => (await text(name)) !== undefined));
    expect(there).toEqual(code === "ok" ? [true, true, false, false] : [false, false, true, true]);
    await ws.close();
  });

  test("of an edit and of a deletion is no deletion", async () => {
    const { ws, text } = await place(
      kind,
      { a: "one\n", b: "two\n" },
      {
        rules: [{ tool: "delete", path: "a", decision: "deny" }],
      },
    );
    const undo = toolsFor(ws, leanPreset()).find(({ name }) => name === "undo");
    for (const [tool, args] of [
      ["edit_file", { path: "a", old_text: "one", new_text: "uno" }],
      ["delete", { path: "b" }],
    ] as const) {
      expect((await ws.call(tool, args)).ok).toBe(true);
      const undone = await undo?.execute({});
      expect(undone?.ok, undone?.text).toBe(true);
    }
    expect([await text("a"), await text("b")]).toEqual(["one\n", "two\n"]);
    await ws.close();
  });
});
