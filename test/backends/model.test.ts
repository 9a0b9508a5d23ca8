/** Random sequences of operations: memory and the disk answer alike and end alike. */
import type { Files } from "../../js/backends/files.ts";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import {
  FilewrightError,
  type FsStat,
  LocalBackend,
  NodeBackend,
  MemoryBackend,
  SandboxedBackend,
  SandboxPolicy,
} from "../../js/index.node.ts";

type Arg = string | number | boolean;
type Op = readonly [name: string, ...args: readonly Arg[]];
type Subject = Files;

const name = fc.constantFrom("a", "b", "c", "é");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => `ROOT/${names.join("/")}`);
const climbing = fc
  .array(fc.constantFrom("a", "b", "c", ".", ".."), { minLength: 1, maxLength: 4 })
  .map((names) => names.join("/"));
const text = fc.constantFrom("", "x", "longer content\n", "é\u{1f600}");
const either = fc.boolean();

const op: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(fc.constantFrom("exists", "stat", "lstat", "read", "list", "walk"), path),
  },
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom("readLink", "realpath", "delete", "removeTree"), path) },
  { weight: 3, arbitrary: fc.tuple(fc.constant("write"), path, text, either, either) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("mkdir"), path, either, either) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom("rename", "copyFile", "copyTree"), path, path, either) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("symlink"), fc.oneof(climbing, path), path) },
  fc.tuple(fc.constant("chmod"), path, fc.constantFrom(0o444, 0o644, 0o755)),
);

const facts = (stat: FsStat): readonly unknown[] => [
  stat.type,
  stat.isDir ? 0 : stat.size,
  stat.type === "symlink" ? 0 : stat.mode,
];

/** Runs each operation and returns the part of its answer that is compared. */
const RUN: Record<string, (on: Subject, ...args: never[]) => unknown> = {
  exists: (on, at: string) => on.exists(at),
  stat: async (on, at: string) => facts(await on.stat(at)),
  lstat: async (on, at: string) => facts(await on.lstat(at)),
  read: (on, at: string) => on.readText(at),
  list: async (on, at: string) =>
    (await on.listDir(at)).map((entry) => [entry.name, entry.type, entry.path, entry.target]),
  walk: async (on, at: string) => {
    const files: string[] = [];
    for await (const file of on.iterFiles(at)) files.push(file);
    return files;
  },
  readLink: (on, at: string) => on.readLink(at),
  realpath: (on, at: string) => on.realpath(at),
  write: async (on, at: string, content: string, ifAbsent: boolean, createDirs: boolean) => {
    await on.writeText(at, content, { ifAbsent, createDirs });
  },
  mkdir: (on, at: string, parents: boolean, existOk: boolean) => on.mkdir(at, { parents, existOk }),
  delete: (on, at: string) => on.delete(at),
  removeTree: (on, at: string) => on.removeTree(at),
  rename: async (on, from: string, to: string, overwrite: boolean) => {
    await on.rename(from, to, { overwrite });
  },
  copyFile: async (on, from: string, to: string, overwrite: boolean) => {
    await on.copyFile(from, to, { overwrite });
  },
  copyTree: (on, from: string, to: string, overwrite: boolean) => on.copyTree(from, to, { overwrite }),
  symlink: (on, to: string, at: string) => on.symlink(to, at),
  chmod: (on, at: string, mode: number) => on.chmod(at, mode),
};

/** Both failed, one because it leads outside. */
function isRefusal(a: Outcome, b: Outcome): boolean {
  return "code" in a && "code" in b && (a.code === "OUTSIDE_ALLOWED" || b.code === "OUTSIDE_ALLOWED");
}

type Outcome = { readonly value: unknown } | { readonly code: string };

async function outcome(run: () => unknown): Promise<Outcome> {
  try {
    return { value: (await run()) ?? null };
  } catch (error) {
    if (error instanceof FilewrightError) return { code: error.code };
    throw error;
  }
}

/** Everything below a directory of the disk, as the kernel tells it. */
function diskTree(root: string, below = ""): unknown[] {
  return fs.readdirSync(join(root, below), { withFileTypes: true }).flatMap((entry) => {
    const shown = join(below, entry.name);
    const at = join(root, shown);
    if (entry.isSymbolicLink()) return [[shown, "symlink", fs.readlinkSync(at)]];
    const mode = fs.statSync(at).mode & 0o777;
    if (entry.isDirectory()) return [[shown, "dir", mode], ...diskTree(root, shown)];
    return [[shown, "file", fs.readFileSync(at, "utf8"), mode]];
  });
}

function memoryTree(memory: MemoryBackend, root: string): unknown[] {
  const below = Object.entries(memory.dump()).filter(([at]) => at.startsWith(`${root}/`));
  return below.map(([at, entry]) => {
    const shown = at.slice(root.length + 1);
    if (entry.type === "symlink") return [shown, "symlink", entry.target];
    if (entry.type === "dir") return [shown, "dir", entry.mode ?? 0o755];
    return [shown, "file", Buffer.from(entry.b64, "base64").toString(), entry.mode ?? 0o644];
  });
}

/** Links may climb; what would be reached outside the scratch directory is left alone. */
async function staysBelow(memory: MemoryBackend, base: string, args: readonly Arg[]): Promise<boolean> {
  for (const arg of args) {
    if (typeof arg !== "string" || !arg.startsWith("/")) continue;
    const real = await memory.realpath(arg).catch(() => arg);
    if (!real.startsWith(`${base}/`)) return false;
  }
  return true;
}

/** Runs the operations on memory and a disk, below one scratch directory; `wrap` confines each to it. */
async function agree(
  ops: readonly Op[],
  disk: () => Files,
  wrap: (on: Files, root: string) => Files,
): Promise<void> {
  const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "fw-model-")));
  const root = join(base, "n/n/n");
  fs.mkdirSync(root, { recursive: true });
  try {
    const memory = new MemoryBackend({ [root]: { type: "dir" } });
    const one = wrap(memory, root);
    const other = wrap(disk(), root);
    for (const [what, ...given] of ops) {
      const args = given.map((arg) => (typeof arg === "string" ? arg.replace(/^ROOT/, root) : arg));
      if (!(await staysBelow(memory, base, args))) continue;
      const run = (on: Subject) => () => RUN[what]?.(on, ...(args as never[]));
      const [inMemory, onDisk] = [await outcome(run(one)), await outcome(run(other))];
      // Where two things speak against a call, either may be told.
      if (isRefusal(inMemory, onDisk)) continue;
      expect(inMemory, `${what} ${given.join(" ")}`).toEqual(onDisk);
    }
    expect(memoryTree(memory, base).sort()).toEqual(diskTree(base).sort());
  } finally {
    fs.rmSync(base, { recursive: true });
  }
}

const numberOf = (name: string): number => Number(process.env[`FILEWRIGHT_MODEL_${name}`] ?? 0);
const [wantedRuns, seed, seconds] = [numberOf("RUNS"), numberOf("SEED"), numberOf("SECONDS")];
// The same sequences every time, unless `npm run deep -- model` asks for new ones. Four properties share the seconds.
const RUNS =
  wantedRuns > 0
    ? { numRuns: wantedRuns, seed, ...(seconds > 0 ? { interruptAfterTimeLimit: seconds * 250 } : {}) }
    : { numRuns: 100, seed: 20_261_122 };
const sequences = fc.array(op, { minLength: 5, maxLength: 40 });

/** Sequences that were tried, which time may have ended early: `npm run deep -- model` says how many. */
let tried = 0;
afterAll(() => {
  const file = process.env["FILEWRIGHT_MODEL_TRIED"];
  if (file !== undefined) fs.writeFileSync(file, String(tried));
});

const DISKS: readonly (readonly [string, () => Files])[] = [
  ["the disk", () => new LocalBackend({ durability: "none" })],
  ["the disk without the addon", () => new NodeBackend({ durability: "none" })],
];

describe.each(DISKS)("model of %s", { timeout: wantedRuns > 0 ? 7_200_000 : 600_000 }, (_, disk) => {
  const agreeing = (around: (on: Files, root: string) => Files) =>
    fc.asyncProperty(sequences, (ops) => {
      tried += 1;
      return agree(ops, disk, around);
    });

  it("memory and it agree, operation by operation", () =>
    fc.assert(
      agreeing((on) => on),
      RUNS,
    ));

  it("confined, memory and it agree, refusals included", () => {
    const confine = (on: Files, root: string): Files =>
      new SandboxedBackend(on, SandboxPolicy.workspaceOnly(root, { deny: ["b/c"] }));
    return fc.assert(agreeing(confine), RUNS);
  });
});
