/** Backends made of other backends: the contract over each, and what is theirs alone. */
import { describe, expect, it } from "vitest";
import { type FsBackend, MemoryBackend, OverlayBackend, openWorkspace } from "../js/index.node.ts";
import { backendContract } from "../js/testing/index.ts";
import { minimalBackend } from "./minimal.ts";

describe("contract: an overlay over memory", () => {
  backendContract(
    () => ({ backend: new OverlayBackend(new MemoryBackend({ "/ws": { type: "dir" } })), root: "/ws" }),
    {
      test: it,
      requires: ["read", "symlink", "lstat", "readLink", "realpath", "chmod", "copyFile", "removeTree"],
    },
  );
});

describe("contract: an overlay over eleven methods alone", () => {
  backendContract(
    () => ({ backend: new OverlayBackend(minimalBackend({ "/ws": { type: "dir" } })), root: "/ws" }),
    { test: it, requires: ["read"] },
  );
});
/** Everything in a memory backend, as text. */
function all(memory: MemoryBackend): Record<string, string> {
  const entries = Object.entries(memory.dump()).filter(([, entry]) => entry.type !== "dir");
  return Object.fromEntries(
    entries.map(([path, entry]) => [
      path,
      entry.type === "file"
        ? memory.readTextSync(path)
        : `-> ${entry.type === "symlink" ? entry.target : ""}`,
    ]),
  );
}

const SEED = { "/ws/a": "1", "/ws/b": "2", "/ws/d/x": "3", "/ws/d/y": "4", "/ws/same": "s" };

describe("an overlay", () => {
  const changing = async (): Promise<{ memory: MemoryBackend; overlay: OverlayBackend }> => {
    const memory = new MemoryBackend(SEED);
    const overlay = new OverlayBackend(memory);
    await overlay.writeText("/ws/a", "one");
    await overlay.writeText("/ws/same", "t");
    await overlay.writeText("/ws/same", "s");
    await overlay.copyFile("/ws/b", "/ws/c");
    await overlay.writeText("/ws/b", "two");
    await overlay.removeTree("/ws/d");
    await overlay.writeText("/ws/d/y", "four", { createDirs: true });
    await overlay.writeText("/ws/new/f", "n", { createDirs: true });
    await overlay.symlink?.("a", "/ws/l");
    await overlay.writeText("/ws/tmp", "t");
    await overlay.delete("/ws/tmp");
    return { memory, overlay };
  };

  it("tells its changes and changes nothing below", async () => {
    const { memory, overlay } = await changing();
    expect((await overlay.changes()).map(({ path, change, type }) => `${change} ${type} ${path}`)).toEqual([
      "changed file /ws/a",
      "changed file /ws/b",
      "added file /ws/c",
      "removed file /ws/d/x",
      "changed file /ws/d/y",
      "added symlink /ws/l",
      "added dir /ws/new",
      "added file /ws/new/f",
    ]);
    expect(all(memory)).toEqual(SEED);
  });

  it("commits them, and is empty then", async () => {
    const { memory, overlay } = await changing();
    expect(await overlay.commit()).toMatchObject({ made: 2 });
    expect(all(memory)).toEqual({
      "/ws/a": "one",
      "/ws/b": "two",
      "/ws/c": "2",
      "/ws/d/y": "four",
      "/ws/l": "-> a",
      "/ws/new/f": "n",
      "/ws/same": "s",
    });
    expect(await overlay.changes()).toEqual([]);
    expect(await overlay.commit()).toEqual({ written: 0, made: 0, removed: 0 });
  });

  it.for<readonly [string, (memory: MemoryBackend) => void, string]>([
    ["a file that was changed", (m) => void m.writeTextSync("/ws/a", "theirs"), "/ws/a"],
    ["a file that was taken away", (m) => m.deleteSync("/ws/b"), "/ws/b"],
    ["a file in the way of a new one", (m) => void m.writeTextSync("/ws/c", "theirs"), "/ws/c"],
    ["a new file in a directory that goes", (m) => void m.writeTextSync("/ws/d/z", "theirs"), "/ws/d/z"],
    ["a changed file in a directory that goes", (m) => void m.writeTextSync("/ws/d/x", "theirs"), "/ws/d/x"],
  ])("commits nothing over what another did below: %s", async ([, theirs, path]) => {
    const { memory, overlay } = await changing();
    theirs(memory);
    const before = all(memory);
    await expect(overlay.commit()).rejects.toMatchObject({ code: "CONFLICT", details: { paths: [path] } });
    expect(all(memory)).toEqual(before);
    await overlay.discard();
    expect(await overlay.changes()).toEqual([]);
    expect(all(memory)).toEqual(before);
  });

  it("goes on with a commit that failed half way", async () => {
    const memory = new MemoryBackend({ "/ws": { type: "dir" } });
    let full = true;
    const failing = new Proxy(memory as FsBackend, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        if (name !== "writeBytes") return value.bind(target);
        return async (path: string, ...rest: unknown[]) => {
          if (full && path === "/ws/b") throw new Error("no space");
          return value.call(target, path, ...rest);
        };
      },
    });
    const overlay = new OverlayBackend(failing);
    for (const name of ["a", "b", "c"]) await overlay.writeText(`/ws/${name}`, name);
    await expect(overlay.commit()).rejects.toThrow("no space");
    expect((await overlay.changes()).map(({ path }) => path)).toEqual(["/ws/b", "/ws/c"]);
    full = false;
    await overlay.commit();
    expect(all(memory)).toEqual({ "/ws/a": "a", "/ws/b": "b", "/ws/c": "c" });
  });

  it("serves a workspace whose changes are looked at before they happen", async () => {
    const memory = new MemoryBackend({ "/ws/a.ts": "const retries = 3;\n" });
    const overlay = new OverlayBackend(memory);
    const ws = await openWorkspace({ backend: overlay, root: "/ws" });
    const edits = [{ old_text: "retries = 3", new_text: "retries = 5" }];
    await ws.editFile({ path: "a.ts", edits });
    await ws.move({ source: "a.ts", destination: "lib/b.ts" });
    expect((await overlay.changes()).map(({ path, change }) => `${change} ${path}`)).toEqual([
      "removed /ws/a.ts",
      "added /ws/lib",
      "added /ws/lib/b.ts",
    ]);
    expect(all(memory)).toEqual({ "/ws/a.ts": "const retries = 3;\n" });
    await ws.close();
    await overlay.commit();
    expect(all(memory)).toEqual({ "/ws/lib/b.ts": "const retries = 5;\n" });
  });
});
