/** A search of an overlay has the answers of a search of the merged tree, and leaves the search to the disk below. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import {
  type FsBackend,
  LocalBackend,
  MemoryBackend,
  OverlayBackend,
  openWorkspace,
  SandboxedBackend,
  SandboxPolicy,
} from "../../../js/index.node.ts";
import { compareCase } from "./compare-case.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-overlay-search-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

it("generated changes: contents and names, with every option and page by page", async () => {
  for (let seed = 1; seed <= 8; seed++) await compareCase(base, seed);
});

describe("which storage searches", () => {
  async function disk(name: string): Promise<{ root: string; lower: LocalBackend }> {
    const root = join(base, name);
    await mkdir(join(root, "d"), { recursive: true });
    for (const file of ["a.txt", "b.txt", "d/c.txt"]) await writeFile(join(root, file), "needle\n");
    await writeFile(join(root, ".env"), "needle=1\n");
    return { root, lower: new LocalBackend() };
  }

  it("the disk searches what is unchanged: no file of it is listed or read by the overlay", async () => {
    const { root, lower } = await disk("unchanged");
    const grep = vi.spyOn(lower, "grep");
    const find = vi.spyOn(lower, "find");
    const reads = [vi.spyOn(lower, "readBytes"), vi.spyOn(lower, "read"), vi.spyOn(lower, "listDir")];
    const overlay = new OverlayBackend(lower);
    await overlay.writeText(join(root, "a.txt"), "changed\n");
    await overlay.writeText(join(root, "new/deep.txt"), "new needle\n", { createDirs: true });
    for (const read of reads) read.mockClear();
    const found = await overlay.grep?.(root, { pattern: "needle" });
    expect(found?.matches.map(({ path }) => path)).toEqual([".env", "b.txt", "d/c.txt", "new/deep.txt"]);
    expect(found).toMatchObject({ totalMatches: 4, filesSearched: 5, complete: true });
    expect((await overlay.find?.(root, { pattern: "*.txt", limit: 3 }))?.paths).toEqual([
      "a.txt",
      "b.txt",
      "d/c.txt",
    ]);
    expect([grep.mock.calls.length, find.mock.calls.length]).toEqual([1, 1]);
    expect(reads.map((read) => read.mock.calls.length)).toEqual([0, 0, 0]);
  });

  it("a changed ignore file is honoured: what it covers is searched by the overlay", async () => {
    const { root, lower } = await disk("ignored");
    const overlay = new OverlayBackend(lower);
    await overlay.writeText(join(root, "d/.gitignore"), "c.txt\n");
    const paths = async (): Promise<readonly string[]> =>
      ((await overlay.grep?.(root, { pattern: "needle", output: "files" }))?.counts ?? []).map(
        ({ path }) => path,
      );
    expect(await paths()).toEqual([".env", "a.txt", "b.txt"]);
    await overlay.writeText(join(root, ".gitignore"), "!d/c.txt\na.txt\n");
    expect(await paths()).toEqual([".env", "b.txt"]);
  });

  it("an overlay over an overlay, and over a policy, denies and merges", async () => {
    const { root, lower } = await disk("stacked");
    const policy = SandboxPolicy.workspaceOnly(root, { deny: ["b.txt"] });
    const confined = new SandboxedBackend(lower, policy);
    const middle = new OverlayBackend(confined);
    await middle.writeText(join(root, "m.txt"), "needle m\n");
    const top = new OverlayBackend(middle);
    await top.delete(join(root, "d/c.txt"));
    const found = await top.grep?.(root, { pattern: "needle", glob: "*.txt" });
    expect(found?.matches.map(({ path }) => path)).toEqual(["a.txt", "m.txt"]);
    expect(found?.totalMatches).toBe(2);
  });

  it("a workspace over an overlay searches with the disk, and shows no secret or denied file", async () => {
    const { root, lower } = await disk("workspace");
    // The disk confines itself for the policy of the workspace.
    const grep = vi.spyOn(LocalBackend.prototype, "grep");
    const overlay = new OverlayBackend(lower);
    await overlay.writeText(join(root, "b.txt"), "needle in b\n");
    const ws = await openWorkspace({ backend: overlay, root, history: false, access: { deny: ["d"] } });
    const { data } = await ws.call("grep", { pattern: "needle" });
    await ws.close();
    expect(data).toMatchObject({ total_matches: 2, matches: [{ path: "a.txt" }, { path: "b.txt" }] });
    expect(grep).toHaveBeenCalled();
  });

  it("the search of a host's files is not asked: the overlay walks them", async () => {
    const memory = new MemoryBackend({ "/ws/a.txt": "needle\n" });
    const grep = vi.fn();
    const lower = new Proxy(memory, {
      get(target, name) {
        if (name === "grep") return grep;
        const value = Reflect.get(target, name) as unknown;
        return typeof value === "function" ? value.bind(target) : value;
      },
    }) as FsBackend;
    const overlay = new OverlayBackend(lower);
    expect((await overlay.grep("/ws", { pattern: "needle" })).totalMatches).toBe(1);
    const ws = await openWorkspace({ backend: overlay, root: "/ws", history: false });
    expect((await ws.call("grep", { pattern: "needle" })).data).toMatchObject({ total_matches: 1 });
    await ws.close();
    expect(grep).not.toHaveBeenCalled();
  });
});
