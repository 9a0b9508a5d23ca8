/** Rules on `delete` and `move` hold for an undo that deletes or moves. */
import { describe, expect, test } from "vitest";
import { toolsFor } from "../../js/index.node.ts";
import { leanPreset } from "../../js/mcp/served-tools.ts";
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
