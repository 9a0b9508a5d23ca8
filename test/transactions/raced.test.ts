/**
 * A directory is a link to another one just while a change reads what it is about to replace or remove. The undo brings
 * back what the change has taken away, and never what was read at the path in between.
 */
import { describe, expect, test } from "vitest";
import type { ReadOptions, VersionedBytes } from "../../js/backends/backend.ts";
import { MemoryBackend, openWorkspace } from "../../js/index.node.ts";

const FILE = "/w/dir/k.txt";

/** A backend in which the directory is a link to secrets during one read of the file. */
class Exchanged extends MemoryBackend {
  /** The number of the read; 0 for none. */
  exchangedRead = 0;
  #reads = 0;

  override async read(path: string, options?: ReadOptions): Promise<VersionedBytes | null> {
    if (path !== FILE || ++this.#reads !== this.exchangedRead) return super.read(path, options);
    await this.rename("/w/dir", "/w/away");
    await this.symlink("/w/.ssh", "/w/dir");
    try {
      return await super.read(path, options);
    } finally {
      await this.delete("/w/dir");
      await this.rename("/w/away", "/w/dir");
    }
  }
}

const CHANGES = [
  ["delete", { path: "dir/k.txt" }],
  ["write_file", { path: "dir/k.txt", content: "new" }],
  ["edit_file", { path: "dir/k.txt", old_text: "open", new_text: "new" }],
  ["apply_patch", { patch: "*** Begin Patch\n*** Update File: dir/k.txt\n@@\n-open\n+new\n*** End Patch" }],
] as const;

describe.each(CHANGES)("the undo of %s", (tool, args) => {
  test.each([0, 1, 2, 3, 4])(
    "brings back what it took away, with read %i exchanged",
    async (exchangedRead) => {
      const fs = new Exchanged({ [FILE]: "open\n", "/w/.ssh/k.txt": "hidden\n" });
      fs.exchangedRead = exchangedRead;
      const ws = await openWorkspace({ backend: fs, root: "/w", guard: "off" });
      const made = await ws.call(tool, args as never);
      if (made.ok) {
        const undo = (): Promise<unknown> => ws.undo(made.meta.call_id ?? "");
        expect(await fs.exists(FILE)).toBe(tool !== "delete");
        // An undo that meets the exchange itself changes nothing, and works when it is repeated.
        await undo().catch(undo);
      }
      expect(await fs.readText(FILE)).toBe("open\n");
      await ws.close();
    },
  );
});
