import { describe, expect, it } from "vitest";
import { FilewrightError, MemoryBackend } from "../../js/index.node.ts";

const code = async (run: () => unknown): Promise<string> => {
  try {
    await run();
  } catch (error) {
    if (error instanceof FilewrightError) return error.code;
    throw error;
  }
  return "OK";
};

describe("MemoryBackend", () => {
  it("is case-sensitive and takes only `/` apart", async () => {
    const fs = new MemoryBackend({ "/a": "1", "/A": "2", "/a\\b": "3" });
    expect(await fs.readText("/x/../a")).toBe("1");
    expect(await fs.readText("/A")).toBe("2");
    expect((await fs.listDir("/")).map((e) => e.name)).toEqual(["A", "a", "a\\b"]);
    expect(await code(() => fs.writeText("/a/z", "4"))).toBe("NOT_DIRECTORY");
  });

  it("gives back what it was seeded with, from either form", () => {
    const dump = {
      "/d": { type: "dir" },
      "/d/empty": { type: "dir", mode: 0o700 },
      "/d/f": { type: "file", b64: "AP8=", mode: 0o600 },
      "/d/l": { type: "symlink", target: "f" },
    } as const;
    const fs = new MemoryBackend(dump);
    expect(fs.dump()).toEqual(dump);
    expect(JSON.parse(JSON.stringify(fs))).toEqual(dump);
    expect(new MemoryBackend({ "x/y.txt": "t", "/b": new Uint8Array([1]) }).dump()).toEqual({
      "/b": { type: "file", b64: "AQ==" },
      "/x": { type: "dir" },
      "/x/y.txt": { type: "file", b64: "dA==" },
    });
  });

  it("shares nothing: neither with another instance nor with the caller's bytes", async () => {
    const bytes = new Uint8Array([1, 2]);
    const seed = { "/f": bytes };
    const one = new MemoryBackend(seed);
    const two = new MemoryBackend(seed);
    bytes[0] = 9;
    (await one.readBytes("/f"))[1] = 9;
    const written = new Uint8Array([3]);
    for (const path of ["/f2", "/f2"]) await one.writeBytes(path, written);
    written[0] = 9;
    expect([...(await one.readBytes("/f2"))]).toEqual([3]);
    await one.writeText("/g", "x");
    expect([...(await one.readBytes("/f"))]).toEqual([1, 2]);
    expect([...(await two.readBytes("/f"))]).toEqual([1, 2]);
    expect(await two.exists("/g")).toBe(false);
  });

  it("follows forty links and refuses the forty-first", async () => {
    const fs = new MemoryBackend({ "/l0": "end" });
    for (let i = 1; i <= 41; i++) await fs.symlink(i % 2 ? `l${i - 1}` : `/l${i - 1}`, `/l${i}`);
    expect(await fs.readText("/l40")).toBe("end");
    expect(await code(() => fs.readText("/l41"))).toBe("LOOP");
    await fs.symlink("self", "/self");
    expect(await code(() => fs.stat("/self"))).toBe("LOOP");
    expect(await fs.exists("/self")).toBe(false);
  });

  it("tells the fault of a source before that of a target", async () => {
    const fs = new MemoryBackend({ "/d": { type: "dir" }, "/loop": { type: "symlink", target: "loop" } });
    expect(await code(() => fs.copyFile("/d", "/loop/x"))).toBe("IS_DIRECTORY");
    expect(await code(() => fs.rename("/gone", "/loop/x"))).toBe("NOT_FOUND");
    expect(await code(() => fs.copyTree("/gone", "/loop/x"))).toBe("NOT_FOUND");
  });

  it("resolves `..` of a link against the real parent", async () => {
    const fs = new MemoryBackend({ "/a/b/f": "deep", "/f": "top", "/a/f": "mid" });
    await fs.symlink("a/b", "/short");
    await fs.symlink("short/../f", "/up");
    expect(await fs.readText("/up")).toBe("mid");
    expect(await fs.realpath("/up")).toBe("/a/f");
    await fs.symlink("gone/x", "/dangling");
    expect(await fs.realpath("/dangling/y")).toBe("/gone/x/y");
  });

  it("tells time by its clock", async () => {
    let now = 1000;
    const fs = new MemoryBackend({ "/f": "1" }, { now: () => now });
    now = 2000;
    await fs.writeText("/f", "2");
    expect(await fs.stat("/f")).toMatchObject({ mtime: 2000, birthtime: 1000 });
  });

  it("keeps a version while the content is the same", async () => {
    const fs = new MemoryBackend({ "/f": "1" });
    const first = (await fs.stat("/f")).version as string;
    expect((await fs.writeText("/f", "1")).version).toBe(first);
    expect((await fs.writeText("/f", "2", { ifVersion: first })).version).not.toBe(first);
    expect(await code(() => fs.writeText("/f", "3", { ifVersion: first }))).toBe("CONFLICT");
    expect(await code(() => fs.writeText("/gone", "3", { ifVersion: first }))).toBe("CONFLICT");
    expect(await fs.readText("/f")).toBe("2");
  });

  it("returns to a snapshot, more than once, and to another backend's", async () => {
    const fs = new MemoryBackend({ "/d/f": "1" });
    const before = (await fs.stat("/d/f")).version;
    const kept = fs.snapshot();
    for (const text of ["2", "3"]) {
      await fs.writeText("/d/f", text);
      await fs.writeText("/d/new", text);
      fs.restore(kept);
      expect(await fs.readText("/d/f")).toBe("1");
      expect(await fs.exists("/d/new")).toBe(false);
      expect((await fs.stat("/d/f")).version).toBe(before);
    }
    const other = new MemoryBackend({ "/other": "x" });
    const stale = (await other.stat("/other")).version as string;
    other.restore(kept);
    expect(Object.keys(other.dump())).toEqual(["/d", "/d/f"]);
    expect(await code(() => other.writeText("/d/f", "9", { ifVersion: stale }))).toBe("CONFLICT");
    expect(await code(() => fs.restore({ takenAt: 0 }))).toBe("INVALID_ARGUMENT");
  });

  it("keeps each of several snapshots apart from later changes, whatever changes", async () => {
    const fs = new MemoryBackend({ "/d/f": "1", "/d/e/g": "2", "/l": { type: "symlink", target: "d" } });
    const states = [fs.dump()];
    const kept = [fs.snapshot()];
    const changes = [
      () => fs.writeText("/d/f", "changed"),
      () => fs.chmod("/d/e", 0o700),
      () => fs.chmod("/l/e/g", 0o600),
      () => fs.rename("/d/e", "/d/moved"),
      () => fs.copyTree("/d", "/copy"),
      () => fs.delete("/copy/moved/g"),
      () => fs.removeTree("/d"),
      () => fs.mkdir("/d/again"),
    ];
    for (const change of changes) {
      await change();
      states.push(fs.dump());
      kept.push(fs.snapshot());
    }
    for (const [at, snapshot] of [...kept.entries()].reverse()) {
      fs.restore(snapshot);
      expect(fs.dump()).toEqual(states[at]);
      await fs.writeText("/d", "not kept").catch(() => fs.writeText("/d/f", "not kept"));
    }
  });

  it("keeps the version and the id of what lies in a directory that is moved, and the times", async () => {
    let now = 1000;
    const fs = new MemoryBackend({ "/d/e/f": "1" }, { now: () => now++ });
    const { path: _, ...before } = await fs.stat("/d/e/f");
    await fs.rename("/d", "/moved");
    expect(await fs.stat("/moved/e/f")).toEqual({ path: "/moved/e/f", ...before });
    await fs.copyTree("/moved", "/copy");
    const copied = await fs.stat("/copy/e/f");
    expect([copied.version, copied.fileId, copied.mtime]).not.toContain(before.version);
    expect(copied.fileId).not.toBe(before.fileId);
  });

  it("leaves nothing of a copy of a tree that fails half-way", async () => {
    const fs = new MemoryBackend({
      "/from/a": "new",
      "/from/z": "new",
      "/to/a": "old",
      "/to/z/x": "in the way",
    });
    const before = fs.dump();
    const { version, mtime } = await fs.stat("/to/a");
    expect(await code(() => fs.copyTree("/from", "/to", { overwrite: true }))).toBe("IS_DIRECTORY");
    expect(fs.dump()).toEqual(before);
    expect(await fs.stat("/to/a")).toMatchObject({ version, mtime });
  });

  it("merges a tree with what is above it as it was before", async () => {
    const fs = new MemoryBackend({ "/a/b/x": "of b", "/a/b/b/x": "of b/b", "/a/x": "of a" });
    await fs.copyTree("/a/b", "/a", { overwrite: true });
    const texts = ["/a/x", "/a/b/x", "/a/b/b/x"].map((path) => fs.readText(path));
    expect(await Promise.all(texts)).toEqual(["of b", "of b/b", "of b/b"]);
  });

  it("orders by code point, by full path", async () => {
    const names = ["b", "a/x", "a-b", "a", "\u{1f600}", "\uffee", "Z"].map((n) => `/${n === "a" ? "a/" : n}`);
    const fs = new MemoryBackend(Object.fromEntries(names.filter((n) => n !== "/a/").map((n) => [n, ""])));
    expect([...fs.iterFiles("/")]).toEqual(["/Z", "/a-b", "/a/x", "/b", "/\uffee", "/\u{1f600}"]);
    expect((await fs.listDir("/")).map((e) => e.name)).toEqual(["a", "Z", "a-b", "b", "\uffee", "\u{1f600}"]);
  });

  it("lists a large directory as it was when the listing began, and its changes the next time", async () => {
    const files = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`/d/f${n}`, ""]));
    const fs = new MemoryBackend({ ...files, "/d/sub": { type: "dir" } });
    const names = (entries: readonly { readonly name: string }[]) => entries.map(({ name }) => name);
    const before = names(await fs.listDir("/d"));
    await fs.writeText("/d/e", "");
    await fs.delete("/d/e");
    const listing = fs.listDir("/d");
    await fs.delete("/d/f7");
    await fs.writeText("/d/a", "");
    expect(names(await listing)).toEqual(before);
    const after = ["sub", "a", ...before.slice(1).filter((name) => name !== "f7")];
    expect(names(await fs.listDir("/d"))).toEqual(after);
    expect(names(await fs.listDir("/d"))).toEqual(after);
  });

  it("iterates over what is still there, also after a snapshot", async () => {
    const fs = new MemoryBackend({ "/d/a": "", "/d/b": "", "/d/c": "" });
    const files = fs.iterFiles("/")[Symbol.iterator]();
    expect(files.next().value).toBe("/d/a");
    const kept = fs.snapshot();
    await fs.delete("/d/b");
    expect(files.next().value).toBe("/d/c");
    fs.restore(kept);
    expect([...fs.iterFiles("/")]).toEqual(["/d/a", "/d/b", "/d/c"]);
    const again = fs.iterFiles("/d")[Symbol.iterator]();
    expect(again.next().value).toBe("/d/a");
    await fs.delete("/d/b");
    await fs.mkdir("/d/b");
    expect(again.next().value).toBe("/d/c");
  });

  it("iterates lazily and over very deep trees", async () => {
    const deep = `${"/d".repeat(5000)}/f`;
    const fs = new MemoryBackend({ [deep]: "x", "/z": "" });
    const files = fs.iterFiles("/")[Symbol.iterator]();
    expect(files.next().value).toBe(deep);
    await fs.delete("/z");
    expect(files.next().done).toBe(true);
    expect(fs.snapshot()).toBeDefined();
  });
});
