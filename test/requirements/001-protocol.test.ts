/** The requirements of the storage protocol. */
import { describe, expect, test } from "vitest";
import {
  FilewrightError,
  type FsBackend,
  type FsEntry,
  type FsStat,
  isFsBackend,
  openWorkspace,
  SandboxedBackend,
  SandboxPolicy,
} from "../../js/index.node.ts";
import { bytesOf, ELEVEN, STORAGES, stored } from "./storage.ts";

describe.each(STORAGES)("the protocol over %s", (kind) => {
  const open = () => stored(kind, { "z/f": "é", a: "aa", "m/deep/g": "" });

  test("is recognised by its methods", async () => {
    const { backend, root } = await open();
    expect(isFsBackend(backend)).toBe(true);
    expect(isFsBackend(new SandboxedBackend(backend, SandboxPolicy.workspaceOnly(root)))).toBe(true);
    for (const missing of ELEVEN) {
      const partial = Object.fromEntries(
        ELEVEN.filter((name) => name !== missing).map((name) => [name, () => 0]),
      );
      expect(isFsBackend(partial), missing).toBe(false);
    }
    for (const other of [null, undefined, 1, "x", []]) expect(isFsBackend(other)).toBe(false);
  });

  test("exists never throws; stat does for what is not there", async () => {
    const { backend, root } = await open();
    expect(await Promise.all([backend.exists(`${root}/a`), backend.exists(`${root}/z`)])).toEqual([
      true,
      true,
    ]);
    expect([await backend.exists(`${root}/gone/x`), await backend.exists(`${root}/a/x`)]).toEqual([
      false,
      false,
    ]);
    await expect((async () => backend.stat(`${root}/gone`))()).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("texts and bytes, in and out, in UTF-8 unless told otherwise", async () => {
    const { backend, root } = await open();
    await backend.writeText(`${root}/t`, "é\n");
    expect(Array.from(await backend.readBytes(`${root}/t`))).toEqual([0xc3, 0xa9, 0x0a]);
    await backend.writeText(`${root}/t`, "é", { encoding: "latin1" });
    expect(Array.from(await backend.readBytes(`${root}/t`))).toEqual(
      kind === "eleven methods" ? [0xc3, 0xa9] : [0xe9],
    );
    await backend.writeBytes(`${root}/t`, Uint8Array.of(0xe9));
    expect(await backend.readText(`${root}/t`, { encoding: "latin1" })).toBe("é");
    await expect((async () => backend.readText(`${root}/t`))()).rejects.toMatchObject({
      code: "ENCODING_ERROR",
    });
  });

  test("delete takes a file or an empty directory, and nothing more", async () => {
    const { backend, root } = await open();
    await expect((async () => backend.delete(`${root}/z`))()).rejects.toMatchObject({ code: "NOT_EMPTY" });
    await backend.delete(`${root}/z/f`);
    await backend.delete(`${root}/z`);
    expect(await backend.exists(`${root}/z`)).toBe(false);
  });

  test("mkdir makes parents, and a directory that is there is fine, unless told otherwise", async () => {
    const { backend, root } = await open();
    await backend.mkdir(`${root}/n/m`);
    await backend.mkdir(`${root}/n/m`);
    const refused = (path: string, options: object, code: string) =>
      expect((async () => backend.mkdir(`${root}/${path}`, options))()).rejects.toMatchObject({ code });
    await refused("x/y", { parents: false }, "NOT_FOUND");
    await refused("n/m", { existOk: false }, "ALREADY_EXISTS");
    expect(await backend.exists(`${root}/x`)).toBe(false);
  });

  test("a listing: directories first, then by name, each entry frozen", async () => {
    const { backend, root } = await open();
    const entries = await backend.listDir(root);
    expect(entries.map(({ name }) => name)).toEqual(["m", "z", "a"]);
    const [first, , last] = entries as readonly [FsEntry, FsEntry, FsEntry];
    expect(first).toMatchObject({ name: "m", path: `${root}/m`, isDir: true, isFile: false });
    expect(last).toMatchObject({ name: "a", path: `${root}/a`, isDir: false, isFile: true });
    for (const entry of entries) expect(Object.isFrozen(entry)).toBe(true);
  });

  test("the files below a directory come one by one", async () => {
    const { backend, root } = await open();
    const seen: string[] = [];
    for await (const path of backend.iterFiles(root)) {
      seen.push(path);
      // Lazy: what goes before its turn is not given.
      if (seen.length === 1) await backend.delete(`${root}/z/f`);
    }
    expect(seen).toEqual([`${root}/a`, `${root}/m/deep/g`]);
  });

  test("glob: below a root, and below the workspace when that is all there is", async () => {
    const { backend, root } = await open();
    expect(await backend.glob("**/g", { root })).toEqual([`${root}/m/deep/g`]);
    const sandboxed = new SandboxedBackend(backend, SandboxPolicy.workspaceOnly(root));
    expect(await sandboxed.glob("*/f")).toEqual([`${root}/z/f`]);
  });

  test("facts are frozen: path, size in bytes, kind, time", async () => {
    const { backend, root } = await open();
    const facts: FsStat = await backend.stat(`${root}/z/f`);
    expect(facts).toMatchObject({
      path: `${root}/z/f`,
      size: 2,
      isDir: false,
      isFile: true,
      mtime: expect.any(Number),
    });
    expect(Math.abs(Date.now() - facts.mtime)).toBeLessThan(600_000);
    expect(() => Object.assign(facts, { size: 9 })).toThrow(TypeError);
  });

  test("glob and grep find the same as anywhere", async () => {
    const { backend, root } = await stored(kind, {
      "a.ts": "one\ntwo\n",
      "d/b.ts": "two\n",
      "d/c.md": "two\n",
      ".gitignore": "x\n",
      x: "two",
    });
    await using ws = await openWorkspace({ backend, root });
    expect((await ws.glob({ pattern: "*.ts" })).matches).toEqual(["a.ts", "d/b.ts"]);
    const { matches, total_matches } = await ws.grep({ pattern: "^two$" });
    expect(matches?.map(({ path, line }) => `${path}:${line}`)).toEqual(["a.ts:2", "d/b.ts:1", "d/c.md:1"]);
    expect(total_matches).toBe(3);
  });
});

describe("storage of one's own", () => {
  /** Objects by key, as buckets have them: no directories, and only what begins with a prefix is listed. */
  function bucketBackend(objects: Map<string, Uint8Array>): FsBackend {
    const key = (path: string): string => path.slice(1);
    const missing = (path: string) => new FilewrightError("NOT_FOUND", "no such object", { path });
    const get = (path: string): Uint8Array => {
      const found = objects.get(key(path));
      if (found === undefined)
        throw isPrefix(path) ? new FilewrightError("IS_DIRECTORY", "a prefix", { path }) : missing(path);
      return found;
    };
    const isPrefix = (path: string): boolean =>
      path === "/" || [...objects.keys()].some((one) => one.startsWith(`${key(path)}/`));
    const facts = (path: string): FsStat => {
      const isFile = objects.has(key(path));
      if (!isFile && !isPrefix(path)) throw missing(path);
      const size = objects.get(key(path))?.length ?? 0;
      return Object.freeze({ path, type: isFile ? "file" : "dir", isFile, isDir: !isFile, size, mtime: 0 });
    };
    return {
      exists: (path) => objects.has(key(path)) || isPrefix(path),
      stat: facts,
      readBytes: get,
      readText: (path) => new TextDecoder().decode(get(path)),
      writeBytes(path, content) {
        objects.set(key(path), content);
        return {};
      },
      writeText(path, content) {
        objects.set(key(path), bytesOf(content));
        return {};
      },
      delete: (path) => void objects.delete(key(path)),
      mkdir: () => undefined,
      listDir(path) {
        const prefix = path === "/" ? "" : `${key(path)}/`;
        const below = [...objects.keys()]
          .filter((one) => one.startsWith(prefix))
          .map((one) => one.slice(prefix.length));
        const names = [...new Set(below.map((one) => one.split("/")[0] as string))];
        const entries = names.map((name) =>
          Object.freeze({ name, ...facts(`${path === "/" ? "" : path}/${name}`) }),
        );
        return entries.sort((a, b) => Number(b.isDir) - Number(a.isDir) || (a.name < b.name ? -1 : 1));
      },
      *iterFiles(root) {
        for (const one of [...objects.keys()].sort()) if (`/${one}`.startsWith(`${root}/`)) yield `/${one}`;
      },
      glob: () => [],
    };
  }

  test("an object with the eleven methods is enough: a bucket with head, get, put and list", async () => {
    const objects = new Map([["w/a.txt", bytesOf("one\n")]]);
    const backend = bucketBackend(objects);
    expect(isFsBackend(backend)).toBe(true);
    await using ws = await openWorkspace({ backend, root: "/w" });
    await ws.writeFile({ path: "d/b.txt", content: "two\n" });
    await ws.editFile({ path: "a.txt", old_text: "one", new_text: "1" });
    expect([...objects].map(([name, bytes]) => [name, new TextDecoder().decode(bytes)])).toEqual([
      ["w/a.txt", "1\n"],
      ["w/d/b.txt", "two\n"],
    ]);
    expect((await ws.grep({ pattern: "t.o" })).matches).toMatchObject([{ path: "d/b.txt" }]);
    expect((await ws.call("read_file", { path: "/elsewhere" })).error?.code).toBe("OUTSIDE_ALLOWED");
  });
});
