/** A change under rules that globs cannot express sets nothing aside where the rules hide its name. */
import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { openWorkspace } from "../../js/index.node.ts";
import { afterThisTest } from "../support/cleanups.ts";
import { temporary } from "../tools/harness.ts";

it("a patch that moves a file leaves no other entry in its directory", async () => {
  const { root } = await temporary({ "b.txt": "one\ntwo\n" });
  const rules = [
    { path: "*.txt", decision: "allow" },
    { path: "**", decision: "deny" },
  ] as const;
  const ws = await openWorkspace({ root, rules });
  afterThisTest(() => ws.close());
  const patch =
    "diff --git a/b.txt b/moved.txt\nrename from b.txt\nrename to moved.txt\n--- a/b.txt\n+++ b/moved.txt\n@@ -1,2 +1,2 @@\n-one\n+three\n two\n";
  expect((await ws.call("apply_patch", { patch })).ok).toBe(true);
  expect(readdirSync(root)).toEqual(["moved.txt"]);
});
