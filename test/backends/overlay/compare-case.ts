/**
 * Generated changes of an overlay over a disk, and searches that must have the same answers in the overlay and in a
 * real copy of the tree that it shows.
 */
import type { Files } from "../../../js/backends/files.ts";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { decodeCursor } from "../../../js/engine/wire/cursor.ts";
import type { FindQuery, SearchQuery } from "../../../js/engine/search.ts";
import { walkTree } from "../../../js/backends/fallback/walk-tree.ts";
import { FilewrightError, LocalBackend, OverlayBackend } from "../../../js/index.node.ts";

/** A generator of numbers below a bound: the same for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = (seed * 2_654_435_761) >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const NAMES = [
  "a.txt",
  "b.ts",
  "c",
  "d",
  ".hid",
  "[x]*!",
  "sp ace ",
  "é.md",
  "A.txt",
  "sub",
  "big.bin",
  "#h",
  "{q}",
];
const IGNORES = [".gitignore", ".ignore", ".agentignore"];
const RULES = ["a.txt\n", "sub/\n", "*.ts\n!b.ts\n", "/c\n", "d\n.hid\n", "# none\n", "**/c/**\n"];
const WORDS = ["needle", "hay", "Needle", "other line", "x needle needle y"];

type Pick = <T>(from: readonly T[]) => T;

function contentOf(below: (n: number) => number, pick: Pick): string {
  if (below(12) === 0) return `needle\0binary`;
  if (below(15) === 0) return `${"needle filler\n".repeat(200)}`;
  return Array.from({ length: below(5) }, () => `${pick(WORDS)}\n`).join("");
}

function randomPath(below: (n: number) => number, pick: Pick): string {
  const parts = Array.from({ length: 1 + below(3) }, () => pick(NAMES));
  return parts.join("/");
}

/** Makes a tree on the disk. */
function makeTree(root: string, seed: number): void {
  const below = numbers(seed);
  const pick: Pick = (from) => from[below(from.length)] as never;
  for (let i = 0; i < 25 + below(25); i++) {
    const path = join(root, randomPath(below, pick));
    try {
      fs.mkdirSync(dirname(path), { recursive: true });
      if (below(10) === 0) fs.symlinkSync(pick(NAMES), path);
      else fs.writeFileSync(path, contentOf(below, pick));
    } catch {
      // A name that is taken by a file or a directory.
    }
  }
  for (let i = 0; i < below(4); i++) {
    const directory = below(2) === 0 ? root : dirname(join(root, randomPath(below, pick)));
    try {
      fs.writeFileSync(join(directory, pick(IGNORES)), pick(RULES));
    } catch {
      // No such directory.
    }
  }
  if (below(3) === 0) {
    fs.mkdirSync(join(root, ".git/info"), { recursive: true });
    if (below(2) === 0) fs.writeFileSync(join(root, ".git/info/exclude"), pick(RULES));
  }
}

/** Makes random changes in an overlay: writes, removals, moves, new directories, links, other types, ignore files. */
async function change(overlay: OverlayBackend, root: string, seed: number): Promise<void> {
  const below = numbers(seed + 77);
  const pick: Pick = (from) => from[below(from.length)] as never;
  const existing: string[] = [];
  for await (const entry of walkTree(overlay, root)) existing.push(entry.path);
  const some = (): string =>
    existing.length > 0 && below(3) > 0 ? pick(existing) : `${root}/${randomPath(below, pick)}`;
  const text = (): string => contentOf(below, pick);
  const kinds: readonly (() => Promise<unknown>)[] = [
    () => overlay.writeText(some(), text(), { createDirs: true }),
    () => overlay.writeText(some(), text(), { createDirs: true }),
    () => overlay.removeTree(some()),
    () => overlay.delete(some()),
    () => overlay.mkdir(some()),
    () => overlay.copyFile(some(), some(), { overwrite: true }),
    async () => {
      // A tree in the place of another entry, or a file in that of a directory.
      const path = some();
      await overlay.removeTree(path);
      await overlay.writeText(below(2) === 0 ? path : `${path}/deep/${pick(NAMES)}`, text(), {
        createDirs: true,
      });
    },
    async () => overlay.symlink?.(pick(NAMES), some()),
    async () => {
      const [from, to] = [some(), some()];
      for await (const path of overlay.iterFiles(from))
        await overlay.writeText(`${to}${path.slice(from.length)}`, text(), { createDirs: true });
      await overlay.removeTree(from);
    },
    () =>
      below(3) === 0
        ? overlay.writeText(`${below(2) === 0 ? root : dirname(some())}/${pick(IGNORES)}`, pick(RULES))
        : Promise.resolve(),
    () => (below(6) === 0 ? overlay.removeTree(`${root}/${pick(IGNORES)}`) : Promise.resolve()),
    () =>
      below(8) === 0
        ? overlay.writeText(`${root}/.git/info/exclude`, pick(RULES), { createDirs: true })
        : Promise.resolve(),
  ];
  for (let i = 0; i < 1 + below(8); i++) await pick(kinds)().catch(() => undefined);
}

/** Copies what a backend shows to the disk. */
async function flatten(backend: Files, from: string, to: string): Promise<void> {
  for await (const entry of walkTree(backend, from)) {
    const path = to + entry.path.slice(from.length);
    if (entry.type === "dir") fs.mkdirSync(path, { recursive: true });
    else if (entry.type === "symlink") fs.symlinkSync((await backend.readLink?.(entry.path)) as string, path);
    else fs.writeFileSync(path, await backend.readBytes(entry.path));
  }
}

/** Returns random queries of contents. */
function grepQueries(seed: number): readonly SearchQuery[] {
  const below = numbers(seed + 5);
  const pick: Pick = (from) => from[below(from.length)] as never;
  return Array.from({ length: 12 }, () => ({
    ...(below(5) === 0
      ? { patterns: ["needle", "hay"] }
      : { pattern: pick(["needle", "hay$", "e", "none at all"]) }),
    output: pick(["content", "content", "files", "count"] as const),
    case: pick(["sensitive", "insensitive", "smart"] as const),
    ...(below(3) === 0 ? { glob: pick(["*.txt", "**/*.ts", "c/**", ["*.md", "!A*"]]) } : {}),
    ...(below(3) === 0 ? { exclude: [pick(["sub", "*.ts", "/c", "d/**"])] } : {}),
    ...(below(6) === 0 ? { fileTypes: ["ts"] } : {}),
    ...(below(3) === 0 ? { hidden: false } : {}),
    ...(below(3) === 0 ? { respectIgnore: false } : {}),
    ...(below(5) === 0 ? { ignoreFiles: [".gitignore"] } : {}),
    ...(below(4) === 0 ? { maxPerFile: 1 + below(2) } : {}),
    ...(below(2) === 0 ? { maxResults: 1 + below(6) } : {}),
    ...(below(5) === 0 ? { maxTextBytes: 1 + below(200) } : {}),
    ...(below(6) === 0 ? { maxFileBytes: 1000 } : {}),
    ...(below(4) === 0 ? { context: 1 } : {}),
  }));
}

/** Returns random searches for names. */
function findQueries(seed: number): readonly FindQuery[] {
  const below = numbers(seed + 9);
  const pick: Pick = (from) => from[below(from.length)] as never;
  return Array.from({ length: 8 }, () => ({
    pattern: pick(["**", "*.txt", "**/c/**", "*", ["*.ts", "!A*"]] as (string | string[])[]),
    type: pick(["file", "dir", "symlink", "any"] as const),
    ...(below(3) === 0 ? { exclude: [pick(["sub", "*.ts", "/c", "d/**"])] } : {}),
    ...(below(3) === 0 ? { hidden: false } : {}),
    ...(below(3) === 0 ? { respectIgnore: false } : {}),
    ...(below(5) === 0 ? { caseSensitive: false } : {}),
    ...(below(2) === 0 ? { limit: 1 + below(5) } : {}),
    ...(below(5) === 0 ? { maxTextBytes: 1 + below(60) } : {}),
  }));
}

/** Returns an answer, or the code of its error. */
async function answerOrCode<T>(run: () => T): Promise<Awaited<T> | string> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof FilewrightError) return error.code;
    throw error;
  }
}

/** Returns all pages of a search of contents. */
async function grepPages(backend: Files, root: string, query: SearchQuery): Promise<unknown[]> {
  const pages: unknown[] = [];
  for (let cursor: string | undefined; pages.length < 300; ) {
    const found = await answerOrCode(() => backend.grep?.(root, { ...query, cursor }));
    if (found === undefined) throw new Error("no grep");
    if (typeof found === "string") return [...pages, found];
    const { fresh: _, nextCursor, filesSearched, skippedBinary, skippedLarge, ...rest } = found;
    const { totalMatches, filesWithMatches, ignored, unreadable, ...page } = rest;
    // Totals of a search that ended early are lower bounds.
    const totals = {
      totalMatches,
      filesWithMatches,
      ignored,
      unreadable,
      filesSearched,
      skippedBinary,
      skippedLarge,
    };
    pages.push({
      ...page,
      matches: [...page.matches],
      counts: [...page.counts],
      ...(nextCursor !== undefined && { next: decodeCursor("grep", nextCursor) }),
      ...(found.incompleteReason !== "max_results" && totals),
    });
    if (nextCursor === undefined) break;
    cursor = nextCursor;
  }
  return pages;
}

/** Returns all pages of a search for names. */
async function findPages(backend: Files, root: string, query: FindQuery): Promise<unknown[]> {
  const pages: unknown[] = [];
  for (let cursor: string | undefined; pages.length < 300; ) {
    const found = await backend.find?.(root, { ...query, cursor });
    if (found === undefined) throw new Error("no find");
    const { nextCursor, ...page } = found;
    pages.push({
      ...page,
      paths: [...page.paths],
      next: nextCursor && decodeCursor("find", nextCursor).path,
    });
    if (nextCursor === undefined) break;
    cursor = nextCursor;
  }
  return pages;
}

/** A case: a changed overlay over a disk, and a disk with the same files. */
interface OverlayCase {
  readonly lower: LocalBackend;
  readonly overlay: OverlayBackend;
  readonly root: string;
  readonly flat: LocalBackend;
  readonly flatRoot: string;
}

/** Makes a case below a directory. */
async function makeCase(base: string, seed: number): Promise<OverlayCase> {
  const [root, flatRoot] = [join(base, `${seed}`, "lower"), join(base, `${seed}`, "flat")];
  for (const path of [root, flatRoot]) fs.mkdirSync(path, { recursive: true });
  makeTree(root, seed);
  const lower = new LocalBackend({ index: "off" });
  const overlay = new OverlayBackend(lower);
  await change(overlay, root, seed);
  await flatten(overlay, root, flatRoot);
  return { lower, overlay, root, flat: new LocalBackend({ index: "off" }), flatRoot };
}

/** Compares all generated searches of one case, also of one below its root. */
export async function compareCase(base: string, seed: number): Promise<void> {
  const { overlay, root, flat, flatRoot } = await makeCase(base, seed);
  const changes = JSON.stringify(await overlay.changes());
  for (const sub of ["", "/c"]) {
    if (sub !== "" && !(await overlay.exists(root + sub))) continue;
    const about = (query: object): string => `seed ${seed}${sub} ${JSON.stringify(query)} ${changes}`;
    for (const query of grepQueries(seed))
      expect(await grepPages(overlay, root + sub, query), about(query)).toEqual(
        await grepPages(flat, flatRoot + sub, query),
      );
    for (const query of (await overlay.stat(root + sub)).isDir ? findQueries(seed) : [])
      expect(await findPages(overlay, root + sub, query), about(query)).toEqual(
        await findPages(flat, flatRoot + sub, query),
      );
  }
}
