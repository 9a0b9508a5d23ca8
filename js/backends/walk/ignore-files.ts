/** Reads the ignore files that apply to a walk: those of its directories, and those of the directories above it. */
import type { Files } from "../files.ts";
import { engine } from "../../engine/current.ts";
import { IGNORE_FILE_NAME_WORDS, IGNORE_LIMITS } from "../../engine/generated/records.ts";
import type { IgnoreFile } from "../../engine/search.ts";
import type { FsEntry } from "../backend.ts";
import { childOf, isWithin, parentOf } from "../paths.ts";
import { excludeOfNamedRepository, type RepositorySource } from "./git-directory.ts";
import { rulesInside } from "./walk.ts";
import type { DirectoriesAbove, IgnoreFiles } from "./walk-memo.ts";

/** The names of ignore files, lowest precedence first. */
export const IGNORE_FILES: readonly string[] = Object.freeze([...IGNORE_FILE_NAME_WORDS]);

/** The part of a backend that ignore files are read through. */
export type IgnoreSource = RepositorySource & Pick<Files, "listDir">;

/** Returns a backend as a source of ignore files whose directories and files are read in another way. */
export function ignoreSourceOf(
  fs: Files & RepositorySource,
  { listDir, readBytes }: Pick<Files, "listDir" | "readBytes">,
): IgnoreSource {
  return {
    listDir,
    readBytes,
    stat: (path) => fs.stat(path),
    lstat: (path) => fs.lstat(path),
    realpath: (path) => fs.realpath(path),
    gitExclude: async (directory) => fs.gitExclude(directory),
  };
}

/**
 * Reads the ignore files of a directory with these entries. `visit` is called with each directory elsewhere whose change
 * would change the result, before it is read.
 */
export async function readIgnoreFiles(
  backend: IgnoreSource,
  entries: readonly Pick<FsEntry, "name" | "path" | "type">[],
  names: readonly string[],
  visit: (directory: string) => void = () => undefined,
): Promise<IgnoreFiles> {
  const files: IgnoreFile[] = [];
  const add = (content: Uint8Array | undefined, place: number): void => {
    if (content !== undefined && content.length <= IGNORE_LIMITS.maxFileBytes) files.push({ place, content });
  };
  const read = async (path: string): Promise<Uint8Array | undefined> => {
    try {
      return await backend.readBytes(path);
    } catch {
      return undefined; // An ignore file that cannot be read hides nothing.
    }
  };
  let border = false;
  for (const { name, path, type } of entries) {
    if (name === ".git") {
      border = true;
      if (type === "dir") add(await read(`${path}/info/exclude`), IGNORE_LIMITS.gitExcludePlace);
      else if (type === "file")
        add(await excludeOfNamedRepository(backend, parentOf(path), visit), IGNORE_LIMITS.gitExcludePlace);
    } else if (type === "file") {
      const place = names.indexOf(name);
      if (place >= 0) add(await read(path), place);
    }
  }
  return { files, border };
}

/**
 * Returns the rules of the directories above the start, and the path of the start for these rules. `top` is the
 * directory from which on ignore files apply, by default the top of the repository. `visit` is called with each
 * directory whose change would change the result, before it is read.
 */
export async function rulesAbove(
  backend: IgnoreSource,
  root: string,
  names: readonly string[],
  top: string | undefined,
  visit: (directory: string) => void = () => undefined,
): Promise<DirectoriesAbove> {
  const none = { rules: engine().ignoreRules(), prefix: "" };
  const above: { readonly path: string; readonly entries: readonly FsEntry[] }[] = [];
  for (let at = root; at !== "/" && (top === undefined || at !== top); ) {
    at = parentOf(at);
    if (top !== undefined && !isWithin(at, top)) break;
    visit(at);
    visit(childOf(at, ".git/info"));
    try {
      above.push({ path: at, entries: await backend.listDir(at) });
    } catch {
      break;
    }
  }
  if (top === undefined && above.at(-1)?.path === "/") {
    // The walked directory belongs to a whole file system: ignore files above its repository do not apply, and none
    // above it apply without a repository.
    const repository = above.findIndex(({ entries }) => entries.some(({ name }) => name === ".git"));
    above.length = repository + 1;
  }
  const base = above.at(-1)?.path;
  if (base === undefined) return none;
  const relative = (path: string) => (path === base ? "" : path.slice(base === "/" ? 1 : base.length + 1));
  const prefix = `${relative(root)}/`;
  let { rules } = none;
  for (const { path, entries } of above.reverse()) {
    // An ignored directory was named explicitly, so its entries are included.
    if (path !== base && rules.ignored(relative(path), true)) return { rules: none.rules, prefix };
    rules = rulesInside(rules, await readIgnoreFiles(backend, entries, names, visit), relative(path));
  }
  if (rules.ignored(relative(root), true)) return { rules: none.rules, prefix };
  return { rules, prefix };
}
