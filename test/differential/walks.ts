/**
 * Generated trees, with directories that cannot be read or that vanish, and what every walk of a tree answers for
 * them: searches, listings, and the files or entries below a directory, in memory and on the disk of this machine.
 */
import type { Files } from "../../js/backends/files.ts";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { makeError } from "../../js/engine/errors.ts";
import { walkTree } from "../../js/backends/fallback/walk-tree.ts";
import {
  FilewrightError,
  type FsEntry,
  LocalBackend,
  MemoryBackend,
  openWorkspace,
  SandboxedBackend,
  SandboxPolicy,
  type Workspace,
} from "../../js/index.node.ts";

export const SEED = 20261125;
export const TREES = 1000;
export const QUERIES_PER_TREE = 20;

/** A directory, a file with its content, or a link with its target. */
type Entry = "dir" | { readonly file: string } | { readonly link: string };
/** A directory that is listed but whose own entries are refused, or that is gone, or replaced by a file. */
type Fault = "PERMISSION_DENIED" | "NOT_FOUND" | "NOT_DIRECTORY";

/** A question about a tree. */
interface WalkQuestion {
  readonly at: string;
  readonly depth: number;
  readonly hidden: boolean;
  readonly respectIgnore: boolean;
  readonly exclude: readonly string[];
  readonly pattern: string;
  readonly type: "file" | "dir" | "any";
  readonly sort: "type" | "name" | "size";
  readonly order: "asc" | "desc";
  readonly limit: number;
}

/** A tree by paths relative to its top, parents first; its faults by path; and the questions. */
export interface WalkCase {
  readonly tree: readonly (readonly [path: string, entry: Entry])[];
  readonly faults: Readonly<Record<string, Fault>>;
  readonly questions: readonly WalkQuestion[];
}

/** A generator of numbers below a bound: the same for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const TEMPORARY = ".filewright-0a1b2c3d-1f-9c-0123456789abcdef";
const DIRECTORIES = ["a", "b", "a", "b", "deep", "é", ".git", ".hid", "node_modules", TEMPORARY];
const FILES = [
  "a.txt",
  "b.log",
  "a-b",
  "a!b",
  "B.TXT",
  "\u{10000}",
  "\uffff",
  "x y",
  ".env",
  ".gitignore",
  ".gitignore",
  ".ignore",
  ".agentignore",
  "info",
  "exclude",
  TEMPORARY,
  `${TEMPORARY}-kept`,
  ".filewright-x",
  "we\\ird",
] as const;
const RULES = ["*.log", "b/", "/a", "!a.txt", "a/b", ".hid", "deep/**", "*", "!/a/"] as const;
const PATTERNS = ["**", "**", "**", "*.txt", "a/**", "a*", "**/b/*", "{a,b}/**"] as const;
const EXCLUDED = ["node_modules", "*.log", "a/b", "a/", "**/deep/**"] as const;

/** Returns all cases. */
export function walkCases(): readonly WalkCase[] {
  const below = numbers(SEED);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  const some = <T>(from: readonly T[], most: number): readonly T[] =>
    Array.from({ length: below(most + 1) }, () => pick(from));
  return Array.from({ length: TREES }, () => {
    const tree: [string, Entry][] = [];
    const directories = [""];
    const taken = new Set<string>();
    for (let made = 0; made < 16; made++) {
      const directory = pick(directories);
      const kind = below(10);
      const name = kind < 4 ? pick(DIRECTORIES) : pick(FILES);
      const path = `${directory}${name}`;
      if (taken.has(path)) continue;
      taken.add(path);
      if (kind < 4) {
        tree.push([path, "dir"]);
        directories.push(`${path}/`);
      } else if (kind === 4) {
        tree.push([path, { link: pick(["a", "b", ".", "..", "gone", "a.txt", name]) }]);
      } else if (name.endsWith("ignore") || name === "exclude") {
        tree.push([
          path,
          {
            file: some(RULES, 3)
              .map((line) => `${line}\n`)
              .join(""),
          },
        ]);
      } else tree.push([path, { file: "x".repeat(below(4)) }]);
    }
    // What git has of its own in a repository.
    if (tree.some(([path, entry]) => path === ".git" && entry === "dir") && below(2) === 0) {
      for (const path of [".git/info", ".git/info/exclude"]) taken.add(path);
      tree.splice(0, tree.length, ...tree.filter(([path]) => !/^\.git\/info(?:\/|$)/u.test(path)));
      tree.push([".git/info", "dir"], [".git/info/exclude", { file: `${pick(RULES)}\n` }]);
    }
    const faults: Record<string, Fault> = {};
    // Half of the trees have no faults, so that the disk can be asked too.
    const mayFail = directories.slice(1);
    for (const directory of mayFail.length === 0 || below(2) === 0 ? [] : some(mayFail, 2))
      faults[directory.slice(0, -1)] = pick(["PERMISSION_DENIED", "NOT_FOUND", "NOT_DIRECTORY"]);
    const questions = Array.from(
      { length: QUERIES_PER_TREE },
      (): WalkQuestion => ({
        at: below(4) > 0 ? "" : pick([...directories.map((path) => path.slice(0, -1)), "gone"]),
        depth: pick([1, 2, 3, 32]),
        hidden: below(4) > 0,
        respectIgnore: below(2) === 0,
        exclude: some(EXCLUDED, 2),
        pattern: pick(PATTERNS),
        type: pick(["file", "file", "dir", "any"]),
        sort: pick(["type", "type", "name", "size"]),
        order: pick(["asc", "asc", "desc"]),
        limit: pick([1000, 1000, 3]),
      }),
    );
    return { tree, faults, questions };
  });
}

/** The walks, in the order of recorded answers. A disk is asked only about trees without faults. */
export const WALKS = [
  "find",
  "grep",
  "held",
  "list",
  "tree",
  "files",
  "nodes",
  "diskFind",
  "diskGrep",
  "diskList",
  "diskFiles",
] as const;
/** An answer of each walk; empty where it was not asked. */
export type Answers = Readonly<Record<(typeof WALKS)[number], string>>;

/** A memory in which the directories with faults cannot be listed. */
class FaultyMemory extends MemoryBackend {
  readonly #faults: Readonly<Record<string, Fault>>;

  constructor(seed: ConstructorParameters<typeof MemoryBackend>[0], faults: Readonly<Record<string, Fault>>) {
    super(seed, { now: () => 0 });
    this.#faults = faults;
  }

  override async listDir(path: string, options?: object): Promise<readonly FsEntry[]> {
    const fault = this.#faults[path];
    if (fault !== undefined) throw makeError(fault, fault, { path });
    return super.listDir(path, options);
  }
}

async function attempt(run: () => unknown): Promise<string> {
  try {
    return JSON.stringify(await run());
  } catch (error) {
    if (error instanceof FilewrightError) return error.code;
    throw error;
  }
}

async function all<T>(items: AsyncIterable<T> | Iterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Asks the searches of a storage, each as an answer. */
function searches(backend: Files, top: string, one: WalkQuestion) {
  const { hidden, respectIgnore, exclude, pattern, type } = one;
  const query = { hidden, respectIgnore, exclude, index: "off" } as const;
  const at = join(top, one.at);
  return {
    find: () =>
      attempt(async () => {
        const asked = { ...query, pattern, type };
        const { paths, total, ignored, unreadable } = await backend.find(at, asked);
        return [paths, total, ignored, unreadable];
      }),
    grep: (index: "off" | "auto") =>
      attempt(async () => {
        const asked = { ...query, index, glob: pattern, pattern: "x", output: "files" } as const;
        const { counts, ignored, unreadable } = await backend.grep(at, asked);
        return [counts.map(({ path }) => path), ignored, unreadable];
      }),
    files: () =>
      attempt(async () => (await all(backend.iterFiles(at))).map((path) => path.slice(top.length))),
  };
}

/** Lists with the tool. Sizes of directories and links differ between storages and are left out. */
function listing(ws: Workspace, one: WalkQuestion): Promise<string> {
  const { at, depth, hidden, respectIgnore, exclude, sort, order, limit } = one;
  const args = { path: at === "" ? "." : at, depth, hidden, ignore: exclude, sort, order, limit };
  return attempt(async () => {
    const data = await ws.listDirectory({ ...args, respect_ignore: respectIgnore });
    const entries = data.entries.map(({ path, type }) => `${path}:${type}`);
    // That links were not followed is told since; it is no matter of the walks.
    const notes = (data.warnings ?? []).filter((note) => !/ not followed: /u.test(note));
    return [entries, data.total, ...notes];
  });
}

/**
 * Asks every walk all questions of a case, or some. `mayUseDisk` is false to leave the disk out, whose answers come
 * from the native engine.
 */
export async function answersTo(
  { tree, faults, questions }: WalkCase,
  asked: readonly number[] = questions.map((_, index) => index),
  mayUseDisk = true,
): Promise<readonly Answers[]> {
  const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-walks-")));
  const onDisk = mayUseDisk && Object.keys(faults).length === 0;
  const seed: Record<string, { type: "dir" } | { type: "symlink"; target: string } | string> = {
    "/w": { type: "dir" },
  };
  for (const [path, entry] of tree) {
    const disk = join(base, path);
    if (onDisk) fs.mkdirSync(dirname(disk), { recursive: true });
    if (entry === "dir") {
      seed[`/w/${path}`] = { type: "dir" };
      if (onDisk) fs.mkdirSync(disk);
    } else if ("file" in entry) {
      seed[`/w/${path}`] = entry.file;
      if (onDisk) fs.writeFileSync(disk, entry.file);
    } else {
      seed[`/w/${path}`] = { type: "symlink", target: entry.link };
      if (onDisk) fs.symlinkSync(entry.link, disk);
    }
  }
  const faulty = new FaultyMemory(
    seed,
    Object.fromEntries(
      Object.entries(faults).map(([path, fault]) => [join("/w", path).replace(/\/$/u, ""), fault]),
    ),
  );
  const whole = new MemoryBackend(seed, { now: () => 0 });
  const confined = new SandboxedBackend(faulty, SandboxPolicy.workspaceOnly("/w"));
  const local = new LocalBackend();
  const ws = await openWorkspace({ backend: faulty, root: "/w" });
  const diskWs = onDisk ? await openWorkspace({ root: base }) : undefined;
  try {
    const rows: Answers[] = [];
    for (const one of asked.map((index) => questions[index] as WalkQuestion)) {
      const disk = onDisk ? searches(local, base, one) : undefined;
      const tree = () =>
        attempt(async () =>
          (await all(walkTree(faulty, join("/w", one.at)))).map(({ path }) => path.slice(2)),
        );
      rows.push({
        find: await searches(faulty, "/w", one).find(),
        grep: await searches(faulty, "/w", one).grep("off"),
        held: await searches(whole, "/w", one).grep("auto"),
        list: await listing(ws, one),
        tree: await tree(),
        files: await searches(confined, "/w", one).files(),
        nodes: await searches(whole, "/w", one).files(),
        diskFind: (await disk?.find()) ?? "",
        diskGrep: (await disk?.grep("off")) ?? "",
        // Directories have sizes on a disk.
        diskList: diskWs === undefined || one.sort === "size" ? "" : await listing(diskWs, one),
        diskFiles: (await disk?.files()) ?? "",
      });
    }
    return rows;
  } finally {
    await ws.close();
    await diskWs?.close();
    fs.rmSync(base, { recursive: true });
  }
}

/** The first line of the recording. */
export interface Header {
  readonly seed: number;
  readonly count: number;
  readonly cases: string;
  /** The digests of all answers of each walk: when there were nine walks, and now. */
  readonly before: Answers;
  readonly now: Answers;
}

/** The rows in which a walk answered otherwise before, as ranges, and one of them. */
export interface Change {
  readonly changed: keyof Answers;
  readonly rows: string;
  readonly example: { readonly row: number; readonly before: string; readonly now: string };
}

/** One question with all answers. A key names the walks that give one answer. */
export interface Row {
  readonly row: number;
  readonly now: Readonly<Record<string, string>>;
}

/** Reads the recording. */
export function readWalks(): { header: Header; changes: readonly Change[]; rows: readonly Row[] } {
  const lines = fs
    .readFileSync(join(import.meta.dirname, "walks.jsonl"), "utf8")
    .trim()
    .split("\n");
  const [header, ...rest] = lines.map((line) => JSON.parse(line) as object);
  return {
    header: header as Header,
    changes: rest.filter((line): line is Change => "changed" in line),
    rows: rest.filter((line): line is Row => "row" in line),
  };
}

/** Groups the answers to one question: a key names the walks that give one answer. */
export function groupAnswers(answers: Answers): Readonly<Record<string, string>> {
  const walks = new Map<string, string>();
  for (const walk of WALKS)
    if (answers[walk] !== "")
      walks.set(answers[walk], [walks.get(answers[walk]), walk].filter(Boolean).join(" "));
  return Object.fromEntries([...walks].map(([answer, names]) => [names, answer]));
}

/** Returns the digest of texts. */
export function digestOf(texts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(texts)).digest("hex");
}
