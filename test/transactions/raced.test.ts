/**
 * While a change reads the old content, another program swaps the directory of its file for a link to secrets, and back.
 * The undo brings back the old content, and never the secret.
 */
import { describe, expect, test } from "vitest";
import type { ReadOptions, VersionedBytes } from "../../js/backends/backend.ts";
import { MemoryBackend, openWorkspace } from "../../js/index.node.ts";

const FILE = "/w/dir/k.txt";

/** A backend in which the directory is a link to secrets during one read of the file. */
class Swapping extends MemoryBackend {
  /** The read of the file that meets the swap, from 1, those of the undo included; 0 for none. */
  swappedRead = 0;
  /** True once the directory was swapped. */
  isSwapped = false;
  #reads = 0;

  override async read(path: string, options?: ReadOptions): Promise<VersionedBytes | null> {
    if (path !== FILE || ++this.#reads !== this.swappedRead) return super.read(path, options);
    this.isSwapped = true;
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
  test.each([0, 1, 2, 3, 4])("brings back what it took away, with read %i swapped", async (swappedRead) => {
    const fs = new Swapping({ [FILE]: "open\n", "/w/.ssh/k.txt": "hidden\n" });
    fs.swappedRead = swappedRead;
    const ws = await openWorkspace({ backend: fs, root: "/w", guard: "off" });
    const made = await ws.call(tool, args as never);
    if (!fs.isSwapped) expect(made.ok, made.text).toBe(true);
    if (made.ok) {
      const undo = (): Promise<unknown> => ws.undo(made.meta.call_id ?? "");
      expect(await fs.exists(FILE)).toBe(tool !== "delete");
      const isSwappedBefore = fs.isSwapped;
      // An undo that meets the swap itself is a conflict, and works when it is repeated.
      await undo().catch((error: unknown) => {
        expect(error).toMatchObject({ code: "CONFLICT" });
        expect([isSwappedBefore, fs.isSwapped]).toEqual([false, true]);
        return undo();
      });
    }
    if (swappedRead === 1) expect(fs.isSwapped).toBe(true);
    expect(await fs.readText("/w/.ssh/k.txt")).toBe("hidden\n");
    expect(await fs.readText(FILE)).toBe("open\n");
    await ws.close();
  });
});
