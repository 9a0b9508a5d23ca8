import { shortcutsOf, provideShortcuts } from "../../js/backends/abilities.ts";
import type { Files } from "../../js/backends/files.ts";
import { describe, expect, it } from "vitest";
import {
  type Code,
  FilewrightError,
  FsPermissionError,
  MemoryBackend,
  SandboxedBackend,
  SandboxPolicy,
  SandboxViolation,
} from "../../js/index.node.ts";
import { copyEntry } from "../../js/backends/fallback/fallback-tree.ts";

const SEED = {
  "/ws/a.txt": "inside",
  "/ws/d/b.txt": "deep",
  "/ws/.git/config": "[core]",
  "/ws/.git/HEAD": "ref",
  "/out/secret.txt": "SECRET",
  "/out/dir/x": "SECRET",
  "/ws2/near.txt": "SECRET",
  "/ws/link-file": { type: "symlink", target: "/out/secret.txt" },
  "/ws/link-dir": { type: "symlink", target: "../out" },
  "/ws/link-gone": { type: "symlink", target: "/out/gone" },
  "/ws/link-in": { type: "symlink", target: "/ws/d" },
  "/ws/chain": { type: "symlink", target: "link-file" },
  "/ws/git": { type: "symlink", target: ".git" },
  "/ws/d/up": { type: "symlink", target: "../../ws/a.txt" },
} as const;

const policy = SandboxPolicy.workspaceOnly("/ws");

function make(over: SandboxPolicy = policy, seed: ConstructorParameters<typeof MemoryBackend>[0] = SEED) {
  const inner = new MemoryBackend(seed);
  return { inner, backend: new SandboxedBackend(inner, over) as Files };
}

async function codeOf(run: () => unknown): Promise<Code | "OK"> {
  try {
    await run();
    return "OK";
  } catch (error) {
    if (error instanceof FilewrightError) return error.code;
    throw error;
  }
}

const collect = async (files: AsyncIterable<string> | Iterable<string>): Promise<string[]> => {
  const all: string[] = [];
  for await (const file of files) all.push(file);
  return all;
};

const bytes = new TextEncoder().encode("PWN");
const READS: Record<string, (fs: Files, path: string) => unknown> = {
  stat: (fs, path) => fs.stat(path),
  readText: (fs, path) => fs.readText(path),
  readBytes: (fs, path) => fs.readBytes(path),
  read: (fs, path) => fs.read?.(path),
  listDir: (fs, path) => fs.listDir(path),
  iterFiles: (fs, path) => collect(fs.iterFiles(path)),
  glob: (fs, path) => fs.glob("**", { root: path }),
  realpath: (fs, path) => fs.realpath?.(path),
};
const WRITES: Record<string, (fs: Files, path: string) => unknown> = {
  writeText: (fs, path) => fs.writeText(path, "PWN", { createDirs: true }),
  writeBytes: (fs, path) => fs.writeBytes(path, bytes, { createDirs: true }),
  mkdir: (fs, path) => fs.mkdir(path),
  chmod: (fs, path) => fs.chmod?.(path, 0o777),
  "copyFile to": (fs, path) => fs.copyFile?.("/ws/a.txt", path, { overwrite: true }),
};
const WHOLE: Record<string, (fs: Files, path: string) => unknown> = {
  delete: (fs, path) => fs.delete(path),
  removeTree: (fs, path) => fs.removeTree?.(path),
  "rename from": (fs, path) => fs.rename?.(path, "/ws/stolen"),
  "rename to": (fs, path) => fs.rename?.("/ws/a.txt", path, { overwrite: true }),
  symlink: (fs, path) => fs.symlink?.("a.txt", path),
};
const OUTSIDE = ["/out/secret.txt", "/out/gone", "/out", "/ws2/near.txt", "/", "/ws/../out/secret.txt"];
const THROUGH = ["/ws/link-dir/secret.txt", "/ws/link-dir/new/file", "/ws/link-dir/dir/x"];
const LAST = ["/ws/link-file", "/ws/chain", "/ws/link-gone", "/ws/link-dir"];

describe("outside, for every operation", () => {
  const cases = [
    ...Object.entries(READS).map(([name, run]) => ({ name, run, paths: [...OUTSIDE, ...THROUGH, ...LAST] })),
    ...Object.entries(WRITES).map(([name, run]) => ({ name, run, paths: [...OUTSIDE, ...THROUGH, ...LAST] })),
    ...Object.entries(WHOLE).map(([name, run]) => ({ name, run, paths: [...OUTSIDE, ...THROUGH] })),
  ];
  it.each(cases)("$name is refused and changes nothing", async ({ run, paths }) => {
    for (const path of paths) {
      const { inner, backend } = make();
      const before = JSON.stringify(inner);
      const error = await Promise.resolve(run(backend, path))
        .then(
          () => null,
          (thrown: unknown) => thrown,
        )
        .catch((thrown: unknown) => thrown);
      expect(error, path).toBeInstanceOf(SandboxViolation);
      expect(error).toBeInstanceOf(FsPermissionError);
      expect(error).toMatchObject({ code: "OUTSIDE_ALLOWED", path });
      expect(JSON.stringify(inner), path).toBe(before);
    }
  });

  it("exists is false, and a refusal does not tell what is there", async () => {
    const { backend } = make();
    for (const path of [...OUTSIDE, ...THROUGH, ...LAST])
      expect(await backend.exists(path), path).toBe(false);
    const words = async (path: string) => (await Promise.resolve(backend.stat(path)).catch(String)) as string;
    const [there, gone] = [await words("/out/secret.txt"), await words("/out/gone!")];
    expect(there.replace("secret.txt", "*")).toBe(gone.replace("gone!", "*"));
    const [via, lost] = [await words("/ws/link-dir/secret.txt"), await words("/ws/link-dir/gone!")];
    expect(via.replace("secret.txt", "*")).toBe(lost.replace("gone!", "*"));
  });

  it("a root is compared by components", async () => {
    const { backend } = make();
    expect(await codeOf(() => backend.readText("/ws2/near.txt"))).toBe("OUTSIDE_ALLOWED");
    expect(await codeOf(() => backend.readText("/wsx"))).toBe("OUTSIDE_ALLOWED");
  });
});

describe("inside", () => {
  it("links that stay inside are followed, facts bear the path that was asked for", async () => {
    const { backend } = make();
    expect(await backend.readText("/ws/link-in/b.txt")).toBe("deep");
    expect(await backend.readText("/ws/d/up")).toBe("inside");
    expect(await backend.stat("/ws/link-in/b.txt")).toMatchObject({ path: "/ws/link-in/b.txt", size: 4 });
    expect((await backend.listDir("/ws/link-in")).map((e) => e.path)).toEqual([
      "/ws/link-in/b.txt",
      "/ws/link-in/up",
    ]);
    expect(await collect(backend.iterFiles("/ws/link-in"))).toEqual(["/ws/link-in/b.txt"]);
    expect(await backend.realpath?.("/ws/link-in/new")).toBe("/ws/d/new");
  });

  it("links that lead out are listed and can be removed, never entered", async () => {
    const { inner, backend } = make();
    expect((await backend.listDir("/ws")).map((e) => e.name)).toContain("link-dir");
    expect(await backend.lstat?.("/ws/link-dir")).toMatchObject({ type: "symlink", target: "../out" });
    const files = ["/ws/.git/HEAD", "/ws/.git/config", "/ws/a.txt", "/ws/d/b.txt"];
    expect(await collect(backend.iterFiles("/ws"))).toEqual(files);
    await backend.delete("/ws/link-dir");
    await backend.removeTree?.("/ws/link-file");
    expect(await inner.readText("/out/secret.txt")).toBe("SECRET");
    expect(await inner.exists("/out/dir/x")).toBe(true);
  });

  it("a link that would lead out cannot be made", async () => {
    const { inner, backend } = make();
    for (const target of ["/out/secret.txt", "../out", "../../../etc", "d/../../out", "/ws2"]) {
      expect(await codeOf(() => backend.symlink?.(target, "/ws/new")), target).toBe("OUTSIDE_ALLOWED");
    }
    expect(await inner.exists("/ws/new")).toBe(false);
    for (const [i, target] of ["a.txt", "/ws/d", "d/../a.txt", "not/yet"].entries()) {
      expect(await codeOf(() => backend.symlink?.(target, `/ws/new${i}`)), target).toBe("OK");
    }
  });

  it("a copied tree keeps its links, also those that lead out, which are refused when they are followed", async () => {
    const { inner, backend } = make();
    await backend.mkdir("/ws/s");
    await backend.symlink?.("x", "/ws/s/in");
    await backend.writeText("/ws/s/x", "1");
    await inner.symlink("/out/secret.txt", "/ws/s/out");
    expect(await copyEntry(backend, "/ws/s", "/ws/t")).toEqual({ files: 3, directories: 1, bytes: 1 });
    expect((await backend.listDir("/ws/t")).map((e) => e.name)).toEqual(["in", "out", "x"]);
    await expect(async () => backend.readText("/ws/t/out")).rejects.toMatchObject({
      code: "OUTSIDE_ALLOWED",
    });
    // As on a disk, where a copied link can lead out from its new place alone.
    await backend.symlink?.("..", "/ws/s/up");
    expect(await copyEntry(backend, "/ws/s/up", "/ws/up")).toMatchObject({ files: 1 });
    await expect(async () => backend.listDir("/ws/up")).rejects.toMatchObject({ code: "OUTSIDE_ALLOWED" });
  });

  it("the inner backend gets real paths and nothing else", async () => {
    const seen: unknown[][] = [];
    const memory = new MemoryBackend(SEED);
    const inner = new Proxy(memory, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (name === "readText" || name === "writeText") seen.push([name, ...args]);
          return value.apply(target, args) as unknown;
        };
      },
    });
    const backend = new SandboxedBackend(inner, policy);
    await backend.readText("/ws/link-in/b.txt");
    await backend.writeText("/ws/d/up", "new");
    await codeOf(() => backend.readText("/ws/link-file"));
    expect(seen).toEqual([
      ["readText", "/ws/d/b.txt", undefined],
      ["writeText", "/ws/a.txt", "new", undefined],
    ]);
  });

  it("roots are resolved once", async () => {
    const { inner, backend } = make(SandboxPolicy.workspaceOnly("/named"), {
      "/ws/f": "in",
      "/out/f": "SECRET",
      "/named": { type: "symlink", target: "/ws" },
    });
    expect(await backend.readText("/named/f")).toBe("in");
    await inner.delete("/named");
    await inner.symlink("/out", "/named");
    expect(await backend.readText("/named/f")).toBe("in");
    expect(await codeOf(() => backend.readText("/out/f"))).toBe("OUTSIDE_ALLOWED");
    await backend.writeText("/named/new", "x");
    expect(await inner.exists("/out/new")).toBe(false);
  });

  it("a root that is not there yet can be made", async () => {
    const { inner, backend } = make(SandboxPolicy.workspaceOnly("/tmp/scratch"), {});
    expect(await backend.exists("/tmp/scratch")).toBe(false);
    await backend.writeText("/tmp/scratch/f", "x", { createDirs: true });
    expect(Object.keys(inner.dump())).toEqual(["/tmp", "/tmp/scratch", "/tmp/scratch/f"]);
  });

  it("a root can be a single file", async () => {
    const { backend } = make(SandboxPolicy.allowList({ read: ["/ws/a.txt"] }));
    expect(await backend.readText("/ws/a.txt")).toBe("inside");
    expect(await codeOf(() => backend.readText("/ws/d/b.txt"))).toBe("OUTSIDE_ALLOWED");
    expect(await codeOf(() => backend.writeText("/ws/a.txt", "x"))).toBe("OUTSIDE_ALLOWED");
  });

  it("a root, and what holds one, cannot be taken away", async () => {
    const over = SandboxPolicy.allowList({ read: ["/ws"], write: ["/ws", "/ws/d/e"] });
    for (const path of ["/ws", "/ws/d", "/ws/d/e"]) {
      const { backend } = make(over);
      for (const [name, run] of Object.entries(WHOLE)) {
        if (name === "symlink") continue;
        expect(await codeOf(() => run(backend, path)), `${name} ${path}`).toBe("PROTECTED_PATH");
      }
    }
  });
});

describe("follow", () => {
  it("never refuses every link, but not the link itself", async () => {
    const { backend } = make(SandboxPolicy.workspaceOnly("/ws", { followSymlinks: "never" }));
    expect(await codeOf(() => backend.readText("/ws/link-in/b.txt"))).toBe("OUTSIDE_ALLOWED");
    expect(await codeOf(() => backend.readText("/ws/d/up"))).toBe("OUTSIDE_ALLOWED");
    expect(await backend.lstat?.("/ws/d/up")).toMatchObject({ type: "symlink" });
    expect(await backend.readText("/ws/d/b.txt")).toBe("deep");
  });

  it("any follows links out of the roots, but not typed paths", async () => {
    const { backend } = make(
      SandboxPolicy.workspaceOnly("/ws", { followSymlinks: "any", deny: ["/out/dir"] }),
    );
    expect(await backend.readText("/ws/link-file")).toBe("SECRET");
    expect(await codeOf(() => backend.readText("/out/secret.txt"))).toBe("OUTSIDE_ALLOWED");
    expect(await codeOf(() => backend.readText("/ws/link-dir/dir/x"))).toBe("OUTSIDE_ALLOWED");
  });
});

describe("rules", () => {
  const denying = SandboxPolicy.workspaceOnly("/ws", { deny: ["sec", "*.key"] });
  const seed = { "/ws/sec/k": "1", "/ws/ok": "2", "/ws/d/x.key": "3", "/ws/d/y": "4", "/ws/e/z": "5" };

  it("a denied path is outside, whatever leads there", async () => {
    const { inner, backend } = make(denying, { ...seed, "/ws/l": { type: "symlink", target: "sec" } });
    for (const path of ["/ws/sec", "/ws/sec/k", "/ws/d/x.key", "/ws/l", "/ws/l/k", "/ws/e/sec/new"]) {
      expect(await codeOf(() => backend.stat(path)), path).toBe("OUTSIDE_ALLOWED");
      expect(await codeOf(() => backend.writeText(path, "x", { createDirs: true })), path).toBe(
        "OUTSIDE_ALLOWED",
      );
      expect(await backend.exists(path), path).toBe(false);
    }
    expect(await inner.readText("/ws/sec/k")).toBe("1");
  });

  it("a denied path is in no enumeration", async () => {
    const { backend } = make(denying, seed);
    expect((await backend.listDir("/ws")).map((e) => e.name)).toEqual(["d", "e", "ok"]);
    expect(await collect(backend.iterFiles("/ws"))).toEqual(["/ws/d/y", "/ws/e/z", "/ws/ok"]);
  });

  it("a directory that holds something denied is neither deleted nor moved", async () => {
    const { inner, backend } = make(denying, seed);
    const before = JSON.stringify(inner);
    expect(await codeOf(() => backend.removeTree?.("/ws/d"))).toBe("OUTSIDE_ALLOWED");
    expect(await codeOf(() => backend.rename?.("/ws/d", "/ws/n"))).toBe("OUTSIDE_ALLOWED");
    expect(await codeOf(() => backend.rename?.("/ws/e", "/ws/sec"))).toBe("OUTSIDE_ALLOWED");
    expect(await codeOf(() => backend.delete("/ws/d"))).toBe("NOT_EMPTY");
    expect(JSON.stringify(inner)).toBe(before);
    expect(await codeOf(() => backend.removeTree?.("/ws/e"))).toBe("OK");
  });

  it("a copied directory leaves what is denied behind", async () => {
    const { inner, backend } = make(denying, seed);
    expect(await copyEntry(backend, "/ws/d", "/ws/n")).toEqual({ files: 1, directories: 1, bytes: 1 });
    expect(await inner.exists("/ws/n/x.key")).toBe(false);
  });

  const protecting = SandboxPolicy.workspaceOnly("/ws", { protect: true });
  it.each([
    "/ws/.git/config",
    "/ws/.git/hooks/pre-commit",
    "/ws/.GIT/Hooks/x",
    "/ws/.gitmodules",
    "/ws/sub/deep/.GitModules",
    "/ws/git/config",
    "/ws/git/hooks/x",
  ])("%s is not written, under any operation", async (path) => {
    for (const [name, run] of [...Object.entries(WRITES), ...Object.entries(WHOLE)]) {
      const { inner, backend } = make(protecting);
      const before = JSON.stringify(inner);
      expect(await codeOf(() => run(backend, path)), name).toBe("PROTECTED_PATH");
      expect(JSON.stringify(inner), name).toBe(before);
    }
  });

  it("what is protected may be read, its neighbours written, what holds it neither moved nor deleted", async () => {
    const { inner, backend } = make(protecting, { ...SEED, "/ws/p/q/.git/config": "c" });
    expect(await backend.readText("/ws/.git/config")).toBe("[core]");
    expect(await codeOf(() => backend.writeText("/ws/.git/HEAD", "x"))).toBe("PROTECTED_PATH");
    expect(await codeOf(() => backend.writeText("/ws/.git/COMMIT_EDITMSG", "x"))).toBe("OK");
    expect(await codeOf(() => backend.writeText("/ws/.gitx/hooks/x", "1", { createDirs: true }))).toBe("OK");
    for (const path of ["/ws/.git", "/ws/p", "/ws/p/q"]) {
      expect(await codeOf(() => backend.removeTree?.(path)), path).toBe("PROTECTED_PATH");
      expect(await codeOf(() => backend.rename?.(path, "/ws/moved")), path).toBe("PROTECTED_PATH");
    }
    expect(await codeOf(() => backend.rename?.("/ws/d", "/ws/p/.git"))).toBe("PROTECTED_PATH");
    expect(await codeOf(() => copyEntry(backend, "/ws/p", "/ws/copied"))).toBe("PROTECTED_PATH");
    expect(await inner.exists("/ws/copied")).toBe(false);
    expect(await inner.readText("/ws/p/q/.git/config")).toBe("c");
  });

  it("a read-only policy refuses every write with READ_ONLY", async () => {
    for (const [name, run] of [...Object.entries(WRITES), ...Object.entries(WHOLE)]) {
      const { inner, backend } = make(SandboxPolicy.readOnly("/ws"));
      const before = JSON.stringify(inner);
      expect(await codeOf(() => run(backend, "/ws/d/b.txt")), name).toBe("READ_ONLY");
      expect(JSON.stringify(inner), name).toBe(before);
      expect(await backend.readText("/ws/a.txt")).toBe("inside");
    }
  });

  it("a glob that does not parse fails the first call", async () => {
    const { backend } = make(SandboxPolicy.workspaceOnly("/ws", { deny: ["["] }));
    expect(await codeOf(() => backend.readText("/ws/a.txt"))).toBe("INVALID_GLOB");
  });
});

describe("a backend that can confine itself", () => {
  it("confines itself, and the decorator checks nothing again", async () => {
    const asked: SandboxPolicy[] = [];
    const inner = new MemoryBackend(SEED);
    provideShortcuts(inner, {
      confine: (given) => {
        asked.push(given);
        return new MemoryBackend({ "/twin": "twin" });
      },
    });
    const backend: Files = new SandboxedBackend(inner, policy);
    expect(asked).toEqual([policy]);
    expect(await backend.readText("/twin")).toBe("twin");
    expect(await backend.lstat?.("/twin")).toMatchObject({ type: "file" });
    expect(shortcutsOf(backend).confine).toBeUndefined();
  });
});
