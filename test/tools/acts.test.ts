/** Questions about changes that no list describes: an undo, a rewind, the merge of a fork, a command. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { Confirmation, SandboxProvider, Workspace } from "../../js/index.node.ts";
import type { Preset } from "../../js/presets/preset.ts";
import { leanPreset } from "../../js/presets/lean.ts";
import { place } from "./harness.ts";

const SANDBOX: SandboxProvider = {
  status: { tier: "container", files: "enforced", network: "enforced", policy: "enforced" },
  run: async () => ({ exitCode: 0, signal: null, timedOut: false, truncated: false, stdout: "", stderr: "" }),
};

/** The parts of a question that a reviewer sees. */
interface ShownQuestion {
  readonly title: string;
  readonly risk: string;
  readonly type: string;
  readonly diff: string;
  readonly newContent: string | null;
  readonly changes: readonly string[];
  readonly hash?: string | undefined;
}

interface Act {
  readonly does: string;
  /** The preset that has the tool. */
  readonly preset: Preset | "canonical";
  run(ws: Workspace): Promise<unknown>;
  readonly seen: ShownQuestion;
}

const sha256 = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;

const EDIT = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-2\n+two\n";
const ACTS: readonly Act[] = [
  {
    does: "an undo of an edit",
    preset: leanPreset(),
    run: (ws) => ws.call("undo" as "stat", {} as never),
    seen: {
      title: "Undo edit_file of a.txt",
      risk: "medium",
      type: "info",
      diff: EDIT,
      newContent: "one\ntwo\n",
      changes: ["edit a.txt"],
    },
  },
  {
    does: "a rewind",
    preset: "canonical",
    run: (ws) => ws.rewind("here"),
    seen: {
      title: "Rewind to here: undo 2 calls in 2 paths",
      risk: "medium",
      type: "info",
      diff: `${EDIT}removes directory made\n`,
      newContent: null,
      changes: ["edit a.txt", "delete made"],
    },
  },
  {
    does: "the merge of a fork",
    preset: "canonical",
    async run(ws) {
      const fork = await ws.fork("try");
      await fork.call("write_file", { path: "a.txt", content: "forked\n" });
      await fork.call("write_file", { path: "b.bin", content: "x\0" });
      await fork.call("mkdir", { path: "new" });
      await fork.call("delete", { path: "gone.txt" });
      await fork.merge();
    },
    seen: {
      title: "Merge 4 paths of the fork try",
      risk: "medium",
      type: "edit",
      diff: "removes gone.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1 @@\n-one\n-2\n+forked\nwrites 2 bytes to b.bin\nmakes new\n",
      newContent: null,
      changes: ["delete gone.txt", "edit a.txt", "create b.bin", "create new"],
      hash: sha256(["-", sha256("forked\n"), sha256("x\0")].join("\n")),
    },
  },
  {
    does: "a command",
    preset: "canonical",
    run: (ws) => ws.call("run_command", { command: ["touch", "x y"] }),
    seen: {
      title: 'Run touch "x y" in .',
      risk: "high",
      type: "info",
      diff: "",
      newContent: null,
      changes: [],
    },
  },
];

test.each(ACTS)("a reviewer of $does sees what becomes of each path", async ({ preset, run, seen }) => {
  const asked: Confirmation[] = [];
  const { ws } = await place(
    "local",
    { "a.txt": "one\ntwo\n", "gone.txt": "gone\n" },
    {
      history: true,
      commands: SANDBOX,
      preset,
      confirm(question) {
        asked.push(question);
        return { outcome: "proceed_once" };
      },
    },
  );
  await ws.mark("here");
  await ws.call("mkdir", { path: "made" });
  await ws.call("edit_file", { path: "a.txt", old_text: "two", new_text: "2" });
  asked.length = 0;
  await run(ws);
  const found = asked.map(
    ({ title, risk, type, fileDiff, newContent, hash, changes }): ShownQuestion => ({
      title,
      risk,
      type,
      diff: fileDiff,
      newContent,
      hash,
      changes: changes.map(({ kind, display }) => `${kind} ${display}`),
    }),
  );
  expect(found.at(-1)).toEqual(seen);
});
