/** The local disk: the backend contract under both resolvers, and what only a disk has. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  FilewrightError,
  isFsBackend,
  LocalBackend,
  type LocalOptions,
  MemoryBackend,
  openWorkspace,
  SandboxedBackend,
  SandboxPolicy,
} from "../../js/index.node.ts";
import { backendContract } from "../../js/testing/index.ts";
import { ADDON } from "../support/addon.ts";

let base: string;
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-local-")));
});
afterEach(() => {
  fs.rmSync(base, { recursive: true, force: true });
});

const code = async (run: () => unknown): Promise<string> => {
  try {
    await run();
    return "ok";
  } catch (error) {
    return error instanceof FilewrightError ? error.code : String(error);
  }
};

const ABILITIES = ["conditions", "ranges", "links", "modes", "asides", "locks"] as const;

for (const resolver of ["auto", "walk"] as const) {
  for (const confined of [false, true]) {
    describe(`the contract, resolver ${resolver}, ${confined ? "confined" : "free"}`, () => {
      backendContract(
        () => {
          const root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-contract-")));
          const options: LocalOptions = { resolver, stateDir: join(root, "..", "filewright-test-state") };
          const free = new LocalBackend(options);
          const backend = confined ? new SandboxedBackend(free, SandboxPolicy.workspaceOnly(root)) : free;
          return { backend, root, dispose: () => fs.rmSync(root, { recursive: true, force: true }) };
        },
        { test: it, requires: ABILITIES },
      );
    });
  }
}

describe("the local disk", () => {
  const disk = new LocalBackend();

  it("is a backend and says how paths are resolved", () => {
    expect(isFsBackend(disk)).toBe(true);
    expect(disk.capabilities().resolver).toMatch(/^(openat2|nofollow_any|walk)$/);
    expect(new LocalBackend({ resolver: "walk" }).capabilities()).toEqual({
      resolver: "walk",
      reason: "chosen by the caller",
      kernel: { files: "none", landlock: 0 },
    });
  });

  it("appends whole or not at all", async () => {
    const path = join(base, "log");
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => disk.writeText(path, `line ${i}\n`, { append: true })),
    );
    const lines = fs.readFileSync(path, "utf8").trimEnd().split("\n");
    expect(lines.toSorted()).toEqual(Array.from({ length: 100 }, (_, i) => `line ${i}`).toSorted());
  });

  it("refuses paths that text cannot carry", async () => {
    for (const path of ["", "relative", "/a\0b", "/\ud800"]) {
      expect(await code(() => disk.stat(path))).toBe("INVALID_ARGUMENT");
      expect(await code(() => disk.readBytes(path))).toBe("INVALID_ARGUMENT");
    }
  });

  it("lists names that are not UTF-8 in a form that leads back to them", async () => {
    fs.writeFileSync(Buffer.concat([Buffer.from(`${base}/caf`), Buffer.from([0xe9])]), "odd");
    const [entry] = await disk.listDir(base);
    expect(entry?.name).toBe("caf\\xE9");
    expect(await disk.readText(entry?.path as string)).toBe("odd");
  });

  it("cancels, and leaves nothing", async () => {
    // So many that copying takes far longer than a busy machine may hold back this thread.
    for (let i = 0; i < 3000; i++) fs.writeFileSync(join(base, `f${i}`), "x".repeat(10_000));
    const controller = new AbortController();
    const copying = code(() => disk.copyTree(base, `${base}-copy`, { signal: controller.signal }));
    controller.abort();
    expect(await copying).toBe("CANCELLED");
    expect(fs.existsSync(`${base}-copy`)).toBe(false);
    expect(fs.readdirSync(join(base, "..")).filter((name) => name.startsWith(".filewright-"))).toEqual([]);
  });

  it("hashes in flat memory and says what version it hashed", async () => {
    const path = join(base, "f");
    const { version } = await disk.writeText(path, "abc");
    const hash = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    expect(await disk.hash(path)).toEqual({ hash, version });
    // A version with its hash outlives a touch; one without does not.
    fs.utimesSync(path, 1, 1);
    expect(await code(() => disk.writeText(path, "x", { ifVersion: version }))).toBe("CONFLICT");
    await disk.writeText(path, "abd", { ifVersion: `${version}:${hash.slice(7)}` });
    fs.utimesSync(path, 2, 2);
    expect(await code(() => disk.writeText(path, "x", { ifVersion: `${version}:${hash.slice(7)}` }))).toBe(
      "CONFLICT",
    );
  });
});

describe("a confined disk", () => {
  it("refuses what lies outside in words that do not depend on what exists", async () => {
    fs.mkdirSync(join(base, "w"));
    fs.writeFileSync(join(base, "secret"), "S");
    const disk = new LocalBackend().confine?.(SandboxPolicy.workspaceOnly(join(base, "w")));
    const messages = await Promise.all(
      ["secret", "absent"].map((name) =>
        disk?.readText(join(base, name)).catch((error: FilewrightError) => `${error.code} ${error.message}`),
      ),
    );
    expect(messages[0]).toMatch(/^OUTSIDE_ALLOWED/);
    expect(messages[1]).toBe(messages[0]);
    expect(disk?.confine).toBeUndefined();
    expect(await disk?.exists(join(base, "secret"))).toBe(false);
  });

  it("reports a policy that cannot be", () => {
    const policy = { ...SandboxPolicy.workspaceOnly(base), deny: ["["] };
    expect(() => new LocalBackend({ policy })).toThrow(FilewrightError);
  });
});

describe("preserve: strict", () => {
  it("leaves a file alone whose other names would keep the old content", async () => {
    const [root, stateDir] = [join(base, "ws"), join(base, "state")];
    fs.mkdirSync(root);
    fs.writeFileSync(join(root, "f"), "old\n");
    fs.linkSync(join(root, "f"), join(base, "g"));
    fs.writeFileSync(join(root, "other"), "other\n");
    for (const directory of ["tree", "dir"]) fs.mkdirSync(join(root, directory));
    fs.linkSync(join(root, "f"), join(root, "dir", "f"));
    fs.writeFileSync(join(root, "tree", "f"), "of the tree\n");
    const ws = await openWorkspace({ root, stateDir, preserve: "strict" });
    try {
      for (const [tool, args] of [
        ["write_file", { path: "f", content: "new\n" }],
        ["edit_file", { path: "f", old_text: "old", new_text: "new" }],
        ["copy", { source: "other", destination: "f", overwrite: true }],
        ["copy", { source: "tree", destination: "dir", overwrite: true }],
        ["move", { source: "other", destination: "f", overwrite: true }],
      ] as const) {
        const { error, text } = await ws.call(tool, args);
        expect(error).toMatchObject({ code: "UNSUPPORTED_OPERATION", details: { reason: "preserve" } });
        expect(text).toContain("other names");
        expect(fs.readFileSync(join(root, "f"), "utf8")).toBe("old\n");
      }
      fs.rmSync(join(base, "g"));
      fs.rmSync(join(root, "dir", "f"));
      expect((await ws.call("write_file", { path: "f", content: "new\n" })).ok).toBe(true);
      expect((await ws.call("move", { source: "other", destination: "f", overwrite: true })).ok).toBe(true);
      expect(fs.readdirSync(root)).toEqual(["dir", "f", "tree"]);
    } finally {
      await ws.close();
    }
  });

  it.each([
    ["a word that it is not", { root: "/", preserve: "always" }],
    ["storage of another kind", { root: "/", preserve: "strict", backend: new MemoryBackend({}) }],
  ])("is refused with %s", async (_, options) => {
    expect(await code(() => openWorkspace(options as never))).toBe("INVALID_ARGUMENT");
  });
});

describe("locks between processes", () => {
  it("keep one holder, time out, are cancelled, and are free when the holder is killed", async () => {
    const stateDir = join(base, "state");
    const path = join(base, "f");
    const disk = new LocalBackend({ stateDir });
    const script = `
      const { NativeLocks } = require(${JSON.stringify(ADDON)});
      globalThis.held = new NativeLocks(${JSON.stringify(stateDir)}).tryLock(${JSON.stringify(path)});
      console.log(globalThis.held !== null);
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    expect(String((await once(child.stdout, "data"))[0]).trim()).toBe("true");
    expect(await code(() => disk.lock(path, { timeoutMs: 30 }))).toBe("LOCK_TIMEOUT");
    const signal = AbortSignal.timeout(20);
    expect(await code(() => disk.lock(path, { timeoutMs: 60_000, signal }))).toBe("CANCELLED");
    const waiting = disk.lock(path, { timeoutMs: 60_000 });
    child.kill("SIGKILL");
    const lock = await waiting;
    lock.release();
    await expect.poll(() => fs.readdirSync(join(stateDir, "locks"))).toEqual([]);
  });

  it("are in the directory that is there now, when another one took its place after the last lock", async () => {
    const [stateDir, moved, path] = [join(base, "state"), join(base, "moved"), join(base, "f")];
    const disk = new LocalBackend({ stateDir });
    (await disk.lock(path, { timeoutMs: 30 })).release();
    const [kept] = fs.readdirSync(join(stateDir, "locks"));
    fs.renameSync(stateDir, moved);
    const lock = await disk.lock(path, { timeoutMs: 30 });
    expect(fs.readdirSync(join(moved, "locks"))).toEqual([]);
    expect(fs.readdirSync(join(stateDir, "locks"))).toHaveLength(1);
    lock.release();
    const next = fs.readdirSync(join(stateDir, "locks"));
    expect(next).toHaveLength(1);
    expect(next).not.toEqual([kept]);
    await expect.poll(() => fs.readdirSync(join(stateDir, "locks"))).toEqual([]);
  });
});
