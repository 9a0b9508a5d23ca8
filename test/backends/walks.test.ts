/** What walks of trees leave out, count and refuse, on every storage. */
import { asFiles } from "../../js/backends/host-files.ts";
import type { Files } from "../../js/backends/files.ts";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeError } from "../../js/engine/errors.ts";
import { filesBelow, walkTree } from "../../js/backends/fallback/walk-tree.ts";
import { isTempName } from "../../js/backends/walk/temp-name.ts";
import { FilewrightError, LocalBackend, MemoryBackend } from "../../js/index.node.ts";
import { minimalBackend } from "./minimal.ts";
import { KINDS, place, temporary } from "../tools/harness.ts";

const TEMPORARY = ".filewright-0a1b2c3d-1f-9c-0123456789abcdef";

async function all<T>(items: AsyncIterable<T> | Iterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe("Filewright's temporary files", () => {
  const seed = {
    "a.txt": "x\n",
    [TEMPORARY]: "x\n",
    [`${TEMPORARY}-kept`]: "x\n",
    [`d/${TEMPORARY}/below.txt`]: "x\n",
    ".filewright-x": "x\n",
  };

  test.for(KINDS)("are left out of listings and searches, %s", async (kind) => {
    const { ws } = await place(kind, seed);
    const listing = await ws.listDirectory({ depth: 9 });
    expect(listing.entries.map(({ path }) => path)).toEqual(["d", ".filewright-x", "a.txt"]);
    const [bare, bySize] = [await ws.listDirectory({}), await ws.listDirectory({ depth: 9, sort: "size" })];
    expect([bare.total, bySize.total]).toEqual([3, 3]);
    expect((await ws.glob({ pattern: "**" })).matches).toEqual([".filewright-x", "a.txt"]);
    const found = await ws.grep({ pattern: "x", output: "files" });
    expect(found.files).toEqual([".filewright-x", "a.txt"]);
  });

  test("are left out of files below a directory, and removed with it", async () => {
    const inMemory = Object.fromEntries(Object.entries(seed).map(([path, text]) => [`/w/${path}`, text]));
    const memory = new MemoryBackend(inMemory);
    const { root } = await temporary(seed);
    for (const [backend, top] of [
      [memory, "/w"],
      [new LocalBackend(), root],
    ] as const) {
      const files = (await all(backend.iterFiles(top))).map((path) => path.slice(top.length));
      expect(files).toEqual(["/.filewright-x", "/a.txt"]);
    }
    expect(await all(filesBelow(memory, "/w"))).toEqual(["/w/.filewright-x", "/w/a.txt"]);
    // A storage without its own removal would otherwise find the directory not empty.
    const plain = asFiles(minimalBackend(inMemory));
    expect(await plain.removeTree("/w")).toEqual({ files: 5, directories: 3, bytes: 10 });
    expect(await plain.exists("/w")).toBe(false);
  });

  test.for([
    [TEMPORARY, true],
    [`${TEMPORARY}-kept`, true],
    [".filewright-0a1b2c3d-12345678-0123456789abcdef-0123456789abcdef", true],
    [".filewright-", false],
    [".filewright-x", false],
    [".filewright-0A1b2c3d-1f-9c-0123456789abcdef", false],
    [".filewright-0a1b2c3d--9c-0123456789abcdef", false],
    [".filewright-0a1b2c3d-123456789-9c-0123456789abcdef", false],
    [`${TEMPORARY}-`, false],
    [`${TEMPORARY}-kept-kept`, false],
    [`${TEMPORARY}\n`, false],
  ] as const)("have a name of one form: %j is %s, as the native walk has it", async ([name, isTemporary]) => {
    expect(isTempName(name)).toBe(isTemporary);
    const { root } = await temporary({ [name]: "" });
    expect(await all(new LocalBackend().iterFiles(root))).toHaveLength(isTemporary ? 0 : 1);
  });
});

describe("a directory below the start", () => {
  const seed = { "/w/a.txt": "x", "/w/bad/b.txt": "x", "/w/c/d.txt": "x" };
  const failing = (code: "PERMISSION_DENIED" | "NOT_FOUND" | "NOT_DIRECTORY" | "IO_ERROR"): Files => {
    const inner = minimalBackend(seed);
    return asFiles({
      ...inner,
      listDir: async (path) => {
        if (path === "/w/bad") throw makeError(code, code, { path });
        return inner.listDir(path);
      },
    });
  };
  const query = { pattern: "**", index: "off" } as const;

  test.for(["NOT_FOUND", "NOT_DIRECTORY"] as const)(
    "that vanished (%s) is empty for every walk",
    async (code) => {
      const backend = failing(code);
      const found = await backend.find("/w", query);
      expect([found.paths, found.unreadable]).toEqual([["a.txt", "c/d.txt"], 0]);
      expect((await backend.grep("/w", { pattern: "x" })).unreadable).toBe(0);
      expect(await all(filesBelow(backend, "/w"))).toEqual(["/w/a.txt", "/w/c/d.txt"]);
      expect(await all(walkTree(backend, "/w"))).toHaveLength(4);
    },
  );

  test.for(["PERMISSION_DENIED", "IO_ERROR"] as const)(
    "that cannot be read (%s) is counted by searches and refuses whoever needs the whole tree",
    async (code) => {
      const backend = failing(code);
      const found = await backend.find("/w", query);
      expect([found.paths, found.unreadable]).toEqual([["a.txt", "c/d.txt"], 1]);
      expect((await backend.grep("/w", { pattern: "x" })).unreadable).toBe(1);
      for (const walk of [filesBelow(backend, "/w"), walkTree(backend, "/w")])
        await expect(all(walk as AsyncIterable<unknown>)).rejects.toMatchObject({ code });
      await expect(backend.removeTree("/w")).rejects.toMatchObject({ code });
    },
  );
});

describe("a walk of a whole tree", () => {
  test("yields paths in the order of their code points, parents before their content", async () => {
    const files = ["a.txt", "a/x", "a-b", "a0", "\u{10000}", "\uffff", "é/z"];
    const memory = new MemoryBackend(Object.fromEntries(files.map((path) => [`/w/${path}`, ""])));
    const order = ["a", "a-b", "a.txt", "a/x", "a0", "é", "é/z", "\uffff", "\u{10000}"];
    expect((await all(walkTree(memory, "/w"))).map(({ path }) => path.slice(3))).toEqual(order);
    const dumped = Object.keys(memory.dump()).map((path) => path.slice(3));
    expect(dumped.filter((path) => path !== "")).toEqual(order);
  });

  test("passes over the content of directories that are not entered", async () => {
    const memory = new MemoryBackend({ "/w/a/b/c": "", "/w/d/e": "" });
    const paths = await all(walkTree(memory, "/w", undefined, ({ name }) => name !== "b"));
    expect(paths.map(({ path }) => path)).toEqual(["/w/a", "/w/a/b", "/w/d", "/w/d/e"]);
  });
});

describe("the exclude file of a repository", () => {
  test.for(KINDS)("is honoured, also inside another directory, %s", async (kind) => {
    const { ws } = await place(kind, {
      ".git/info/exclude": "*.log\n/out\n",
      ".git/HEAD": "",
      "a.log": "x",
      "d/b.log": "x",
      "d/.gitignore": "!b.log\n",
      "out/c.txt": "x",
      "k.txt": "x",
    });
    expect((await ws.glob({ pattern: "**/*" })).matches).toEqual(["d/.gitignore", "d/b.log", "k.txt"]);
    const below = await ws.glob({ pattern: "*", path: "d" });
    expect(below.matches).toEqual(["d/.gitignore", "d/b.log"]);
    const listing = await ws.listDirectory({ depth: 2, respect_ignore: true });
    expect(listing.entries.map(({ path }) => path)).toEqual(["d", "d/.gitignore", "d/b.log", "k.txt"]);
  });

  test("is read again after it changed, though searches are kept", async () => {
    const memory = new MemoryBackend({ "/w/.git/info/exclude": "a\n", "/w/a": "x", "/w/b": "x" });
    const search = async (root: string): Promise<readonly string[]> =>
      (await memory.grep(root, { pattern: "x" })).counts.map(({ path }) => path);
    expect([await search("/w"), await search("/w")]).toEqual([["b"], ["b"]]);
    await memory.writeText("/w/.git/info/exclude", "b\n");
    expect([await search("/w"), await search("/w")]).toEqual([["a"], ["a"]]);
    await memory.writeText("/w/d/b", "x", { createDirs: true });
    expect(await search("/w/d")).toEqual([]);
    await memory.delete("/w/.git/info/exclude");
    expect([await search("/w"), await search("/w/d")]).toEqual([["a", "b", "d/b"], ["b"]]);
  });
});

describe("a tree that is deeper than any search goes", () => {
  const LEVELS = 2050;
  const deepest = `${"d/".repeat(LEVELS)}f`;

  /** Makes the tree from its end, because its path is longer than one of a system call may be. */
  const makeDeep = async (root: string): Promise<void> => {
    const piece = LEVELS / 5;
    for (let made = 0; made < LEVELS; made += piece) {
      await mkdir(join(root, "next", "d/".repeat(piece - 1)), { recursive: true });
      if (made > 0) await rename(join(root, "d"), join(root, "next", "d/".repeat(piece - 1), "d"));
      await rename(join(root, "next"), join(root, "d"));
    }
  };

  test("is cut for searches at the same depth, and told", async () => {
    const { root } = await temporary();
    const local = new LocalBackend();
    await makeDeep(root);
    const storages = [
      [new MemoryBackend({ [`/w/${deepest}`]: "" }), "/w"],
      [local, root],
    ] as const;
    for (const [backend, top] of storages) {
      const found = await backend.find(top, { pattern: "**", type: "any", index: "off" });
      expect([found.total, found.unreadable]).toEqual([2049, 1]);
    }
    expect(await local.removeTree(join(root, "d"))).toMatchObject({ directories: LEVELS });
  });

  test("is walked to its end where everything is needed", async () => {
    const memory = new MemoryBackend({ [`/w/${deepest}`]: "" });
    expect(await all(filesBelow(memory, "/w"))).toEqual([`/w/${deepest}`]);
    expect(await asFiles(minimalBackend({ [`/w/${deepest}`]: "" })).removeTree("/w")).toMatchObject({
      directories: LEVELS + 1,
    });
  });
});

test("a cancelled walk ends with CANCELLED", async () => {
  const memory = new MemoryBackend({ "/w/a/b": "", "/w/c": "" });
  const stop = new AbortController();
  const seen: string[] = [];
  const run = async (): Promise<void> => {
    for await (const { path } of walkTree(memory, "/w", stop.signal)) {
      seen.push(path);
      stop.abort();
    }
  };
  await expect(run()).rejects.toBeInstanceOf(FilewrightError);
  expect(seen).toEqual(["/w/a"]);
});
