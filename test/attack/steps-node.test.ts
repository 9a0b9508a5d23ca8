/**
 * The disk without the addon in every order of its steps: before each single call of `node:fs` that a method makes,
 * a directory of its path is exchanged with a link that leads out, once for good and once only until the next call.
 * Nothing may be read, listed or changed outside. A race by chance meets few of these moments.
 */
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FilewrightError, NodeBackend, SandboxPolicy } from "../../js/index.node.ts";
import { pinMode } from "../../js/backends/node/pinned.node.ts";

/** The object that `node:fs` exports, whose functions can be replaced. */
const real = createRequire(import.meta.url)("node:fs") as Record<string, (...args: unknown[]) => unknown>;
const STEPS = Object.keys(real).filter((name) => name.endsWith("Sync") && typeof real[name] === "function");
/** The most calls of `node:fs` that a method makes here; more would mean that it never ends. */
const MAX_STEPS = 1000;
/** A method with more steps is attacked before some of them only. */
const MANY_STEPS = 120;

/** In memory where possible: thousands of small trees are made. */
const BASE = fs.existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

type Method = (disk: NodeBackend, at: (path: string) => string) => Promise<unknown>;

const METHODS: Readonly<Record<string, Method>> = {
  readText: (disk, at) => disk.readText(at("d/in/s")),
  read: async (disk, at) => new TextDecoder().decode((await disk.read(at("d/in/s")))?.bytes),
  hash: (disk, at) => disk.hash(at("d/in/s")),
  stat: async (disk, at) => (await disk.stat(at("d/in/s"))).size,
  lstat: async (disk, at) => (await disk.lstat(at("d/in/s"))).size,
  listDir: (disk, at) => disk.listDir(at("d/in")),
  iterFiles: async (disk, at) => {
    const found: string[] = [];
    for await (const path of disk.iterFiles(at("d/in"))) found.push(path);
    return found;
  },
  readLink: (disk, at) => disk.readLink(at("d/in/l")),
  "write a new file": (disk, at) => disk.writeText(at("d/in/new"), "PWN"),
  "replace a file": (disk, at) => disk.writeText(at("d/in/s"), "PWN"),
  "write with new parents": (disk, at) => disk.writeText(at("d/in/p/q/f"), "PWN", { createDirs: true }),
  mkdir: (disk, at) => disk.mkdir(at("d/in/m/a")),
  symlink: (disk, at) => disk.symlink("s", at("d/in/new")),
  chmod: (disk, at) => disk.chmod(at("d/in/s"), 0o600),
  "copy in": (disk, at) => disk.copyFile(at("f"), at("d/in/s"), { overwrite: true }),
  "copy out of it": async (disk, at) => {
    await disk.copyFile(at("d/in/s"), at("got"), { overwrite: true });
    return fs.readFileSync(at("got"), "utf8");
  },
  "copy a tree": (disk, at) => disk.copyTree(at("tree"), at("d/in/tree")),
  "move in": (disk, at) => disk.rename(at("tree/g"), at("d/in/g")),
  "move out of it": (disk, at) => disk.rename(at("d/in/s"), at("moved")),
  "move over a file of it": (disk, at) => disk.rename(at("tree/g"), at("d/in/s"), { overwrite: true }),
  delete: (disk, at) => disk.delete(at("d/in/s")),
  "delete a directory": (disk, at) => disk.delete(at("d/in/empty")),
  "set aside": (disk, at) => disk.delete(at("d/in/s"), { aside: disk.asidePath(at("d/in/s")) }),
  removeTree: (disk, at) => disk.removeTree(at("d/in/dir")),
  sweep: (disk, at) => disk.sweep(at("d/in")),
};

/**
 * Makes a workspace with the directory `d`, the link `evil`, and a place outside with the same names. The files are one
 * level deeper, where opening without following a last link does not help.
 */
function arena(base: string): void {
  fs.rmSync(base, { recursive: true, force: true });
  for (const [place, content] of [
    ["ws/d/in", "fine"],
    ["out/in", "SECRET"],
  ] as const) {
    for (const directory of ["dir", "empty"]) fs.mkdirSync(join(base, place, directory), { recursive: true });
    for (const file of ["s", "dir/x"]) fs.writeFileSync(join(base, place, file), content, { mode: 0o644 });
    fs.symlinkSync(content, join(base, place, "l"));
    const stale = `.filewright-00000000-1-1-${"0".repeat(16)}`;
    fs.writeFileSync(join(base, place, stale), "stale");
    fs.utimesSync(join(base, place, stale), 1, 1);
  }
  fs.writeFileSync(join(base, "out/SECRET-name"), "SECRET");
  fs.mkdirSync(join(base, "ws/tree"));
  fs.writeFileSync(join(base, "ws/tree/g"), "g");
  fs.writeFileSync(join(base, "ws/f"), "f");
  fs.symlinkSync("../out", join(base, "ws/evil"));
}

function outsideOf(base: string): readonly string[] {
  return fs
    .readdirSync(join(base, "out"), { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => {
      const path = join(base, "out", name);
      const stat = fs.lstatSync(path);
      return `${name} ${stat.mode.toString(8)} ${stat.nlink} ${stat.isFile() ? fs.readFileSync(path, "utf8") : ""}`;
    });
}

/** Runs a method while the names are exchanged before its step `first`, and back before the step after it. */
async function attacked(
  base: string,
  method: Method,
  first: number,
  back: boolean,
): Promise<{ readonly found: string; readonly steps: number }> {
  arena(base);
  const root = join(base, "ws");
  const disk = new NodeBackend({ policy: SandboxPolicy.workspaceOnly(root) });
  await disk.stat(root);
  const originals = new Map(STEPS.map((name) => [name, real[name] as (...args: unknown[]) => unknown]));
  const rename = originals.get("renameSync") as (from: string, to: string) => void;
  const exchange = (): void => {
    rename(join(root, "d"), join(base, "aside"));
    rename(join(root, "evil"), join(root, "d"));
    rename(join(base, "aside"), join(root, "evil"));
  };
  let steps = 0;
  for (const [name, original] of originals) {
    const step = (...args: unknown[]): unknown => {
      steps += 1;
      if (steps === first || (back && steps === first + 1)) exchange();
      return original(...args);
    };
    real[name] = Object.assign(step, original);
  }
  syncBuiltinESMExports();
  try {
    const found = await method(disk, (path) => join(root, path)).then(
      (value) => JSON.stringify(value) ?? "",
      (error: unknown) => {
        if (!(error instanceof FilewrightError)) throw error;
        return error.message;
      },
    );
    return { found, steps };
  } finally {
    for (const [name, original] of originals) real[name] = original;
    syncBuiltinESMExports();
    disk.close();
  }
}

describe.skipIf(pinMode() !== "descriptor")("without the addon", () => {
  test.each(Object.entries(METHODS))(
    "%s stays inside, whatever moves before which step",
    async (name, method) => {
      const base = fs.realpathSync(fs.mkdtempSync(join(BASE, "filewright-steps-")));
      try {
        arena(base);
        const before = outsideOf(base);
        let last = 1;
        for (let first = 1; first <= last && first <= MAX_STEPS; first += last > MANY_STEPS ? 5 : 1) {
          for (const back of [false, true]) {
            const { found, steps } = await attacked(base, method, first, back);
            last = Math.max(last, steps);
            expect(found, `${name}, step ${first}`).not.toContain("SECRET");
            expect(outsideOf(base), `${name}, step ${first}${back ? " and back" : ""}`).toEqual(before);
          }
        }
        expect(last).toBeGreaterThan(5);
        expect(last).toBeLessThan(MAX_STEPS);
      } finally {
        fs.rmSync(base, { recursive: true, force: true });
      }
    },
  );

  test("a read takes seven calls of the system", async () => {
    const base = fs.realpathSync(fs.mkdtempSync(join(BASE, "filewright-steps-")));
    try {
      const read: Method = (disk, at) => disk.read(at("d/in/s"));
      expect(await attacked(base, read, MAX_STEPS, false)).toMatchObject({ steps: 7 });
    } finally {
      fs.rmSync(base, { recursive: true, force: true });
    }
  });

  test("a FIFO in the place of a file is never opened, whenever it comes there", async () => {
    const base = fs.realpathSync(fs.mkdtempSync(join(BASE, "filewright-steps-")));
    const [file, fifo] = [join(base, "f"), join(base, "fifo")];
    const disk = new NodeBackend({ policy: SandboxPolicy.workspaceOnly(base) });
    const originals = new Map(STEPS.map((name) => [name, real[name] as (...args: unknown[]) => unknown]));
    const rename = originals.get("renameSync") as (...args: unknown[]) => unknown;
    const stat = originals.get("fstatSync") as (...args: unknown[]) => unknown;
    try {
      let last = 1;
      for (let first = 1; first <= last; first++) {
        fs.rmSync(file, { force: true });
        fs.writeFileSync(file, "fine");
        execFileSync("mkfifo", [fifo]);
        await disk.stat(base);
        let steps = 0;
        let opened = 0;
        for (const [name, original] of originals)
          real[name] = Object.assign((...args: unknown[]): unknown => {
            steps += 1;
            if (steps === first) rename(fifo, file);
            const made = original(...args);
            // O_PATH opens nothing.
            if (name === "openSync" && (Number(args[1]) & 0o10000000) === 0)
              opened += (stat(made) as fs.Stats).isFIFO() ? 1 : 0;
            return made;
          }, original);
        syncBuiltinESMExports();
        await disk.readText(file).catch((error: unknown) => expect(error).toBeInstanceOf(FilewrightError));
        for (const [name, original] of originals) real[name] = original;
        syncBuiltinESMExports();
        expect(opened, `step ${first}`).toBe(0);
        fs.rmSync(fifo, { force: true });
        last = Math.max(last, steps);
      }
      expect(last).toBeGreaterThan(5);
    } finally {
      for (const [name, original] of originals) real[name] = original;
      syncBuiltinESMExports();
      disk.close();
      fs.rmSync(base, { recursive: true, force: true });
    }
  });
});
