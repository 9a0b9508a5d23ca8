/** What `NodeBackend` leaves behind when the system refuses a part of a change, and which options it refuses. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import mutableFs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type * as LockDirectory from "../../js/backends/node/lock-directory.node.ts";
import type { LockHandle } from "../../js/backends/backend.ts";
import { NodeBackend } from "../../js/index.node.ts";

const child = fileURLToPath(new URL("node-faults-child.mjs", import.meta.url));
const NOBODY = 65_534;
/** The processes run as another user, which only root can start, because root may write everywhere. */
const canBecome = process.getuid?.() === 0;

const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-faults-")));
fs.chmodSync(base, 0o755);
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

let root: string;
let count = 0;
const at = (name: string): string => join(root, name);

beforeEach(() => {
  root = join(base, String(count++));
  fs.mkdirSync(root);
});

interface Failure {
  readonly code?: string;
  readonly message?: string;
  readonly path?: string;
}

/** Runs a change of the child as another user. With `limit` its files may have that many blocks of 512 bytes. */
function run(change: string, limit = "unlimited"): Failure {
  const { stdout, stderr } = spawnSync(
    "/bin/sh",
    ["-c", `ulimit -f ${limit}; exec "$@"`, "sh", process.execPath, child, root, change],
    // Another user cannot write where lines are counted, and says so.
    { cwd: root, env: { NODE_V8_COVERAGE: "" }, uid: NOBODY, gid: NOBODY, encoding: "utf8" },
  );
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as Failure;
}

describe.skipIf(!canBecome)("in a directory that accepts no changes of its names", () => {
  const put = (content: string): void => {
    fs.mkdirSync(at("readonly"));
    fs.writeFileSync(at("readonly/a"), content);
    fs.chownSync(at("readonly/a"), NOBODY, NOBODY);
    fs.chmodSync(at("readonly/a"), 0o640);
    fs.chmodSync(at("readonly"), 0o555);
  };

  test("a move out of it is refused and leaves no second name", () => {
    put("one\n");
    fs.mkdirSync(at("target"));
    fs.chownSync(at("target"), NOBODY, NOBODY);
    expect(run("rename")).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(fs.readdirSync(at("target"))).toEqual([]);
    expect(fs.readFileSync(at("readonly/a"), "utf8")).toBe("one\n");
  });

  test("a failed rewrite puts all of the old content back, also where each write takes only a part", () => {
    const old = "o".repeat(3500);
    put(old);
    expect(run("rewrite with short writes")).toMatchObject({ code: "IO_ERROR" });
    expect(fs.readFileSync(at("readonly/a"), "utf8")).toBe(old);
  });

  test("a rewrite whose flush fails puts the old content and mode back", () => {
    put("old\n");
    expect(run("rewrite and flush")).toMatchObject({ code: "IO_ERROR" });
    expect(fs.readFileSync(at("readonly/a"), "utf8")).toBe("old\n");
    expect(fs.statSync(at("readonly/a")).mode & 0o777).toBe(0o640);
  });

  test("a failed rewrite keeps a mode that another program has set meanwhile", () => {
    put("old\n");
    expect(run("rewrite and flush while the mode changes")).toMatchObject({ code: "IO_ERROR" });
    expect(fs.readFileSync(at("readonly/a"), "utf8")).toBe("old\n");
    expect(fs.statSync(at("readonly/a")).mode & 0o777).toBe(0o600);
  });

  test("a rewrite whose old content cannot be put back says that the content is incomplete", () => {
    put("o".repeat(3_000_000));
    const { code, message } = run("rewrite", "2048");
    expect(code).toBe("IO_ERROR");
    expect(message).toContain("the content is incomplete");
  });
});

test.skipIf(process.platform === "win32")("a mode set while a file is written is kept", async () => {
  fs.writeFileSync(at("a"), "old\n", { mode: 0o644 });
  const written = new NodeBackend().writeBytes(at("a"), new Uint8Array(8 << 20));
  while (fs.readdirSync(root).length === 1) await new Promise((resolve) => setImmediate(resolve));
  fs.chmodSync(at("a"), 0o600);
  expect(fs.statSync(at("a")).size).toBe(4);
  await written;
  expect(fs.statSync(at("a")).size).toBe(8 << 20);
  expect(fs.statSync(at("a")).mode & 0o777).toBe(0o600);
});

describe("an error of the system around a change that is made", () => {
  const fault = (code: string): Error =>
    Object.assign(new Error(code), { code, errno: -5, syscall: "as the test wants it" });
  /** Lets functions of `node:fs` fail for which `fails` says so, until the test has ended. */
  function failing(code: string, names: readonly string[], fails: (path: string) => boolean): void {
    const all = mutableFs as unknown as Record<string, (...args: unknown[]) => unknown>;
    for (const name of names) {
      const own = all[name] as (...args: unknown[]) => unknown;
      all[name] = (...args) => {
        if (fails(String(args[0]))) throw fault(code);
        return own(...args);
      };
      restores.push(() => (all[name] = own));
    }
    syncBuiltinESMExports();
  }
  const restores: (() => unknown)[] = [];
  const restore = (): void => {
    for (const one of restores.splice(0)) one();
    syncBuiltinESMExports();
  };
  afterEach(restore);

  test.skipIf(process.platform === "win32")("tells of two names where neither can be removed", async () => {
    failing("EROFS", ["unlinkSync", "rmSync"], () => true);
    const written = new NodeBackend().writeText(at("a"), "new\n");
    await expect(written).rejects.toMatchObject({ code: "IO_ERROR", details: { reason: "two_names" } });
    expect(fs.readFileSync(at("a"), "utf8")).toBe("new\n");
  });

  test("does not hide why a file was not replaced", async () => {
    const disk = new NodeBackend();
    fs.writeFileSync(at("a"), "old\n");
    failing("ENOSPC", ["renameSync"], () => true);
    failing("EROFS", ["unlinkSync", "rmSync"], () => true);
    const written = disk.writeText(at("a"), "new\n", { aside: disk.asidePath?.(at("a")) });
    await expect(written).rejects.toMatchObject({ code: "NO_SPACE" });
    expect(fs.readFileSync(at("a"), "utf8")).toBe("old\n");
  });

  test.skipIf(process.platform === "win32")("never says that nothing was changed", async () => {
    const disk = new NodeBackend();
    for (const name of ["a", "b", "c"]) fs.writeFileSync(at(name), `${name}\n`);
    const aside = disk.asidePath?.(at("c")) as string;
    const changes: Readonly<Record<string, () => Promise<unknown>>> = {
      write: () => disk.writeText(at("a"), "new\n"),
      rename: () => disk.rename(at("b"), at("moved")),
      delete: () => disk.delete(at("c"), { aside }),
    };
    for (const [name, change] of Object.entries(changes)) {
      const state = (): string => {
        const names = fs.readdirSync(root).filter((one) => !one.startsWith("."));
        return `${names} ${fs.readFileSync(at("a"), "utf8")}`;
      };
      const before = state();
      const looks = name === "write" ? ["fstatSync"] : ["lstatSync"];
      let isLooking = false;
      failing("EACCES", looks, () => {
        if (isLooking) return false;
        isLooking = true;
        const isMade = state() !== before;
        isLooking = false;
        return isMade;
      });
      await expect(change(), name).rejects.toMatchObject({ code: "IO_ERROR", details: { reason: "flush" } });
      restore();
      expect(state(), name).not.toBe(before);
    }
  });
});

describe("options", () => {
  test.each([-1, 0o10000, 1.5, "600", null])("a write with the mode %j is refused", async (mode) => {
    const disk = new NodeBackend();
    const how = { mode: mode as number, createDirs: true };
    for (const write of [
      () => disk.writeText(at("new/a"), "one\n", how),
      () => disk.writeBytes(at("new/a"), new Uint8Array(1), how),
    ])
      await expect(write()).rejects.toMatchObject({ code: "INVALID_ARGUMENT", path: at("new/a") });
    expect(fs.readdirSync(root)).toEqual([]);
  });

  test("an ifVersion that is no text is refused", async () => {
    const disk = new NodeBackend();
    const how = { ifVersion: 5 as unknown as string };
    fs.writeFileSync(at("a"), "one\n");
    for (const change of [
      () => disk.writeText(at("a"), "two\n", how),
      () => disk.copyFile(at("a"), at("b"), how),
      () => disk.rename(at("a"), at("b"), how),
      () => disk.delete(at("a"), how),
    ])
      await expect(change()).rejects.toMatchObject({ code: "INVALID_ARGUMENT", path: at("a") });
    expect(fs.readFileSync(at("a"), "utf8")).toBe("one\n");
  });
});

describe("a lock without the addon", () => {
  beforeEach(() => void vi.stubEnv("FILEWRIGHT_ENGINE", "wasm"));
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllEnvs();
  });

  test("is kept alive by the clock of the file system, not by that of its holder", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
    fs.writeFileSync(at("a"), "one\n");
    // An instance of its own: the timer of the other one runs as long as another test file holds a lock.
    const instance = "../../js/backends/node/lock-directory.node.ts?instance=own";
    const { openLockDirectory, tryLockByName } = (await import(instance)) as typeof LockDirectory;
    const directory = openLockDirectory(at("state"));
    const lock = tryLockByName(directory, at("a")) as LockHandle;
    const [place = ""] = fs.readdirSync(at("state/locks"));
    const [holder = ""] = fs.readdirSync(join(at("state/locks"), place));
    const file = join(at("state/locks"), place, holder);
    fs.utimesSync(file, 1, 1);
    const before = fs.statSync(at("a")).mtimeMs;
    vi.setSystemTime(before - 3_600_000);
    vi.advanceTimersByTime(20_000);
    expect(fs.statSync(file).mtimeMs).toBeGreaterThanOrEqual(before);
    lock.release();
    expect(fs.readdirSync(at("state/locks"))).toEqual([]);
  });
});
