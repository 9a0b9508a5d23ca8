/**
 * A test case of a backend: the files it begins with, calls with their answers in order, and the files that are there in
 * the end.
 */
import type { FileAbilities, Files } from "../../backends/files.ts";
import { asFiles } from "../../backends/host-files.ts";
import type { FsBackend, MaybePromise } from "../../backends/backend.ts";
import { copyEntry, moveEntry } from "../../backends/fallback/fallback-tree.ts";
import { childOf } from "../../backends/paths.ts";
import type { Code } from "../../engine/errors.ts";
import { assertEqual, assertFails, assertTrue } from "../case.ts";

/** A backend under test. A new one is created for each case. */
export interface ContractSubject {
  readonly backend: FsBackend;
  /** An absolute path without links: an existing, empty directory in the backend. */
  readonly root: string;
  /** Creates files, by their paths relative to the root, without the backend. Needed for a read-only backend. */
  seed?(files: Readonly<Record<string, string>>): MaybePromise<void>;
  /** Called after the case, to clean up. */
  dispose?(): MaybePromise<void>;
}

/** One test case of the contract. */
export interface ContractCase {
  readonly name: string;
  /** The abilities that the case tests. It is skipped on files without them. */
  readonly needs?: readonly (keyof FileAbilities)[];
  /** True when the case changes nothing after its files are made, so that it is also run on a read-only backend. */
  readonly reads?: true;
  /** The files that the case begins with, by their paths below the root. */
  readonly files?: Tree;
  run(context: Context): Promise<void>;
}

/**
 * Files below a directory: texts by their paths. A link is `-> target`, below the root where that is absolute; an empty
 * directory is `(empty)`.
 */
export type Tree = Readonly<Record<string, string>>;

/** The objects that a case works with. */
export interface Context {
  /** The backend that is tested, and its files with every method. */
  readonly given: FsBackend;
  readonly backend: Files;
  readonly root: string;
  /** Returns the absolute path of a path relative to the root. */
  at(path: string): string;
  /** Returns the path below the root of an absolute one. */
  below(path: string): string;
}

/**
 * Calls and paths below the root, each separated by blanks; the answer that each call gives for each path; and the other
 * arguments of the calls.
 */
export type Step = readonly [calls: string, paths: string, answer: unknown, ...rest: readonly unknown[]];

/** The answer of a call that fails, with one of these codes. */
class Refused {
  readonly codes: readonly Code[];
  constructor(codes: readonly Code[]) {
    this.codes = codes;
  }
}

/** Returns the answer of a call that fails with one of the codes. */
export function refused(...codes: readonly Code[]): Refused {
  return new Refused(codes);
}

/** The answer of a call whose result is of no interest. */
export const DONE: unique symbol = Symbol("done");

type Method = (this: Files, ...all: readonly unknown[]) => unknown;
type Make = (context: Context, path: string, first: never, second: never) => unknown;

/** The calls that are not the method of their name, with the path first, or whose result is compared in part. */
const CALLS: Readonly<Record<string, Make>> = {
  stat: async ({ backend, at }, path) => {
    const { type, size } = await backend.stat(at(path));
    return type === "file" ? size : type;
  },
  mode: async ({ backend, at }, path) => (await backend.stat(at(path))).mode,
  lstat: async ({ backend, at }, path) => (await backend.lstat(at(path))).type,
  read: async ({ backend, at }, path, options) => {
    const read = await backend.read(at(path), options);
    return read && new TextDecoder().decode(read.bytes);
  },
  writeBytes: ({ backend, at }, path, text, options) =>
    backend.writeBytes(at(path), new TextEncoder().encode(text), options),
  listDir: async ({ backend, at, below }, path) =>
    (await backend.listDir(at(path))).map((one) =>
      one.path.endsWith(`/${one.name}`) ? below(one.path) : one,
    ),
  firstFile: async ({ backend, at, below }, path) => {
    for await (const file of backend.iterFiles(at(path))) return below(file);
    return undefined;
  },
  iterFiles: async ({ backend, at, below }, path) => {
    const files: string[] = [];
    for await (const file of backend.iterFiles(at(path))) files.push(below(file));
    return files;
  },
  glob: async ({ backend, at, below }, path, pattern) =>
    (await backend.glob(pattern, { root: at(path) })).map(below),
  symlink: ({ backend, at }, path, target) => backend.symlink(target, at(path)),
  realpath: async ({ backend, at, below }, path) => below(await backend.realpath(at(path))),
  rename: ({ backend, at }, from, to, options) => moveEntry(backend, at(from), at(to), options),
  copyFile: ({ backend, at }, from, to, options) => backend.copyFile(at(from), at(to), options),
  copyTree: ({ backend, at }, from, to, options) => copyEntry(backend, at(from), at(to), options),
  removeTree: ({ backend, at }, path) => backend.removeTree(at(path)),
};

/** The ability that a method needs, without which its steps are left out. */
const NEEDS: Readonly<Partial<Record<string, keyof FileAbilities>>> = {
  lstat: "links",
  readLink: "links",
  symlink: "links",
  realpath: "links",
  chmod: "modes",
};

/** Returns a case of calls. In the end `left` is there; without it, the files are as they were. */
export function steps(all: readonly Step[], left?: Tree): Pick<ContractCase, "run"> {
  return {
    run: async (context) => {
      const before = left ?? (await treeOf(context));
      for (const step of all.flatMap(singleSteps)) {
        const need = NEEDS[step[0]];
        if (need === undefined || context.backend.abilities[need]) await makeStep(context, step);
      }
      assertEqual(await treeOf(context), before, "the files in the end");
    },
  };
}

/** Returns the steps of a row, each with one call and one path. */
function singleSteps([calls, paths, ...rest]: Step): readonly Step[] {
  return calls.split(" ").flatMap((call) => paths.split(" ").map((path): Step => [call, path, ...rest]));
}

async function makeStep(context: Context, [call, path, answer, ...rest]: Step): Promise<void> {
  const { backend, at } = context;
  const what = `${call} of ${JSON.stringify([path, ...rest]).slice(0, 200)}`;
  const make = async (): Promise<unknown> =>
    CALLS[call] === undefined
      ? (backend[call as keyof Files] as Method).call(backend, at(path), ...rest)
      : CALLS[call](context, path, ...(rest as [never, never]));
  if (answer instanceof Refused) {
    const error = await assertFails(make, answer.codes, what);
    if (call === "readText") assertEqual(error.path, at(path), `the path of the error of ${what}`);
  } else {
    const result = await make();
    if (answer !== DONE) assertEqual(result, answer, what);
  }
}

/** Returns a tree of empty files with these paths, separated by blanks. */
export function emptyFiles(paths: string): Tree {
  return Object.fromEntries(paths.split(" ").map((path) => [path, ""]));
}

/** Returns what is below the root. */
async function treeOf({ backend, root, below }: Context): Promise<Tree> {
  const found: Record<string, string> = {};
  const linkTo = (target: string): string =>
    `-> ${target.startsWith(root) ? target.slice(root.length) : target}`;
  const visit = async (directory: string): Promise<void> => {
    const entries = await backend.listDir(directory);
    if (entries.length === 0 && directory !== root) found[below(directory)] = "(empty)";
    for (const { path, type, target = "" } of entries)
      if (type === "dir") await visit(path);
      else found[below(path)] = type === "symlink" ? linkTo(target) : await backend.readText(path);
  };
  await visit(root);
  return found;
}

/** Creates files and their parent directories, as a tree describes them. */
export async function seedTree({ backend, root, at }: Context, files: Tree): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const cut = path.lastIndexOf("/");
    if (text === "(empty)") await backend.mkdir(at(path));
    else if (cut > 0) await backend.mkdir(at(path.slice(0, cut)));
    if (text.startsWith("-> ")) await backend.symlink(text.slice(3).replace(/^(?=\/)/u, root), at(path));
    else if (text !== "(empty)") await backend.writeText(at(path), text);
  }
}

/** Makes the context of a case. */
export function contextOf({ backend: given, root }: ContractSubject): Context {
  const backend = asFiles(given);
  const below = (path: string): string => (path === root ? "" : path.slice(childOf(root, "x").length - 1));
  return { given, backend, root, at: (path) => (path === "" ? root : childOf(root, path)), below };
}

/** Throws an error unless the object is frozen. */
export function assertFrozen(value: object, what: string): void {
  assertTrue(Object.isFrozen(value), `${what} must be frozen`);
}
