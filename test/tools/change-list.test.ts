/** The list of a patch: shown in the order of the patch, made so that nothing is missing meanwhile, and left as a reviewer chose. */
import { describe, expect, test } from "vitest";
import type { Confirm, Confirmation } from "../../js/index.node.ts";
import { KINDS, place } from "./harness.ts";

const SEED = { "gone.txt": "gone\n", "old.txt": "one\ntwo\n", "kept.txt": "a\nb\n" };
const PATCH = [
  "*** Begin Patch",
  "*** Delete File: gone.txt",
  "*** Update File: old.txt",
  "*** Move to: new.txt",
  "@@",
  "-two",
  "+2",
  "*** Update File: kept.txt",
  "@@",
  "-b",
  "+B",
  "*** End Patch",
  "",
].join("\n");

/** Accepts all changes but those of some paths, and keeps the question. */
function accepting(refused: readonly string[], asked: Confirmation[]): Confirm {
  return async (question) => {
    asked.push(question);
    const { changes, digest } = question;
    const chosen = changes.filter(({ display }) => !refused.includes(display));
    const parts = chosen.map(({ path, hunks }) => ({ path, hunks: [...hunks.keys()] }));
    return { outcome: "proceed_parts", payload: { digest, parts } };
  };
}

describe.each(KINDS)("the list of a patch on %s", (kind) => {
  test("is shown in the order of the patch, and made with removals last", async () => {
    const asked: Confirmation[] = [];
    const { ws } = await place(kind, SEED, { confirm: accepting([], asked), guard: "off", history: true });
    const { ok, text } = await ws.call("apply_patch", { patch: PATCH });
    expect(ok, text).toBe(true);
    const shown = asked[0]?.changes.map((change) => `${change.kind} ${change.display}`);
    expect(shown).toEqual(["delete gone.txt", "move new.txt", "edit kept.txt"]);
    const [made] = await ws.history();
    const order = ["new.txt", "kept.txt", "gone.txt", "old.txt"];
    // A storage commits all of them at once, and its history names them by path.
    expect(made?.paths).toEqual(kind === "storage" ? order.toSorted() : order);
  });

  test.each([
    ["new.txt", ["one\ntwo\n", undefined, undefined, "a\nB\n"]],
    ["gone.txt", [undefined, "one\n2\n", "gone\n", "a\nB\n"]],
    ["kept.txt", [undefined, "one\n2\n", undefined, "a\nb\n"]],
  ])("is made without %s where a reviewer left that out", async (refused, expected) => {
    const { ws, text } = await place(kind, SEED, { confirm: accepting([refused], []), guard: "off" });
    const result = await ws.call("apply_patch", { patch: PATCH });
    expect(result.ok, result.text).toBe(true);
    const found = [];
    for (const name of ["old.txt", "new.txt", "gone.txt", "kept.txt"]) found.push(await text(name));
    expect(found).toEqual(expected);
    expect(result.text).toContain(`nothing of ${refused}`);
  });
});

test.each(KINDS)("a copy over a link shows the content that it replaces on %s", async (kind) => {
  const asked: Confirmation[] = [];
  const seed = { "new.txt": "new\n", "old.txt": "old\n", link: { link: "old.txt" } };
  const confirm: Confirm = async (question) => {
    asked.push(question);
    return { outcome: "proceed_once" };
  };
  const { ws, text } = await place(kind, seed, { confirm });
  const args = { source: "new.txt", destination: "link", overwrite: true };
  expect((await ws.call("copy", args)).ok).toBe(true);
  expect(asked[0]).toMatchObject({ originalContent: "old\n", newContent: "new\n" });
  expect(asked[0]?.fileDiff).toContain("-old\n+new\n");
  expect(await text("old.txt")).toBe("new\n");
});
