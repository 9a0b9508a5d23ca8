/**
 * Generated trees with links, and what every backend that resolves links answers for paths in them. The disk of
 * this machine, asked through `node:fs`, is among them.
 */
import type { Files } from "../../js/backends/files.ts";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  FilewrightError,
  LocalBackend,
  MemoryBackend,
  OverlayBackend,
  SandboxedBackend,
  SandboxPolicy,
} from "../../js/index.node.ts";

export const SEED = 20261125;
export const TREES = 1000;
export const PATHS_PER_TREE = 20;

/** A directory, a file, or a link with its target. `ROOT` in a target stands for the root. */
type Entry = "dir" | "file" | { readonly link: string };

/** A tree, by paths relative to the root, parents first, and the paths that are asked for. */
export interface LinkCase {
  readonly tree: readonly (readonly [path: string, entry: Entry])[];
  readonly paths: readonly string[];
}

/** A generator of numbers below a bound: the same for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const NAMES = ["a", "b", "c"] as const;
const LONG = "n".repeat(256);

/** Returns all cases. */
export function linkCases(): readonly LinkCase[] {
  const below = numbers(SEED);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  const target = (): string => {
    const start = pick(["", "", "", "", "ROOT/", "../out/", "ROOT/../out/"]);
    const names = Array.from({ length: 1 + below(4) }, () => pick([...NAMES, ...NAMES, "..", "."]));
    if (below(40) === 0) names.push(LONG);
    return `${start}${names.join("/")}${pick(["", "", "", "/", "/."])}`;
  };
  return Array.from({ length: TREES }, () => {
    const tree: [string, Entry][] = [];
    const directories = [""];
    const taken = new Set<string>();
    for (let made = 0; made < 12; made++) {
      const path = `${pick(directories)}${pick(NAMES)}`;
      if (taken.has(path)) continue;
      taken.add(path);
      const entry = pick<() => Entry>([
        () => "dir",
        () => "dir",
        () => "file",
        () => ({ link: target() }),
        () => ({ link: target() }),
      ])();
      tree.push([path, entry]);
      if (entry === "dir" && path.length < 6) directories.push(`${path}/`);
    }
    const paths = Array.from({ length: PATHS_PER_TREE }, () => {
      const names = Array.from({ length: 1 + below(4) }, () => pick(NAMES) as string);
      if (below(40) === 0) names.push(LONG);
      return names.join("/");
    });
    return { tree, paths };
  });
}

/** Where a path leads, and the type of its last name when it is not followed; codes where there is none. */
type Answer = string;
/** The answers of all backends, by name. */
export type Answers = Readonly<Record<string, Answer>>;

async function answerOf(root: string, backend: Files, path: string): Promise<Answer> {
  const at = `${root}/${path}`;
  const ask = async (run: () => unknown): Promise<string> => {
    try {
      return String(await run())
        .replaceAll(LONG, "LONG")
        .replaceAll(root, "ROOT")
        .replaceAll(dirname(root), "ABOVE")
        .replace(/^.*filewright-links-[^/]*/u, "BASE");
    } catch (error) {
      if (error instanceof FilewrightError) return error.code;
      throw error;
    }
  };
  const real = await ask(() => backend.realpath?.(at));
  const entry = await ask(async () => (await backend.lstat?.(at))?.type);
  return `${real} ${entry}`;
}

/** The backends, by name. `out` beside the root is outside of it. */
const WALKERS: Readonly<Record<string, (memory: MemoryBackend, root: string) => Promise<Files>>> = {
  memory: async (memory) => memory,
  overlay: async (memory) => new OverlayBackend(memory),
  written: async (memory, root) => {
    const overlay = new OverlayBackend(
      new MemoryBackend({ [root]: { type: "dir" }, [`${dirname(root)}/out`]: { type: "dir" } }),
    );
    const copy = async (at: string): Promise<void> => {
      for (const { path, type } of await memory.listDir(at)) {
        if (type === "dir") {
          await overlay.mkdir(path, { existOk: true });
          await copy(path);
        } else if (type === "symlink") await overlay.symlink?.(await memory.readLink(path), path);
        else await overlay.writeText(path, "");
      }
    };
    await copy(dirname(root));
    return overlay;
  },
  inside: async (memory, root) => new SandboxedBackend(memory, SandboxPolicy.workspaceOnly(root)),
  never: async (memory, root) =>
    new SandboxedBackend(memory, { ...SandboxPolicy.workspaceOnly(root), followSymlinks: "never" }),
  any: async (memory, root) =>
    new SandboxedBackend(memory, { ...SandboxPolicy.workspaceOnly(root), followSymlinks: "any" }),
  disk: async () => new LocalBackend(),
};

/** Asks every backend for every path of a case. Returns for each path the answers by the name of the backend. */
export async function answersTo({ tree, paths }: LinkCase): Promise<readonly Answers[]> {
  const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-links-")));
  // Deep, so that no `..` of a target leads to what this machine has.
  const above = `${base}${"/u".repeat(40)}`;
  const root = `${above}/w`;
  try {
    fs.mkdirSync(above, { recursive: true });
    for (const path of [root, `${above}/out`, `${above}/out/a`]) fs.mkdirSync(path);
    fs.writeFileSync(`${above}/out/b`, "");
    const seed: Record<string, { type: "dir" } | { type: "symlink"; target: string } | string> = {
      [root]: { type: "dir" },
      [`${above}/out/a`]: { type: "dir" },
      [`${above}/out/b`]: "",
    };
    for (const [path, entry] of tree) {
      const at = join(root, path);
      if (entry === "dir") {
        fs.mkdirSync(at);
        seed[at] = { type: "dir" };
      } else if (entry === "file") {
        fs.writeFileSync(at, "");
        seed[at] = "";
      } else {
        const target = entry.link.replaceAll("ROOT", root);
        fs.symlinkSync(target, at);
        seed[at] = { type: "symlink", target };
      }
    }
    const rows: Record<string, Answer>[] = paths.map(() => ({}));
    for (const [name, make] of Object.entries(WALKERS)) {
      const backend = await make(new MemoryBackend(seed), root);
      for (const [index, path] of paths.entries())
        (rows[index] as Record<string, Answer>)[name] = await answerOf(root, backend, path);
      await backend.close?.();
    }
    return rows;
  } finally {
    fs.rmSync(base, { recursive: true });
  }
}
