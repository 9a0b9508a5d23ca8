/** Merges of a fork that is a layer in memory: the order of its changes, and changes of the fork while it is merged. */
import { describe, expect, it } from "vitest";
import {
  type FsBackend,
  MemoryBackend,
  openWorkspace,
  type WorkspaceOptions,
} from "../../../js/index.node.ts";
import { absolute, openMemory, rootedAt, treeOf, write } from "./subject.ts";

/** A backend that makes nothing in a directory without the write permission of its owner, as a disk does. */
function checkingDirectories(memory: MemoryBackend): FsBackend {
  return new Proxy(memory as FsBackend, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name !== "writeBytes" && name !== "mkdir") return value.bind(target);
      return async (path: string, ...rest: unknown[]) => {
        const parent = path.slice(0, path.lastIndexOf("/")) || "/";
        const mode = (await memory.exists(parent)) ? (await memory.stat(parent)).mode : undefined;
        if (mode !== undefined && (mode & 0o200) === 0) throw new Error(`no permission in ${parent}`);
        return value.call(target, path, ...rest);
      };
    },
  });
}

describe("the merge of a layer", () => {
  it("closes a directory after its content is made, and opens one before", async () => {
    const memory = new MemoryBackend({ "/repo/shut/f": "1\n" });
    await memory.chmod("/repo/shut", 0o555);
    const ws = await openWorkspace({ backend: checkingDirectories(memory), root: "/repo" });
    rootedAt(ws, "/repo");
    const fork = await ws.fork();
    rootedAt(fork, "/repo");
    await fork.fs.mkdir("/repo/new/deep");
    for (const path of ["/repo/new", "/repo/new/deep"]) await fork.fs.chmod?.(path, 0o500);
    await fork.fs.chmod?.("/repo/shut", 0o755);
    await write(fork, { "new/deep/f": "1\n", "shut/g": "1\n" });
    expect(await fork.merge()).toMatchObject({ merged: true });
    const closed = ["/repo/new", "/repo/new/deep", "/repo/shut"];
    const stats = await Promise.all(closed.map((path) => memory.stat(path)));
    expect(stats.map(({ mode }) => mode)).toEqual([0o500, 0o500, 0o755]);
    expect(Object.keys(await treeOf(ws)).sort()).toEqual([
      "new",
      "new/deep",
      "new/deep/f",
      "shut",
      "shut/f",
      "shut/g",
    ]);
    await ws.close();
  });

  it("forgets the permission bits of a directory that another entry has replaced", async () => {
    const { ws, dispose } = await openMemory();
    const { cwd } = await ws.accessInfo({});
    rootedAt(ws, cwd);
    await write(ws, { "a/b/f": "1\n", "c/d/f": "1\n" });
    const fork = await ws.fork();
    rootedAt(fork, cwd);
    for (const path of ["a/b", "c/d"]) await fork.fs.chmod?.(absolute(fork, path), 0o700);
    for (const path of ["a", "c"]) await ws.fs.removeTree?.(absolute(ws, path));
    await write(fork, { a: "a file\n", "c/e": "1\n" });
    expect(await fork.merge()).toMatchObject({ merged: true, conflicts: [] });
    expect(await treeOf(ws)).toEqual({ a: "a file\n", c: "/", "c/e": "1\n" });
    await dispose();
  });

  it("takes what the fork changes meanwhile as a change of what was merged", async () => {
    let meanwhile: () => Promise<void> = async () => {};
    const { ws, dispose } = await openMemory({
      confirm: async (question) => {
        await meanwhile();
        await question.onConfirm("proceed_once");
      },
    } as Partial<WorkspaceOptions>);
    const { cwd } = await ws.accessInfo({});
    rootedAt(ws, cwd);
    await write(ws, { "d/f": "1\n", "d/g": "1\n", "e/h": "1\n" });
    const fork = await ws.fork();
    rootedAt(fork, cwd);
    // A file that is changed, and then removed with its directory.
    await write(fork, { "d/f": "2\n" });
    await fork.fs.removeTree?.(absolute(fork, "d"));
    await fork.fs.chmod?.(absolute(fork, "e"), 0o700);
    meanwhile = async () => {
      await write(fork, { "d/f": "again\n" });
      await fork.fs.removeTree?.(absolute(fork, "e"));
    };
    expect(await fork.merge()).toMatchObject({ merged: true });
    expect(await treeOf(ws)).toEqual({ e: "/", "e/h": "1\n" });
    meanwhile = async () => {};
    const { changes } = await fork.diff();
    expect(changes.map(({ path, change }) => `${change} ${path}`)).toEqual([
      "added d",
      "added d/f",
      "removed e",
      "removed e/h",
    ]);
    expect(await fork.merge()).toMatchObject({ merged: true, conflicts: [] });
    expect(await treeOf(ws)).toEqual({ d: "/", "d/f": "again\n" });
    await dispose();
  });
});
