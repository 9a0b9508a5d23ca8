/**
 * A backend without some of its entries, decided path by path.
 *
 * For rules that deny globs cannot express, and for backends that change below it, such as an
 * overlay. Hidden entries are absent from every enumeration and refused by name. A hidden
 * directory is shown when an entry below it is visible: with that entry, and without the rest.
 * Searches run over `listDir` here, so that no count includes hidden entries.
 */
import { FilewrightError } from "../../engine/errors.ts";
import { type Able, inheritShortcuts } from "../abilities.ts";
import type { FsEntry, ListOptions } from "../backend.ts";
import { CompleteFiles, derived } from "../complete.ts";
import { entryPath, lstatOrNull, otherNamesOf } from "../fallback/fallback.ts";
import { walkTree } from "../fallback/walk-tree.ts";
import type { FileAbilities, Files } from "../files.ts";
import { outside } from "./outside.ts";
import { childOf, normalise } from "../paths.ts";
import type { Intent } from "../policy.ts";

/** Decides which entries are hidden. */
export interface HiddenPaths {
  /** Returns true when a path is hidden, by its absolute forms: as named, and with links resolved. */
  hides(forms: readonly string[]): boolean;
  /** Returns true when an entry below a hidden directory could be visible. */
  mayShowBelow(real: string): boolean;
}

/** The methods that take one path, by how they use it, and whether they follow its last link. */
const METHODS = [
  { intent: "read", entry: false, names: ["stat", "readText", "readBytes", "read", "hash", "readLines"] },
  { intent: "read", entry: true, names: ["lstat", "readLink"] },
  { intent: "write", entry: false, names: ["writeText", "writeBytes", "mkdir", "chmod", "sweep"] },
  { intent: "write", entry: true, names: ["delete"] },
] as const satisfies readonly Checked[];

/** Methods that are checked in the same way. */
interface Checked {
  readonly intent: Intent;
  readonly entry: boolean;
  readonly names: readonly (keyof Files)[];
}

/** Methods that show nothing of an entry. */
const UNCHECKED = ["realpath", "lock", "grantSecrets", "gitExclude"] as const;

/** Walks the visible entries. The methods that take one path are added by {@link hidePaths}. */
const Walked = CompleteFiles as abstract new (abilities: FileAbilities) => Files & Able;

type AnyMethod = (...args: never[]) => unknown;

/** Returns files without the hidden entries of `inner`. */
export function hidePaths(inner: Files, hidden: HiddenPaths): Files {
  const visible = new VisibleFiles(inner, hidden);
  inheritShortcuts(visible, inner, {
    // Only what a walk of the visible entries has found is read ahead.
    passes: ["readAhead", "paths", "maxAnswerBytes", "stage"],
    // Searches walk, because most of these would find hidden entries. A view is made for one call, in its stage.
    drops: [
      "contents",
      "ownCursors",
      "searchUnder",
      "searchCode",
      "moments",
      "refusesLinks",
      "enterStage",
      "checkNames",
      "confine",
      "recordedList",
      "keeper",
    ],
    gives: {},
  });
  return visible;
}

class VisibleFiles extends Walked {
  readonly #inner: Files;
  readonly #hidden: HiddenPaths;

  constructor(inner: Files, hidden: HiddenPaths) {
    // The name of an entry that is set aside could be hidden itself.
    super({ ...inner.abilities, moves: true, asides: false });
    this.#inner = inner;
    this.#hidden = hidden;
    const methods: Partial<Record<keyof Files, AnyMethod>> = {};
    for (const { intent, entry, names } of METHODS)
      for (const name of names)
        methods[name] = async (path: string, ...more: never[]) => {
          await this.#check(path, intent, entry);
          return (inner[name] as (path: string, ...more: never[]) => unknown)(path, ...more);
        };
    for (const name of UNCHECKED) methods[name] = (inner[name] as AnyMethod).bind(inner);
    Object.assign(this, methods);
  }

  override async exists(path: string): Promise<boolean> {
    try {
      return !(await this.#isHidden(path, false)) && (await this.#inner.exists(path));
    } catch (error) {
      if (error instanceof FilewrightError) return false;
      throw error;
    }
  }
  override async listDir(path: string, options?: ListOptions): Promise<readonly FsEntry[]> {
    await this.#check(path, "read", false);
    return Object.freeze(await this.#list(path, options));
  }
  override async symlink(target: string, path: string): Promise<void> {
    await this.#check(path, "write", true);
    return this.#inner.symlink(target, path);
  }
  override async copyFile(
    ...[from, to, options]: Parameters<Files["copyFile"]>
  ): ReturnType<Files["copyFile"]> {
    await this.#check(from, "read", false);
    await this.#check(to, "write", false);
    return this.#inner.copyFile(from, to, options);
  }
  override async rename(...[from, to, options]: Parameters<Files["rename"]>): ReturnType<Files["rename"]> {
    await this.#check(from, "write", true);
    await this.#check(to, "write", true);
    await this.#checkTree(from, to);
    const { moveEntry } = await derived();
    return moveEntry(this.#inner, from, to, options);
  }
  override async removeTree(
    ...[path, options]: Parameters<Files["removeTree"]>
  ): ReturnType<Files["removeTree"]> {
    await this.#check(path, "write", true);
    await this.#checkTree(path, path);
    return this.#inner.removeTree(path, options);
  }
  override async copyTree(
    ...[from, to, options]: Parameters<Files["copyTree"]>
  ): ReturnType<Files["copyTree"]> {
    await this.#check(from, "read", true);
    await this.#check(to, "write", true);
    await this.#checkTree(from, to);
    return this.#inner.copyTree(from, to, options);
  }
  override trusted(): Files {
    return hidePaths(this.#inner.trusted(), this.#hidden);
  }

  /** Returns the absolute forms of a path: as named, and with links resolved. */
  async #formsOf(path: string, entry: boolean): Promise<readonly string[]> {
    const named = normalise(path).path;
    try {
      const real = await (entry ? entryPath(this.#inner, named) : this.#inner.realpath(named));
      return real === named ? [named] : [named, real];
    } catch (error) {
      if (error instanceof FilewrightError) return [named]; // The operation itself reports the error.
      throw error;
    }
  }

  /** Returns the visible entries of a directory, with the path that the caller gave. */
  async #list(path: string, options?: ListOptions): Promise<readonly FsEntry[]> {
    const forms = await this.#formsOf(path, false);
    const entries = await this.#inner.listDir(path, options);
    const shown: FsEntry[] = [];
    for (const entry of entries) {
      const own = forms.map((form) => childOf(form, entry.name));
      if (!this.#hidden.hides(own) || (entry.type === "dir" && (await this.#holdsVisible(own))))
        shown.push(entry);
    }
    return shown;
  }

  async #holdsVisible(forms: readonly string[]): Promise<boolean> {
    const real = forms.at(-1) as string;
    if (!this.#hidden.mayShowBelow(real)) return false;
    try {
      return (await this.#list(real, { facts: false })).length > 0;
    } catch (error) {
      if (error instanceof FilewrightError) return false;
      throw error;
    }
  }

  async #isHidden(path: string, entry: boolean): Promise<boolean> {
    const forms = await this.#formsOf(path, entry);
    const real = forms.at(-1) as string;
    if (!this.#hidden.hides(forms)) return !entry && (await this.#hidesOtherName(real));
    const type = (await lstatOrNull(this.#inner, real).catch(() => null))?.type;
    return type !== "dir" || !(await this.#holdsVisible(forms));
  }

  /** Returns true for a file with another name that is hidden. */
  async #hidesOtherName(real: string): Promise<boolean> {
    const names = await otherNamesOf(this.#inner, real);
    return names.some((name) => this.#hidden.hides([name]));
  }

  async #check(path: string, intent: Intent, entry: boolean): Promise<void> {
    const isRefused =
      intent === "write"
        ? this.#hidden.hides(await this.#formsOf(path, entry))
        : await this.#isHidden(path, entry);
    if (isRefused) throw outside(path, intent);
  }

  /** Refuses an operation on a tree that contains a hidden entry, or would have one at its destination. */
  async #checkTree(from: string, to: string): Promise<void> {
    const [source, target] = [await entryPath(this.#inner, from), await entryPath(this.#inner, to)];
    if ((await lstatOrNull(this.#inner, source))?.type !== "dir") return;
    for await (const { path } of walkTree(this.#inner, source)) {
      if (this.#hidden.hides([path])) throw outside(from, "write");
      if (this.#hidden.hides([target + path.slice(source.length)])) throw outside(to, "write");
    }
  }
}
