/** Undo inside a fork: what the fork has changed is restored there, and the files of its parent stay as they are. */
import { describe, expect, it } from "vitest";
import { openDisk, openMemory, openMemoryStorage, openPlainStorage, rootedAt, treeOf } from "./subject.ts";
import { idOfCall } from "../../support/calls.ts";

describe.each([
  ["the disk", openDisk],
  ["files in memory", openMemory],
  ["a storage that makes forks", openMemoryStorage],
  ["a storage without forks", openPlainStorage],
] as const)("undo in a fork of %s", (_, open) => {
  it("restores what the call had changed, also what it took over from the parent", async () => {
    const { ws, dispose } = await open();
    try {
      const { cwd } = await ws.accessInfo({});
      rootedAt(ws, cwd);
      await idOfCall(ws, "write_file", { path: "a.txt", content: "1\n" });
      await idOfCall(ws, "write_file", { path: "d/b.txt", content: "1\n" });
      await idOfCall(ws, "write_file", { path: "d/gone.txt", content: "1\n" });
      const parent = await treeOf(ws);
      const fork = await ws.fork();
      rootedAt(fork, cwd);
      const edit = await idOfCall(fork, "edit_file", { path: "a.txt", old_text: "1", new_text: "fork" });
      const edited = await treeOf(fork);
      const operations = [
        { tool: "edit_file", args: { path: "d/b.txt", old_text: "1", new_text: "batch" } },
        { tool: "delete", args: { path: "d/gone.txt" } },
        { tool: "move", args: { source: "a.txt", destination: "moved.txt" } },
        { tool: "write_file", args: { path: "new/n.txt", content: "n\n" } },
      ];
      const batch = await idOfCall(fork, "batch", { operations });
      const changed = await treeOf(fork);
      // The parent goes on meanwhile.
      await idOfCall(ws, "write_file", { path: "a.txt", content: "parent\n" });
      const { callId: undone } = await fork.undo(batch);
      expect(await treeOf(fork)).toEqual(edited);
      await fork.undo(undone);
      expect(await treeOf(fork)).toEqual(changed);
      await fork.undo((await fork.history())[0]?.callId ?? "");
      expect(await treeOf(fork)).toEqual(edited);
      await fork.undo(edit);
      expect(await treeOf(fork)).toEqual(parent);
      expect(await treeOf(ws)).toEqual({ ...parent, "a.txt": "parent\n" });
      // Nothing is left that a merge could bring in.
      expect((await fork.diff()).changes).toEqual([]);
      await expect(ws.undo(batch)).rejects.toMatchObject({ code: "NOT_FOUND" });
      await fork.drop();
    } finally {
      await dispose();
    }
  });

  it("keeps what came later: a change over another one is refused", async () => {
    const { ws, dispose } = await open();
    try {
      const { cwd } = await ws.accessInfo({});
      rootedAt(ws, cwd);
      await idOfCall(ws, "write_file", { path: "a.txt", content: "1\n" });
      const fork = await ws.fork();
      rootedAt(fork, cwd);
      const first = await idOfCall(fork, "edit_file", { path: "a.txt", old_text: "1", new_text: "2" });
      await idOfCall(fork, "edit_file", { path: "a.txt", old_text: "2", new_text: "3" });
      await expect(fork.undo(first)).rejects.toMatchObject({ code: "CONFLICT" });
      expect(await treeOf(fork)).toEqual({ "a.txt": "3\n" });
      await fork.drop();
    } finally {
      await dispose();
    }
  });
});
