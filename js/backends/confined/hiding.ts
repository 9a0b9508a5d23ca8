/**
 * A backend without some of its entries, decided path by path.
 *
 * For rules that deny globs cannot express, and for backends that change below it, such as an
 * overlay. Hidden entries are absent from every enumeration and refused by name. A hidden
 * directory is shown when an entry below it is visible: with that entry, and without the rest.
 * Searches run over `listDir` here, so that no count includes hidden entries.
 */
import { FilewrightError } from "../../engine/errors.ts";
import { inheritAbilities } from "../abilities.ts";
import type { FsBackend, FsEntry, ListOptions } from "../backend.ts";
import { otherNamesOf } from "../fallback/other-names.ts";
import { entryPathVia, lstatOrNull, realpathVia } from "../fallback/fallback.ts";
import { copyTreeVia, removeTreeVia, renameVia } from "../fallback/fallback-tree.ts";
import { globFiles, filesBelow, walkTree } from "../fallback/walk-tree.ts";
import { outside } from "./outside.ts";
import { childOf, normalise } from "../paths.ts";
import type { Intent } from "../policy.ts";
import type { RepositorySource } from "../walk/git-directory.ts";

/** Decides which entries are hidden. */
export interface HiddenPaths {
  /** Returns true when a path is hidden, by its absolute forms: as named, and with links resolved. */
  hides(forms: readonly string[]): boolean;
  /** Returns true when an entry below a hidden directory could be visible. */
  mayShowBelow(real: string): boolean;
}

/** Methods that take one path and follow its last link. */
const READS_FOLLOWING = ["stat", "readText", "readBytes", "read", "hash", "readLines"] as const;
/** Methods that take one path and address the entry itself. */
const READS_OF_ENTRY = ["lstat", "readLink"] as const;
const WRITES_FOLLOWING = ["writeText", "writeBytes", "mkdir", "chmod", "sweep"] as const;
const WRITES_OF_ENTRY = ["delete"] as const;
/** Methods that show nothing of an entry. */
const UNCHECKED = ["realpath", "lock", "grantSecrets", "gitExclude"] as const;

/** The abilities of a backend without hidden entries. */
const DECIDED = {
  // Only what a walk of the visible entries has found is read ahead.
  passes: ["readAhead", "paths", "maxAnswerBytes", "stage"],
  // Searches walk, because most of these would find hidden entries. A view is made for one call, in its stage.
  drops: [
    "contents",
    "ownCursors",
    "answersOnlyAllowed",
    "moments",
    "momentSearch",
    "refusesLinks",
    "enterStage",
  ],
  gives: {},
} as const;

/** Returns true for a file with another name that is hidden. */
async function hidesOtherName(
  inner: FsBackend,
  forms: readonly string[],
  hidden: HiddenPaths,
): Promise<boolean> {
  const names = await otherNamesOf(inner, forms.at(-1) as string);
  return names.some((name) => hidden.hides([name]));
}

/** Returns a backend without the hidden entries of `inner`. */
export function hidePaths(inner: FsBackend, hidden: HiddenPaths): FsBackend {
  const formsOf = async (path: string, entry: boolean): Promise<readonly string[]> => {
    const named = normalise(path).path;
    try {
      const real = await (entry ? entryPathVia : realpathVia)(inner, named);
      return real === named ? [named] : [named, real];
    } catch (error) {
      if (error instanceof FilewrightError) return [named]; // The operation itself reports the error.
      throw error;
    }
  };
  /** Returns the visible entries of a directory, with the path that the caller gave. */
  const list = async (path: string, options?: ListOptions): Promise<readonly FsEntry[]> => {
    const forms = await formsOf(path, false);
    const entries = await inner.listDir(path, options);
    const shown: FsEntry[] = [];
    for (const entry of entries) {
      const own = forms.map((form) => childOf(form, entry.name));
      if (!hidden.hides(own) || (entry.type === "dir" && (await holdsVisible(own)))) shown.push(entry);
    }
    return shown;
  };
  const holdsVisible = async (forms: readonly string[]): Promise<boolean> => {
    const real = forms.at(-1) as string;
    if (!hidden.mayShowBelow(real)) return false;
    try {
      return (await list(real, { facts: false })).length > 0;
    } catch (error) {
      if (error instanceof FilewrightError) return false;
      throw error;
    }
  };
  const isHidden = async (path: string, entry: boolean): Promise<boolean> => {
    const forms = await formsOf(path, entry);
    if (!hidden.hides(forms)) return !entry && (await hidesOtherName(inner, forms, hidden));
    const type = (await lstatOrNull(inner, forms.at(-1) as string).catch(() => null))?.type;
    return type !== "dir" || !(await holdsVisible(forms));
  };
  const check = async (path: string, intent: Intent, entry: boolean): Promise<void> => {
    if (intent === "write" ? hidden.hides(await formsOf(path, entry)) : await isHidden(path, entry))
      throw outside(path, intent);
  };
  /** Refuses an operation on a tree that contains a hidden entry, or would have one at its destination. */
  const checkTree = async (from: string, to: string): Promise<void> => {
    const [source, target] = [await entryPathVia(inner, from), await entryPathVia(inner, to)];
    if ((await lstatOrNull(inner, source))?.type !== "dir") return;
    for await (const { path } of walkTree(inner, source)) {
      if (hidden.hides([path])) throw outside(from, "write");
      if (hidden.hides([target + path.slice(source.length)])) throw outside(to, "write");
    }
  };

  const backend: Record<string, unknown> = {
    exists: async (path: string) => {
      try {
        return !(await isHidden(path, false)) && (await inner.exists(path));
      } catch (error) {
        if (error instanceof FilewrightError) return false;
        throw error;
      }
    },
    listDir: async (path: string, options?: ListOptions) => {
      await check(path, "read", false);
      return Object.freeze(await list(path, options));
    },
    async *iterFiles(root: string) {
      yield* filesBelow(visible, normalise(root).path);
    },
    glob: async (pattern: string, { root = "/" }: { readonly root?: string } = {}) =>
      globFiles(filesBelow(visible, normalise(root).path), normalise(root).path, pattern),
  };
  const offer = (names: readonly (keyof FsBackend)[], intent: Intent, entry: boolean): void => {
    for (const name of names) {
      const method = inner[name] as ((path: string, ...more: unknown[]) => unknown) | undefined;
      if (method === undefined) continue;
      backend[name] = async (path: string, ...more: unknown[]) => {
        await check(path, intent, entry);
        return method.call(inner, path, ...more);
      };
    }
  };
  offer(READS_FOLLOWING, "read", false);
  offer(READS_OF_ENTRY, "read", true);
  offer(WRITES_FOLLOWING, "write", false);
  offer(WRITES_OF_ENTRY, "write", true);
  for (const name of UNCHECKED) {
    const method = (inner as FsBackend & RepositorySource)[name] as (() => unknown) | undefined;
    if (method !== undefined) backend[name] = method.bind(inner);
  }
  const { symlink, copyFile, trusted } = inner;
  if (symlink !== undefined) {
    backend["symlink"] = async (target: string, path: string) => {
      await check(path, "write", true);
      return symlink.call(inner, target, path);
    };
  }
  if (trusted !== undefined) backend["trusted"] = () => hidePaths(trusted.call(inner), hidden);
  if (copyFile !== undefined) {
    backend["copyFile"] = async (from: string, to: string, options?: object) => {
      await check(from, "read", false);
      await check(to, "write", false);
      return copyFile.call(inner, from, to, options);
    };
  }
  backend["rename"] = async (from: string, to: string, options?: object) => {
    await check(from, "write", true);
    await check(to, "write", true);
    await checkTree(from, to);
    return renameVia(inner, from, to, options);
  };
  backend["removeTree"] = async (path: string, options?: object) => {
    await check(path, "write", true);
    await checkTree(path, path);
    return removeTreeVia(inner, path, options);
  };
  backend["copyTree"] = async (from: string, to: string, options?: object) => {
    await check(from, "read", true);
    await check(to, "write", true);
    await checkTree(from, to);
    return copyTreeVia(inner, from, to, options);
  };
  const visible = Object.freeze(backend) as unknown as FsBackend;
  inheritAbilities(visible, inner, DECIDED);
  return visible;
}
