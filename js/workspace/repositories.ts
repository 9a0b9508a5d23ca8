/**
 * The places that the configurations of git repositories name: where `core.hooksPath` looks for hooks, files that
 * `include.path` and `includeIf` read, the program of `core.fsmonitor`, the directory that a `.git` file points to,
 * and where links in place of these, or of git's own hooks and configuration, lead.
 * Git runs or obeys what is there, so tools do not write it. Read once when a workspace opens, for the repositories
 * that hold its roots; for repositories below a root when a path in one is written.
 */
import { parseGitConfig } from "../access/git-config.ts";
import type { SandboxPolicy } from "../access/index.ts";
import { pathPlace } from "../backends/places.ts";
import type { FsBackend, FsEntry, FsStat } from "../backends/backend.ts";
import { realpathVia } from "../backends/fallback.ts";
import { isWithin, joinPath, nameOf, normalise, parentOf } from "../backends/paths.ts";

/** How much of one file is read. Bytes. */
const MAX_CONFIG_BYTES = 1 << 20;
/** How many configuration files are read of one repository: includes and submodules are others' to write. */
const MAX_CONFIGS = 128;
/** How many directories of submodules are looked into. */
const MAX_MODULE_DIRECTORIES = 256;
/** How deep a submodule's name goes. */
const MAX_MODULE_DEPTH = 4;
/** How many hooks are looked at. */
const MAX_HOOKS = 128;
/** How many directories above a root are looked at. */
const MAX_ABOVE = 64;

/** Reading for one repository. */
interface Reading {
  readonly fs: FsBackend;
  readonly home: string | undefined;
  readonly places: Set<string>;
  readonly read: Set<string>;
}

/** What a repository names, and the files that say so. */
interface Named {
  readonly places: readonly string[];
  readonly configs: readonly string[];
}

const NOTHING: Named = { places: [], configs: [] };

/** The absolute paths, real or not there yet, that the repository at or above a directory names. */
async function placesAbove(
  fs: FsBackend,
  directory: string,
  home: string | undefined,
): Promise<readonly string[]> {
  let at = directory;
  for (let level = 0; level < MAX_ABOVE; level++) {
    const found = await namedByRepository(fs, at, home);
    if (found !== undefined) return found.places;
    if (at === "/") break;
    at = parentOf(at);
  }
  return [];
}

/** The configurations of the user, which hold for every repository. */
function userConfigs(home: string | undefined): readonly string[] {
  return home === undefined ? [] : [`${home}/.gitconfig`, `${home}/.config/git/config`];
}

/** What the repository with its `.git` in a directory names; undefined where there is none. */
async function namedByRepository(
  fs: FsBackend,
  worktree: string,
  home: string | undefined,
): Promise<Named | undefined> {
  const entry = joinPath(worktree, ".git");
  const stat = await statOf(fs, entry);
  if (stat === undefined) return undefined;
  const reading: Reading = { fs, home, places: new Set(), read: new Set() };
  let gitDirectory = entry;
  if (!stat.isDir) {
    const target = /^gitdir:[ \t]*(.+?)\s*$/s.exec((await textOf(fs, entry)) ?? "")?.[1];
    if (target === undefined) return NOTHING;
    gitDirectory = absolute(worktree, target);
    reading.places.add(gitDirectory);
  }
  const common = (await textOf(fs, joinPath(gitDirectory, "commondir")))?.trim();
  const shared = common === undefined || common === "" ? gitDirectory : absolute(gitDirectory, common);
  // What lies in a directory of git's own name is protected by that name.
  if (nameOf(shared) !== ".git") reading.places.add(shared);
  for (const config of userConfigs(home)) await readConfig(reading, config, worktree);
  await readConfig(reading, joinPath(shared, "config"), worktree);
  await readConfig(reading, joinPath(gitDirectory, "config.worktree"), worktree);
  await readModules(reading, joinPath(shared, "modules"));
  const links = await linksOf(reading, entry, shared);
  return { places: [...reading.places, ...links], configs: [...reading.read] };
}

/** Where links lead that stand for hooks, for a configuration or for a place that one names. */
async function linksOf(
  { fs, places, read }: Reading,
  entry: string,
  gitDirectory: string,
): Promise<readonly string[]> {
  const hooks = [...places, joinPath(gitDirectory, "hooks")];
  const files = await Promise.all(hooks.map((directory) => entriesOf(fs, directory)));
  const linked = files.flatMap((entries) => entries.filter(({ type }) => type === "symlink"));
  const named = new Set([entry, ...hooks, ...read, ...linked.slice(0, MAX_HOOKS).map(({ path }) => path)]);
  const real = await Promise.all([...named].map((path) => realpathVia(fs, path).catch(() => path)));
  return real.filter((path) => !named.has(path) && !places.has(path));
}

/** Reads the configurations of submodules. */
async function readModules(reading: Reading, top: string): Promise<void> {
  const todo = [{ directory: top, depth: 0 }];
  for (let done = 0; done < MAX_MODULE_DIRECTORIES; done++) {
    const next = todo.shift();
    if (next === undefined) return;
    const entries = await entriesOf(reading.fs, next.directory);
    if (entries.some(({ name }) => name === "HEAD")) {
      const config = joinPath(next.directory, "config");
      const variables = parseGitConfig((await textOf(reading.fs, config)) ?? "");
      const worktree = variables.findLast(({ key }) => key === "core.worktree")?.value;
      if (worktree !== undefined) await readConfig(reading, config, absolute(next.directory, worktree));
      todo.push({ directory: joinPath(next.directory, "modules"), depth: next.depth + 1 });
      continue;
    }
    if (next.depth === MAX_MODULE_DEPTH) continue;
    for (const entry of entries) {
      if (entry.type === "dir") todo.push({ directory: entry.path, depth: next.depth + 1 });
    }
  }
}

/** Takes in what a configuration names, and the configurations that it includes. */
async function readConfig(reading: Reading, path: string, worktree: string): Promise<void> {
  if (reading.read.has(path) || reading.read.size >= MAX_CONFIGS) return;
  reading.read.add(path);
  for (const { key, value } of parseGitConfig((await textOf(reading.fs, path)) ?? "")) {
    if (value === "") continue;
    if (key === "core.hookspath" || (key === "core.fsmonitor" && !isBoolean(value))) {
      const named = placeOf(reading, worktree, value);
      if (named !== undefined) reading.places.add(named);
    } else if (key === "include.path" || /^includeif\..*\.path$/s.test(key)) {
      const included = placeOf(reading, parentOf(path), value);
      if (included === undefined) continue;
      reading.places.add(included);
      await readConfig(reading, included, worktree);
    }
  }
}

function isBoolean(value: string): boolean {
  return /^(?:true|false|yes|no|on|off|0|1)$/i.test(value);
}

/** The path that a value names; undefined where it names a home that is not known. */
function placeOf({ home }: Reading, base: string, value: string): string | undefined {
  if (!value.startsWith("~")) return absolute(base, value);
  return home !== undefined && value.startsWith("~/") ? absolute(home, value.slice(2)) : undefined;
}

function absolute(base: string, path: string): string {
  return normalise(joinPath(base, path)).path;
}

async function statOf(fs: FsBackend, path: string): Promise<FsStat | undefined> {
  try {
    return await fs.stat(path);
  } catch {
    return undefined;
  }
}

async function entriesOf(fs: FsBackend, directory: string): Promise<readonly FsEntry[]> {
  try {
    return await fs.listDir(directory);
  } catch {
    return [];
  }
}

/** A small text file; undefined where there is none. */
async function textOf(fs: FsBackend, path: string): Promise<string | undefined> {
  try {
    const { size, isFile } = await fs.stat(path);
    if (!isFile || size > MAX_CONFIG_BYTES) return undefined;
    return new TextDecoder().decode(await fs.readBytes(path));
  } catch {
    return undefined;
  }
}

/**
 * A policy that also protects what the repositories of its roots name. `roots`: where they really are; `home`: the
 * user's, whose git configuration holds for every repository.
 */
export async function withRepositories(
  policy: SandboxPolicy,
  fs: FsBackend,
  roots: readonly string[],
  home: string | undefined,
): Promise<SandboxPolicy> {
  if (!policy.protect) return policy;
  const named = new Set<string>();
  for (const root of roots) {
    for (const place of await placesAbove(fs, root, home)) {
      if (roots.some((one) => place !== one && isWithin(place, one))) named.add(pathPlace(place));
    }
  }
  if (named.size === 0) return policy;
  return Object.freeze({ ...policy, places: Object.freeze([...(policy.places ?? []), ...named]) });
}

/** The repositories below the roots, looked at when a path in them is written. */
export interface Repositories {
  /** The places that repositories name between a root and a real path, which may lie in them. */
  placesFor(real: string): Promise<readonly string[]>;
  /** The places that the repository with its `.git` in a directory names; none where there is none. */
  placesOf(directory: string): Promise<readonly string[]>;
}

/** How many directories are remembered. */
const MAX_REMEMBERED = 4096;

/**
 * Looks for repositories between the roots and the paths that are written. A directory's `.git` is asked for by
 * each write, since a repository can be made at any time; its configuration is read when it has changed. `home`: the
 * user's, whose git configuration holds for every repository.
 */
export function makeRepositories(
  fs: FsBackend,
  roots: readonly string[],
  home: string | undefined,
): Repositories {
  const known = new Map<string, { readonly stamp: string; readonly named: Named }>();
  const stampOf = async (entry: FsStat, configs: readonly string[]): Promise<string> => {
    const stats = await Promise.all(configs.map((path) => statOf(fs, path)));
    return [entry, ...stats].map((stat) => `${stat?.version} ${stat?.size} ${stat?.mtime}`).join();
  };
  const placesOf = async (directory: string): Promise<readonly string[]> => {
    const entry = await statOf(fs, joinPath(directory, ".git"));
    if (entry === undefined) return [];
    const before = known.get(directory);
    if (before !== undefined && before.stamp === (await stampOf(entry, before.named.configs)))
      return before.named.places;
    const named = (await namedByRepository(fs, directory, home)) ?? NOTHING;
    if (known.size >= MAX_REMEMBERED) known.clear();
    known.set(directory, { stamp: await stampOf(entry, named.configs), named });
    return named.places;
  };
  return {
    placesOf,
    async placesFor(real) {
      const root = roots.find((one) => isWithin(real, one));
      if (root === undefined) return [];
      const above: string[] = [];
      for (let at = parentOf(real); at !== root && isWithin(at, root); at = parentOf(at)) above.push(at);
      return (await Promise.all(above.map(placesOf))).flat();
    },
  };
}
