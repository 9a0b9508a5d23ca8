/**
 * Symbolic links on every backend that has them: memory, the local disk, overlays and Node's own `fs` answer
 * as POSIX does. The kernel, asked through `node:fs`, is the reference of the random trees.
 */
import type { Files } from "../../js/backends/files.ts";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FilewrightError, LocalBackend, MemoryBackend, OverlayBackend } from "../../js/index.node.ts";
import { filesOf, toBackend } from "../../js/storage/index.ts";

/** The entries of a tree, by path relative to its root; a directory comes before its contents. */
type Tree = readonly (readonly [path: string, entry: string | { readonly link: string } | null])[];

type Subject = Files & Required<Pick<Files, "lstat" | "realpath">>;

/** Makes the tree in a fresh directory of the disk. `ROOT` in a target stands for it. */
function plant(tree: Tree): string {
  const root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-links-")));
  for (const [path, entry] of tree) {
    const at = join(root, path);
    if (entry === null) fs.mkdirSync(at);
    else if (typeof entry === "string") fs.writeFileSync(at, entry);
    else fs.symlinkSync(entry.link.replace("ROOT", root), at);
  }
  return root;
}

/** The tree in memory, at the path that it has on the disk. */
function inMemory(tree: Tree, root: string): MemoryBackend {
  const seed: Record<string, { type: "dir" } | { type: "symlink"; target: string } | string> = {
    [root]: { type: "dir" },
  };
  for (const [path, entry] of tree) {
    if (entry === null) seed[join(root, path)] = { type: "dir" };
    else if (typeof entry === "string") seed[join(root, path)] = entry;
    else seed[join(root, path)] = { type: "symlink", target: entry.link.replace("ROOT", root) };
  }
  return new MemoryBackend(seed);
}

/** An overlay over an empty directory, into which the whole tree was written. */
async function allAbove(tree: Tree, root: string): Promise<OverlayBackend> {
  const overlay = new OverlayBackend(new MemoryBackend({ [root]: { type: "dir" } }));
  for (const [path, entry] of tree) {
    if (entry === null) await overlay.mkdir(join(root, path));
    else if (typeof entry === "string") await overlay.writeText(join(root, path), entry);
    else await overlay.symlink?.(entry.link.replace("ROOT", root), join(root, path));
  }
  return overlay;
}

/** An overlay over memory in which every second entry was made above, so that links lead from each to the other. */
async function halfAbove(tree: Tree, root: string): Promise<OverlayBackend> {
  const overlay = new OverlayBackend(inMemory(tree, root));
  for (const [index, [path, entry]] of tree.entries()) {
    if (index % 2 === 0 || entry === null) continue;
    await overlay.delete(join(root, path));
    if (typeof entry === "string") await overlay.writeText(join(root, path), entry);
    else await overlay.symlink?.(entry.link.replace("ROOT", root), join(root, path));
  }
  return overlay;
}

const SUBJECTS: Readonly<Record<string, (tree: Tree, root: string) => Files | Promise<Files>>> = {
  memory: inMemory,
  "the local disk": () => new LocalBackend(),
  "a storage over the disk": () => toBackend(filesOf(new LocalBackend())),
  "an overlay over memory": (tree, root) => new OverlayBackend(inMemory(tree, root)),
  "an overlay over the disk": () => new OverlayBackend(new LocalBackend()),
  "an overlay that holds the tree": allAbove,
  "an overlay that holds half of the tree": halfAbove,
};

async function codeOf(run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    return error instanceof FilewrightError ? error.code : error;
  }
}

const CHAIN: Tree = Array.from({ length: 45 }, (_, at) => [
  `l${at + 1}`,
  { link: at === 0 ? "a.txt" : `l${at}` },
]);

const TABLE: Tree = [
  ["a.txt", "a"],
  ["b.txt", "b"],
  ["d", null],
  ["d/in.txt", "in"],
  ["through-file", { link: "a.txt/../b.txt" }],
  ["through-nothing", { link: "gone/../b.txt" }],
  ["through-dir", { link: "d/../b.txt" }],
  ["file-as-dir", { link: "a.txt/" }],
  ["file-and-dot", { link: "a.txt/." }],
  ["dir-as-dir", { link: "d/" }],
  ["dir-and-dot", { link: "d/." }],
  ["below-file", { link: "a.txt/x" }],
  ["absolute", { link: "ROOT/d/../b.txt" }],
  ["absolute-file", { link: "ROOT/a.txt/../b.txt" }],
  ["to-link", { link: "through-file" }],
  ["link-then-up", { link: "dir-as-dir/../a.txt" }],
  ["circle", { link: "circle" }],
  ...CHAIN,
];

const ANSWERS: readonly (readonly [path: string, answer: string])[] = [
  ["through-file", "NOT_DIRECTORY"],
  ["through-nothing", "NOT_FOUND"],
  ["through-dir", "b"],
  ["file-as-dir", "NOT_DIRECTORY"],
  ["file-and-dot", "NOT_DIRECTORY"],
  ["dir-as-dir/in.txt", "in"],
  ["dir-and-dot/in.txt", "in"],
  ["below-file", "NOT_DIRECTORY"],
  ["a.txt/x", "NOT_DIRECTORY"],
  ["a.txt/", "NOT_DIRECTORY"],
  ["absolute", "b"],
  ["absolute-file", "NOT_DIRECTORY"],
  ["to-link", "NOT_DIRECTORY"],
  ["link-then-up", "a"],
  ["circle", "LOOP"],
  ["l40", "a"],
  ["l41", "LOOP"],
];

describe.each(Object.entries(SUBJECTS))("%s", (_, make) => {
  test.each(ANSWERS)("answers %s with %s when it is read", async (path, answer) => {
    const root = plant(TABLE);
    try {
      const backend = await make(TABLE, root);
      expect(await codeOf(() => backend.readText(`${root}/${path}`))).toBe(answer);
    } finally {
      fs.rmSync(root, { recursive: true });
    }
  });

  test("writes and deletes nothing through a file or a missing name", async () => {
    const root = plant(TABLE);
    try {
      const backend = await make(TABLE, root);
      const write = (path: string) => codeOf(() => backend.writeText(`${root}/${path}`, "new"));
      expect(await write("through-file")).toBe("NOT_DIRECTORY");
      expect(await write("through-nothing")).toBe("NOT_FOUND");
      expect(await write("a.txt/")).toBe("NOT_DIRECTORY");
      expect(await codeOf(() => backend.delete(`${root}/through-file/x`))).toBe("NOT_DIRECTORY");
      expect(await backend.readText(`${root}/b.txt`)).toBe("b");
      expect(await backend.readText(`${root}/a.txt`)).toBe("a");
    } finally {
      fs.rmSync(root, { recursive: true });
    }
  });
});

test("an overlay follows a link of below through what was changed above", async () => {
  const lower = inMemory(
    [
      ["a", "a"],
      ["b", "b"],
      ["d", null],
      ["x", { link: "a" }],
      ["l", { link: "x" }],
      ["up", { link: "d/../b" }],
    ],
    "/ws",
  );
  const overlay = new OverlayBackend(lower) as unknown as Subject;
  await overlay.delete("/ws/x");
  await overlay.writeText("/ws/x", "a file now");
  expect(await overlay.readText("/ws/l")).toBe("a file now");
  expect(await overlay.realpath("/ws/l")).toBe("/ws/x");
  await overlay.delete("/ws/d");
  expect(await codeOf(() => overlay.readText("/ws/up"))).toBe("NOT_FOUND");
  await overlay.writeText("/ws/d", "a file now");
  expect(await codeOf(() => overlay.readText("/ws/up"))).toBe("NOT_DIRECTORY");
});

const NAMES = ["fwa", "fwb", "fwc"] as const;
const name = fc.constantFrom(...NAMES);
const below = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const target = fc
  .tuple(
    fc.constantFrom("", "", "", "ROOT/"),
    fc.array(fc.constantFrom(...NAMES, "..", "."), { minLength: 1, maxLength: 4 }),
    fc.constantFrom("", "", "/"),
  )
  .map(([start, names, end]) => `${start}${names.join("/")}${end}`);
const entry = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(null) },
  { weight: 2, arbitrary: fc.constantFrom("one", "two") },
  { weight: 4, arbitrary: target.map((link) => ({ link })) },
);
/** Entries whose parents are directories of the tree, each path once. */
const trees = fc.array(fc.tuple(below, entry), { minLength: 2, maxLength: 12 }).map((drawn): Tree => {
  const tree = new Map<string, Tree[number][1]>();
  const sorted = drawn.sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1));
  for (const [path, one] of sorted) {
    const parent = dirname(path);
    if (!tree.has(path) && (parent === "." || tree.get(parent) === null)) tree.set(path, one);
  }
  return [...tree];
});

const ERRNO: Readonly<Record<string, string>> = {
  ENOENT: "NOT_FOUND",
  ENOTDIR: "NOT_DIRECTORY",
  EISDIR: "IS_DIRECTORY",
  ELOOP: "LOOP",
};

function kernel<T>(run: () => T): T | string {
  try {
    return run();
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return ERRNO[code] ?? code;
  }
}

const typeOf = (stat: fs.Stats): string =>
  stat.isSymbolicLink() ? "symlink" : stat.isDirectory() ? "dir" : "file";

/** Returns the kernel's facts about a path: its type, that of the entry itself, its real path, and its content. */
function expected(path: string): readonly unknown[] {
  return [
    kernel(() => typeOf(fs.statSync(path))),
    kernel(() => typeOf(fs.lstatSync(path))),
    kernel(() => fs.realpathSync.native(path)),
    kernel(() => fs.readFileSync(path, "utf8")),
  ];
}

async function answered(backend: Subject, path: string): Promise<readonly unknown[]> {
  return [
    await codeOf(async () => (await backend.stat(path)).type),
    await codeOf(async () => (await backend.lstat(path)).type),
    // The kernel knows no real path of what is missing; ours keeps its last names.
    await codeOf(async () => ((await backend.exists(path)) ? backend.realpath(path) : backend.stat(path))),
    await codeOf(() => backend.readText(path)),
  ];
}

describe.each(Object.entries(SUBJECTS))("random trees of links: %s", (_, make) => {
  test("answers as the kernel does", async () => {
    await fc.assert(
      fc.asyncProperty(trees, fc.array(below, { minLength: 4, maxLength: 10 }), async (tree, paths) => {
        const root = plant(tree);
        try {
          const backend = (await make(tree, root)) as Subject;
          for (const path of paths) {
            const at = `${root}/${path}`;
            expect(await answered(backend, at), path).toEqual(expected(at));
          }
        } finally {
          fs.rmSync(root, { recursive: true });
        }
      }),
      { numRuns: Number(process.env["FILEWRIGHT_LINK_RUNS"] ?? 60) },
    );
  });
});
