import { describe, expect, it } from "vitest";
import { FilewrightError, MemoryBackend } from "../../js/index.node.ts";

const code = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof FilewrightError) return error.code;
    throw error;
  }
  return "OK";
};

describe("MemoryBackend", () => {
  it("is case-sensitive and takes only `/` apart", () => {
    const fs = new MemoryBackend({ "/a": "1", "/A": "2", "/a\\b": "3" });
    expect(fs.readTextSync("/x/../a")).toBe("1");
    expect(fs.readTextSync("/A")).toBe("2");
    expect(fs.listDirSync("/").map((e) => e.name)).toEqual(["A", "a", "a\\b"]);
    expect(code(() => fs.writeTextSync("/a/z", "4"))).toBe("NOT_DIRECTORY");
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

  it("shares nothing: neither with another instance nor with the caller's bytes", () => {
    const bytes = new Uint8Array([1, 2]);
    const seed = { "/f": bytes };
    const one = new MemoryBackend(seed);
    const two = new MemoryBackend(seed);
    bytes[0] = 9;
    one.readBytesSync("/f")[1] = 9;
    one.writeTextSync("/g", "x");
    expect([...one.readBytesSync("/f")]).toEqual([1, 2]);
    expect([...two.readBytesSync("/f")]).toEqual([1, 2]);
    expect(two.existsSync("/g")).toBe(false);
  });

  it("follows forty links and refuses the forty-first", async () => {
    const fs = new MemoryBackend({ "/l0": "end" });
    for (let i = 1; i <= 41; i++) await fs.symlink(i % 2 ? `l${i - 1}` : `/l${i - 1}`, `/l${i}`);
    expect(fs.readTextSync("/l40")).toBe("end");
    expect(code(() => fs.readTextSync("/l41"))).toBe("LOOP");
    await fs.symlink("self", "/self");
    expect(code(() => fs.statSync("/self"))).toBe("LOOP");
    expect(fs.existsSync("/self")).toBe(false);
  });

  it("resolves `..` of a link against the real parent", async () => {
    const fs = new MemoryBackend({ "/a/b/f": "deep", "/f": "top", "/a/f": "mid" });
    await fs.symlink("a/b", "/short");
    await fs.symlink("short/../f", "/up");
    expect(fs.readTextSync("/up")).toBe("mid");
    expect(await fs.realpath("/up")).toBe("/a/f");
    await fs.symlink("gone/x", "/dangling");
    expect(await fs.realpath("/dangling/y")).toBe("/gone/x/y");
  });

  it("tells time by its clock", () => {
    let now = 1000;
    const fs = new MemoryBackend({ "/f": "1" }, { now: () => now });
    now = 2000;
    fs.writeTextSync("/f", "2");
    expect(fs.statSync("/f")).toMatchObject({ mtime: 2000, birthtime: 1000 });
  });

  it("keeps a version while the content is the same", () => {
    const fs = new MemoryBackend({ "/f": "1" });
    const first = fs.statSync("/f").version as string;
    expect(fs.writeTextSync("/f", "1").version).toBe(first);
    expect(fs.writeTextSync("/f", "2", { ifVersion: first }).version).not.toBe(first);
    expect(code(() => fs.writeTextSync("/f", "3", { ifVersion: first }))).toBe("CONFLICT");
    expect(code(() => fs.writeTextSync("/gone", "3", { ifVersion: first }))).toBe("CONFLICT");
    expect(fs.readTextSync("/f")).toBe("2");
  });

  it("returns to a snapshot, more than once, and to another backend's", () => {
    const fs = new MemoryBackend({ "/d/f": "1" });
    const before = fs.statSync("/d/f").version;
    const kept = fs.snapshot();
    for (const text of ["2", "3"]) {
      fs.writeTextSync("/d/f", text);
      fs.writeTextSync("/d/new", text);
      fs.restore(kept);
      expect(fs.readTextSync("/d/f")).toBe("1");
      expect(fs.existsSync("/d/new")).toBe(false);
      expect(fs.statSync("/d/f").version).toBe(before);
    }
    const other = new MemoryBackend({ "/other": "x" });
    const stale = other.statSync("/other").version as string;
    other.restore(kept);
    expect(Object.keys(other.dump())).toEqual(["/d", "/d/f"]);
    expect(code(() => other.writeTextSync("/d/f", "9", { ifVersion: stale }))).toBe("CONFLICT");
    expect(code(() => fs.restore({ takenAt: 0 }))).toBe("INVALID_ARGUMENT");
  });

  it("orders by code point, by full path", () => {
    const names = ["b", "a/x", "a-b", "a", "\u{1f600}", "\uffee", "Z"].map((n) => `/${n === "a" ? "a/" : n}`);
    const fs = new MemoryBackend(Object.fromEntries(names.filter((n) => n !== "/a/").map((n) => [n, ""])));
    expect([...fs.iterFiles("/")]).toEqual(["/Z", "/a-b", "/a/x", "/b", "/\uffee", "/\u{1f600}"]);
    expect(fs.listDirSync("/").map((e) => e.name)).toEqual(["a", "Z", "a-b", "b", "\uffee", "\u{1f600}"]);
  });

  it("lists a large directory as it was when the listing began, and its changes the next time", async () => {
    const files = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`/d/f${n}`, ""]));
    const fs = new MemoryBackend({ ...files, "/d/sub": { type: "dir" } });
    const names = (entries: readonly { readonly name: string }[]) => entries.map(({ name }) => name);
    const before = names(fs.listDirSync("/d"));
    fs.writeTextSync("/d/e", "");
    fs.deleteSync("/d/e");
    const listing = fs.listDir("/d");
    fs.deleteSync("/d/f7");
    fs.writeTextSync("/d/a", "");
    expect(names(await listing)).toEqual(before);
    const after = ["sub", "a", ...before.slice(1).filter((name) => name !== "f7")];
    expect(names(await fs.listDir("/d"))).toEqual(after);
    expect(names(fs.listDirSync("/d"))).toEqual(after);
  });

  it("iterates lazily and over very deep trees", () => {
    const deep = `${"/d".repeat(5000)}/f`;
    const fs = new MemoryBackend({ [deep]: "x", "/z": "" });
    const files = fs.iterFiles("/")[Symbol.iterator]();
    expect(files.next().value).toBe(deep);
    fs.deleteSync("/z");
    expect(files.next().done).toBe(true);
    expect(fs.snapshot()).toBeDefined();
  });
});
