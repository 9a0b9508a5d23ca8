/** The additions of a storage to the backend below it. `backendContract` runs the contract of storages over every backend. */
import type { Files } from "../../js/backends/files.ts";
import { describe, expect, it } from "vitest";
import { FilewrightError, MemoryBackend } from "../../js/index.node.ts";
import { filesOf, memoryStorage, type Op, toBackend } from "../../js/storage/index.ts";
import { minimalBackend } from "../backends/minimal.ts";
import { mapDriver } from "./map-driver.ts";

describe("filesOf", () => {
  it("serves toBackend, and so every tool, both ways", async () => {
    const backend = toBackend(filesOf(toBackend(memoryStorage())));
    await backend.writeText("/a/b", "1", { createDirs: true });
    await backend.rename("/a", "/c");
    expect(await backend.readText("/c/b")).toBe("1");
  });

  it("rolls a commit back that fails in the middle, although it is not atomic", async () => {
    const storage = filesOf(new MemoryBackend({ "/a": "1" }));
    const body = new Uint8Array([50]);
    const commit = storage.commit([
      { op: "put", path: "/a", body },
      { op: "put", path: "/new/b", body },
      { op: "remove", path: "/gone" },
    ]);
    await expect(commit).rejects.toMatchObject({ code: "NOT_FOUND" });
    const { results } = await storage.readMany(["/a", "/new"]);
    expect(results[1]).toBeNull();
    expect(results[0]).toMatchObject({ entry: { size: 1 }, body: new Uint8Array([49]) });
    expect((await storage.probe()).atomic).toBe(false);
  });

  it("sees what another program changed meanwhile", async () => {
    const inner = new MemoryBackend({ "/r/a": "1" });
    const storage = filesOf(inner, { root: "/r" });
    const [found] = (await storage.readMany(["/a"])).results;
    const version = found && !(found instanceof Error) ? found.entry.version : "";
    await inner.writeText("/r/a", "other");
    const put = { op: "put", path: "/a", body: new Uint8Array([50]) } as const;
    await expect(storage.commit([put], { expect: [{ path: "/a", version }] })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    expect(await inner.readText("/r/a")).toBe("other");
  });
});

describe("another program that writes during a step of a commit", () => {
  const write = (path: string, text: string, mode?: number): Op => ({
    op: "put",
    path,
    body: new TextEncoder().encode(text),
    ...(mode === undefined ? {} : { mode }),
  });

  /** A storage over a backend in which another program writes `/a` before or after a call, once. */
  const start = (name: "chmod" | "rename" | "writeBytes", when: "before" | "after") => {
    const backend = new MemoryBackend({ "/a": "one" });
    const state = { isArmed: false };
    const inner = backend[name].bind(backend) as (...all: readonly unknown[]) => Promise<unknown>;
    const foreign = MemoryBackend.prototype.writeBytes.bind(backend);
    Object.defineProperty(backend, name, {
      async value(...all: readonly unknown[]) {
        const acts = state.isArmed && all[0] === "/a";
        if (acts) state.isArmed = false;
        if (acts && when === "before") await foreign("/a", new TextEncoder().encode("foreign"));
        const result = await inner(...all);
        if (acts && when === "after")
          await foreign("/a", new TextEncoder().encode("foreign"), { mode: 0o640 });
        return result;
      },
    });
    return { backend, state, storage: filesOf(backend) };
  };

  it("keeps its content where a later step fails", async () => {
    const { backend, state, storage } = start("writeBytes", "after");
    await storage.commit([{ op: "mkdir", path: "/d" }]);
    state.isArmed = true;
    const remove = backend.delete.bind(backend);
    backend.delete = async (path, options) => {
      if (path === "/d") throw new FilewrightError("PERMISSION_DENIED", "not this one");
      return remove(path, options);
    };
    const ops = [write("/a", "two", 0o600), { op: "remove", path: "/d" }] as const;
    await expect(storage.commit(ops)).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
      details: { rolled_back: false, left: ["/a"] },
    });
    expect(await backend.readText("/a")).toBe("foreign");
  });

  it("keeps its permission bits, and what it wrote does not count as written by the commit", async () => {
    const { backend, state, storage } = start("writeBytes", "after");
    await storage.commit([{ op: "mkdir", path: "/d" }]);
    state.isArmed = true;
    const { entries, version } = await storage.commit([write("/a", "two", 0o600)]);
    expect((await backend.stat("/a")).mode).toBe(0o640);
    const { results } = await storage.readMany(["/a"]);
    expect(results).not.toMatchObject([{ entry: { version: entries[0]?.version } }]);
    expect((await storage.changes(version, { limit: 9 })).entries.map(({ path }) => path)).toEqual(["/a"]);
  });

  it("is told as a conflict, and a change that depends on no version is planned again", async () => {
    const { backend, state, storage } = start("writeBytes", "before");
    const put = write("/a", "two");
    state.isArmed = true;
    await expect(storage.commit([put])).rejects.toMatchObject({
      code: "CONFLICT",
      details: { conflicts: [{ path: "/a" }] },
    });
    expect(await backend.readText("/a")).toBe("foreign");
    state.isArmed = true;
    await toBackend(storage).writeText("/a", "three");
    expect(await backend.readText("/a")).toBe("three");
  });

  it("is found by a move, which moves nothing else than was planned", async () => {
    const { backend, state, storage } = start("rename", "before");
    state.isArmed = true;
    await expect(storage.commit([{ op: "move", from: "/a", to: "/b" }])).rejects.toMatchObject({
      code: "CONFLICT",
    });
    expect(await backend.readText("/a")).toBe("foreign");
    expect(await backend.exists("/b")).toBe(false);
  });
});

it.each([
  ["a backend without permission bits", () => filesOf(minimalBackend())],
  ["a directory of a driver", () => filesOf(mapDriver())],
])("permission bits are refused on %s", async (_what, make) => {
  const storage = make();
  await storage.commit([{ op: "mkdir", path: "/d" }]);
  for (const mode of [0o755, 0o500]) {
    const commit = storage.commit([{ op: "chmod", path: "/d", mode }]);
    await expect(commit).rejects.toMatchObject({ code: "UNSUPPORTED_OPERATION" });
  }
});

describe("a step that cannot be taken back at once", () => {
  const start = (name: "delete" | "rename", path: string) => {
    const backend = new MemoryBackend({ "/a": "one", "/last": "last" });
    const inner = backend[name].bind(backend) as (...all: readonly unknown[]) => Promise<unknown>;
    const state = { isBroken: true };
    Object.defineProperty(backend, name, {
      async value(...all: readonly unknown[]) {
        if (state.isBroken && all[0] === path) throw new Error("the line is dead");
        return inner(...all);
      },
    });
    const write = backend.writeBytes.bind(backend);
    backend.writeBytes = async (at, ...rest) => {
      if (at === "/last") throw new FilewrightError("NO_SPACE", "no room");
      return write(at, ...rest);
    };
    return { backend, state, storage: filesOf(backend) };
  };
  const body = new TextEncoder().encode("two");
  it.each<[string, "delete" | "rename", string, readonly Op[], readonly string[]]>([
    [
      "a move after a write of the moved file",
      "rename",
      "/b",
      [
        { op: "put", path: "/a", body },
        { op: "move", from: "/a", to: "/b" },
      ],
      ["/a", "/b"],
    ],
    [
      "a new file of a backend that throws anything",
      "delete",
      "/new",
      [{ op: "put", path: "/new", body }],
      ["/new"],
    ],
  ])("is taken back before the next commit: %s", async (_what, name, path, ops, left) => {
    const { backend, state, storage } = start(name, path);
    await expect(storage.commit([...ops, { op: "put", path: "/last", body }])).rejects.toMatchObject({
      code: "IO_ERROR",
      details: { rolled_back: false, left },
    });
    await expect(storage.commit([])).rejects.toMatchObject({
      code: "IO_ERROR",
      details: { outcome: "none" },
    });
    state.isBroken = false;
    await storage.commit([]);
    expect(await backend.readText("/a")).toBe("one");
    expect((await storage.list({ limit: 9 })).entries.map((entry) => entry.path)).toEqual(["/a", "/last"]);
  });
});

it.each([
  ["with versions", () => new MemoryBackend()],
  ["without versions", () => minimalBackend()],
])("an unreadable file of a backend %s is listed, and fails alone", async (_what, make) => {
  const backend = make();
  await backend.mkdir("/d");
  await backend.writeText("/d/a", "a");
  await backend.writeText("/d/b", "b");
  for (const name of ["readBytes", "read", "hash"] as const) {
    const inner = (backend as Files)[name] as ((path: string, ...rest: unknown[]) => unknown) | undefined;
    if (inner === undefined) continue;
    Object.defineProperty(backend, name, {
      async value(path: string, ...rest: unknown[]) {
        if (path === "/d/b") throw new FilewrightError("PERMISSION_DENIED", "closed", { path });
        return inner.call(backend, path, ...rest);
      },
    });
  }
  const storage = filesOf(backend);
  const { entries } = await storage.list({ limit: 10 });
  expect(entries.map(({ path, hash, unreadable }) => [path, hash !== undefined, unreadable])).toEqual([
    ["/d", false, undefined],
    ["/d/a", true, undefined],
    ["/d/b", false, undefined],
  ]);
  expect((await storage.readMany(["/d/a", "/d/b"])).results).toMatchObject([
    { entry: { type: "file" } },
    { code: "PERMISSION_DENIED" },
  ]);
});
