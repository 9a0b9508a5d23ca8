/** Random sequences of operations: the memory backend answers as a real disk does. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FilewrightError, type FsStat, MemoryBackend } from "../js/index.node.ts";
import { disk, treeOf } from "./disk.ts";

type Op = readonly [name: keyof typeof disk, ...args: readonly (string | number | boolean)[]];

const name = fc.constantFrom("a", "b", "c", "é");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const climbing = fc
  .array(fc.constantFrom("a", "b", "c", ".", ".."), { minLength: 1, maxLength: 4 })
  .map((names) => names.join("/"));
const target = fc.oneof(
  path,
  climbing,
  path.map((at) => `ROOT/${at}`),
);
const text = fc.constantFrom("", "x", "longer content\n", "é\u{1f600}");

const op: fc.Arbitrary<Op> = fc.oneof(
  fc.tuple(
    fc.constantFrom("exists", "stat", "lstat", "read", "list", "readLink", "realpath", "delete"),
    path,
  ),
  { weight: 3, arbitrary: fc.tuple(fc.constant("write"), path, text, fc.constantFrom("w", "wx")) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("mkdir"), path, fc.boolean(), fc.boolean()) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("rename"), path, path, fc.boolean()) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("symlink"), target, path) },
  fc.tuple(fc.constant("chmod"), path, fc.constantFrom(0o444, 0o644, 0o755)),
) as fc.Arbitrary<Op>;

const facts = (stat: FsStat): readonly unknown[] => [
  stat.type,
  stat.isDir ? 0 : stat.size,
  stat.type === "symlink" ? 0 : stat.mode,
];

/** The operations of the model test on the backend. */
function memoryOps(fs: MemoryBackend): Record<keyof typeof disk, (...args: never[]) => unknown> {
  return {
    exists: (at: string) => fs.exists(at),
    stat: async (at: string) => facts(await fs.stat(at)),
    lstat: async (at: string) => facts(await fs.lstat(at)),
    read: (at: string) => fs.readText(at),
    list: async (at: string) => (await fs.listDir(at)).map((entry) => [entry.name, entry.type]).sort(),
    readLink: (at: string) => fs.readLink(at),
    realpath: async (at: string) => {
      const real = await fs.realpath(at);
      await fs.stat(real); // The disk's realpath wants everything to be there.
      return real;
    },
    write: async (at: string, content: string, flag: string) => {
      await fs.writeText(at, content, { ifAbsent: flag === "wx" });
    },
    mkdir: (at: string, parents: boolean, existOk: boolean) => fs.mkdir(at, { parents, existOk }),
    delete: (at: string) => fs.delete(at),
    rename: (from: string, to: string, overwrite: boolean) => fs.rename(from, to, { overwrite }),
    symlink: (to: string, at: string) => fs.symlink(to, at),
    chmod: (at: string, mode: number) => fs.chmod(at, mode),
  };
}

async function outcome(run: () => unknown): Promise<unknown> {
  try {
    return { value: (await run()) ?? null };
  } catch (error) {
    if (error instanceof FilewrightError) return { code: error.code };
    throw error;
  }
}

function memoryTree(fs: MemoryBackend, root: string): unknown[] {
  return Object.entries(fs.dump())
    .filter(([at]) => at.startsWith(`${root}/`))
    .map(([at, entry]) => {
      const shown = at.slice(root.length + 1);
      if (entry.type === "symlink") return [shown, "symlink", entry.target];
      const { mode } = fs.lstatSync(at);
      return entry.type === "dir" ? [shown, "dir", mode] : [shown, "file", fs.readTextSync(at), mode];
    });
}

async function staysBelow(fs: MemoryBackend, base: string, args: readonly unknown[]): Promise<boolean> {
  for (const arg of args) {
    if (typeof arg !== "string" || !arg.startsWith("/")) continue;
    const real = await fs.realpath(arg).catch(() => arg);
    if (!real.startsWith(`${base}/`)) return false;
  }
  return true;
}

describe("model", () => {
  it("agrees with the disk, operation by operation", async () => {
    const check = async (ops: readonly Op[]): Promise<void> => {
      const base = realpathSync(mkdtempSync(join(tmpdir(), "fw-model-")));
      const root = join(base, "n/n/n");
      mkdirSync(root, { recursive: true });
      try {
        const fs = new MemoryBackend({ [root]: { type: "dir" } });
        const inMemory = memoryOps(fs);
        for (const [what, ...args] of ops) {
          const absolute = args.map((arg, i) => {
            if (typeof arg !== "string") return arg;
            if (arg.startsWith("ROOT/")) return join(root, arg.slice(5));
            const isPath = i === 0 ? what !== "symlink" : what === "rename" || what === "symlink";
            return isPath ? join(root, arg) : arg;
          });
          // Links may climb; what they would reach outside the scratch directory is left alone.
          if (!(await staysBelow(fs, base, absolute))) continue;
          const run = (ops: Record<string, (...args: never[]) => unknown>) => () =>
            ops[what]?.(...(absolute as never[]));
          const [memory, real] = [await outcome(run(inMemory)), await outcome(run(disk))];
          expect(memory, `${what} ${args.join(" ")}`).toEqual(real);
        }
        expect(memoryTree(fs, base).sort()).toEqual(treeOf(base).sort());
      } finally {
        rmSync(base, { recursive: true });
      }
    };
    await fc.assert(fc.asyncProperty(fc.array(op, { minLength: 5, maxLength: 40 }), check), {
      numRuns: Number(process.env["FW_MODEL_RUNS"] ?? 100),
    });
  });
});
