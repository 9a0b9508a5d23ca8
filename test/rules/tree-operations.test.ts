/** Rules hold for what an operation on a directory reaches, and for what a call does besides. */
import { describe, expect, test } from "vitest";
import type { Rule } from "../../js/index.node.ts";
import { KINDS, place, type Seed } from "../tools/harness.ts";

const seed: Seed = {
  "db/schema.sql": "create\n",
  "db/prod/data": "prod\n",
  "db/notes": "notes\n",
  "s/schema.sql": "other\n",
  "s/plain": "plain\n",
  "t/notes": "new notes\n",
  a: "one\n",
  b: "two\n",
  "to-b": { link: "b" },
};
const sql: Rule = { path: "**/*.sql", decision: "deny" };
const prod: Rule = { path: "db/prod/**", decision: "deny" };
const noDelete: Rule = { tool: "delete", decision: "deny" };
const noMove: Rule = { tool: "move", decision: "deny" };
const deletion = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";
const gitDeletion =
  "diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n";
const renaming = "*** Begin Patch\n*** Update File: a\n*** Move to: c\n@@\n-one\n+uno\n*** End Patch\n";

const cases: readonly (readonly [rule: Rule, tool: string, args: Record<string, unknown>])[] = [
  [sql, "delete", { path: "db", recursive: true }],
  [sql, "move", { source: "db", destination: "out" }],
  [sql, "copy", { source: "db", destination: "out" }],
  [sql, "copy", { source: "s", destination: "db", overwrite: true }],
  [{ path: "db/*.sql", decision: "deny" }, "copy", { source: "s", destination: "db", overwrite: true }],
  [{ path: "new/*.sql", decision: "deny" }, "copy", { source: "s", destination: "new" }],
  [{ path: "new/*.sql", decision: "deny" }, "move", { source: "s", destination: "new" }],
  [{ path: "new/**", decision: "deny" }, "move", { source: "s", destination: "new" }],
  [prod, "delete", { path: "db/prod", recursive: true }],
  [prod, "delete", { path: "db", recursive: true }],
  [prod, "move", { source: "db", destination: "out" }],
  [prod, "copy", { source: "s", destination: "db/prod", overwrite: true }],
  [{ ...prod, decision: "ask" }, "delete", { path: "db", recursive: true }],
  [{ ...prod, decision: "ask" }, "move", { source: "db", destination: "out" }],
  [{ ...sql, decision: "ask" }, "copy", { source: "db", destination: "out" }],
  [noDelete, "apply_patch", { patch: deletion }],
  [noDelete, "apply_patch", { patch: gitDeletion }],
  [noDelete, "apply_patch", { patch: "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+one\n", reverse: true }],
  [noDelete, "move", { source: "a", destination: "b", overwrite: true }],
  [noDelete, "copy", { source: "a", destination: "b", overwrite: true }],
  [noDelete, "copy", { source: "t", destination: "db", overwrite: true }],
  [{ ...noDelete, path: "db/**" }, "copy", { source: "t", destination: "db", overwrite: true }],
  [{ ...noDelete, args: { path: "b" } }, "move", { source: "a", destination: "b", overwrite: true }],
  [{ ...noDelete, decision: "ask" }, "apply_patch", { patch: deletion }],
  [{ path: "b", decision: "deny" }, "copy", { source: "a", destination: "to-b", overwrite: true }],
  [{ ...noDelete, path: "b" }, "copy", { source: "a", destination: "to-b", overwrite: true }],
  [{ path: "b", decision: "ask" }, "copy", { source: "a", destination: "to-b", overwrite: true }],
  [noMove, "apply_patch", { patch: renaming }],
  [{ ...noMove, path: "c" }, "apply_patch", { patch: renaming }],
];

describe.each(KINDS)("a rule on %s", (kind) => {
  const refused = async (rule: Rule, tool: string, args: Record<string, unknown>): Promise<void> => {
    const { ws, text } = await place(kind, seed, { rules: [rule, { decision: "allow" }] });
    const result = await ws.call(tool, args);
    expect(result.error?.code, result.text).toBe("APPROVAL_DENIED");
    for (const [path, content] of Object.entries(seed))
      if (typeof content === "string") expect(await text(path), path).toBe(content);
    for (const path of ["out/schema.sql", "new/schema.sql", "c"]) expect(await text(path)).toBeUndefined();
  };

  test.each(cases)("%j refuses %s %j", refused);

  test.each(cases)("%j refuses %s %j in a batch, dry or not", async (rule, tool, args) => {
    for (const dry_run of [true, false])
      await refused(rule, "batch", {
        operations: [{ tool, args }],
        dry_run: rule.decision === "ask" ? false : dry_run,
      });
  });

  test("that asks about something below a directory is asked, once", async () => {
    const titles: string[] = [];
    const { ws, text } = await place(kind, seed, {
      rules: [{ path: "db/prod/**", decision: "ask" }, { decision: "allow" }],
      confirm: ({ title }) => {
        titles.push(title);
        return { outcome: "proceed_once" };
      },
    });
    expect((await ws.call("delete", { path: "s", recursive: true })).ok).toBe(true);
    expect(titles).toEqual([]);
    expect((await ws.call("delete", { path: "db", recursive: true })).ok).toBe(true);
    expect(titles).toHaveLength(1);
    expect(await text("db/prod/data")).toBeUndefined();
  });

  test("that denies nothing below a directory lets it go", async () => {
    const { ws, text } = await place(kind, seed, { rules: [sql, noDelete] });
    expect((await ws.call("move", { source: "t", destination: "u" })).ok).toBe(true);
    expect((await ws.call("copy", { source: "db/prod", destination: "v" })).ok).toBe(true);
    expect(await text("v/data")).toBe("prod\n");
  });

  test("that denies what an earlier operation of a batch brings is met", async () => {
    const { ws, text } = await place(kind, seed, { rules: [{ path: "new/**/plain", decision: "deny" }] });
    const result = await ws.call("batch", {
      operations: [
        { tool: "copy", args: { source: "s", destination: "mid" } },
        { tool: "move", args: { source: "mid", destination: "new/mid" } },
      ],
    });
    expect(result.error?.code).toBe("APPROVAL_DENIED");
    expect(await text("mid/plain")).toBeUndefined();
  });
});
