/**
 * The paths that the configurations of git repositories name: the hooks of `core.hooksPath`, the
 * files of `include.path` and `includeIf`, the program of `core.fsmonitor`, the directory that a
 * `.git` file names, and the targets of links that replace these or git's own hooks and
 * configuration. Git runs or obeys the files there, so tools must not write them.
 *
 * Repositories that contain the roots are read once, when a workspace opens. A repository below a
 * root is read when a path in it is written.
 */
import type { Files } from "../../backends/files.ts";
import { parseGitConfig } from "../../policy/git-config.ts";
import type { SandboxPolicy } from "../../policy/index.ts";
import { pathPlace } from "../../backends/confined/places.ts";
import type { FsEntry, FsStat } from "../../backends/backend.ts";
import { isWithin, joinPath, nameOf, normalise, parentOf } from "../../backends/paths.ts";

/** The maximum size of one file that is read, in bytes. */
const MAX_CONFIG_BYTES = 1 << 20;
/**
 * The maximum number of configuration files read for one repository, because others write its includes and
 * submodules.
 */
const MAX_CONFIG_FILES = 128;
/** The maximum number of directories searched for submodules. */
const MAX_MODULE_DIRECTORIES = 256;
/** The maximum number of directories in the name of a submodule. */
const MAX_MODULE_DEPTH = 4;
/** The maximum number of hooks that are checked for links. */
const MAX_CHECKED_HOOKS = 128;
/** The maximum number of directories searched above a root. */
const MAX_PARENT_DIRECTORIES = 64;

/** The state of reading one repository. */
interface RepositoryReading {
  readonly fs: Files;
  readonly home: string | undefined;
  readonly places: Set<string>;
  readonly read: Set<string>;
}

/** The paths that the configuration of a repository names, and the configuration files that were read. */
interface NamedPaths {
  readonly places: readonly string[];
  readonly configs: readonly string[];
}

const NO_NAMED_PATHS: NamedPaths = { places: [], configs: [] };

/**
 * Returns the absolute paths, real or not yet existing, that the nearest repository at or above a directory
 * names.
 */
async function placesNamedByNearestRepository(
  fs: Files,
  directory: string,
  home: string | undefined,
): Promise<readonly string[]> {
  let at = directory;
  for (let level = 0; level < MAX_PARENT_DIRECTORIES; level++) {
    const found = await placesNamedByRepository(fs, at, home);
    if (found !== undefined) return found.places;
    if (at === "/") break;
    at = parentOf(at);
  }
  return [];
}

/** Returns the user's configuration files, which apply to every repository. */
function userConfigFiles(home: string | undefined): readonly string[] {
  return home === undefined ? [] : [`${home}/.gitconfig`, `${home}/.config/git/config`];
}

/** Returns the paths named by the repository whose `.git` is in a directory; undefined without a repository. */
async function placesNamedByRepository(
  fs: Files,
  worktree: string,
  home: string | undefined,
): Promise<NamedPaths | undefined> {
  const entry = joinPath(worktree, ".git");
  const stat = await statOrUndefined(fs, entry);
  if (stat === undefined) return undefined;
  const reading: RepositoryReading = { fs, home, places: new Set(), read: new Set() };
  let gitDirectory = entry;
  if (!stat.isDir) {
    const target = /^gitdir:[ \t]*(.+?)\s*$/s.exec((await readSmallText(fs, entry)) ?? "")?.[1];
    if (target === undefined) return NO_NAMED_PATHS;
    gitDirectory = resolveAgainst(worktree, target);
    reading.places.add(gitDirectory);
  }
  const common = (await readSmallText(fs, joinPath(gitDirectory, "commondir")))?.trim();
  const shared = common === undefined || common === "" ? gitDirectory : resolveAgainst(gitDirectory, common);
  // A directory named `.git` is already protected by its name.
  if (nameOf(shared) !== ".git") reading.places.add(shared);
  for (const config of userConfigFiles(home)) await readGitConfig(reading, config, worktree);
  await readGitConfig(reading, joinPath(shared, "config"), worktree);
  await readGitConfig(reading, joinPath(gitDirectory, "config.worktree"), worktree);
  await readSubmoduleConfigs(reading, joinPath(shared, "modules"));
  const links = await linkTargetsOfGitFiles(reading, entry, shared);
  return { places: [...reading.places, ...links], configs: [...reading.read] };
}

/** Returns the targets of links that replace hooks, a configuration, or a path that one names. */
async function linkTargetsOfGitFiles(
  { fs, places, read }: RepositoryReading,
  entry: string,
  gitDirectory: string,
): Promise<readonly string[]> {
  const hooks = [...places, joinPath(gitDirectory, "hooks")];
  const files = await Promise.all(hooks.map((directory) => entriesOrEmpty(fs, directory)));
  const linked = files.flatMap((entries) => entries.filter(({ type }) => type === "symlink"));
  const named = new Set([
    entry,
    ...hooks,
    ...read,
    ...linked.slice(0, MAX_CHECKED_HOOKS).map(({ path }) => path),
  ]);
  const real = await Promise.all([...named].map((path) => fs.realpath(path).catch(() => path)));
  return real.filter((path) => !named.has(path) && !places.has(path));
}

/** Reads the configurations of submodules. */
async function readSubmoduleConfigs(reading: RepositoryReading, top: string): Promise<void> {
  const todo = [{ directory: top, depth: 0 }];
  for (let done = 0; done < MAX_MODULE_DIRECTORIES; done++) {
    const next = todo.shift();
    if (next === undefined) return;
    const entries = await entriesOrEmpty(reading.fs, next.directory);
    if (entries.some(({ name }) => name === "HEAD")) {
      await readSubmoduleConfig(reading, next.directory);
      todo.push({ directory: joinPath(next.directory, "modules"), depth: next.depth + 1 });
      continue;
    }
    if (next.depth === MAX_MODULE_DEPTH) continue;
    for (const entry of entries) {
      if (entry.type === "dir") todo.push({ directory: entry.path, depth: next.depth + 1 });
    }
  }
}

/** Reads the configuration of one submodule. */
async function readSubmoduleConfig(reading: RepositoryReading, directory: string): Promise<void> {
  const config = joinPath(directory, "config");
  const variables = parseGitConfig((await readSmallText(reading.fs, config)) ?? "");
  const worktree = variables.findLast(({ key }) => key === "core.worktree")?.value;
  if (worktree !== undefined) await readGitConfig(reading, config, resolveAgainst(directory, worktree));
}

/** Adds the paths that a configuration names, and reads the configurations that it includes. */
async function readGitConfig(reading: RepositoryReading, path: string, worktree: string): Promise<void> {
  if (reading.read.has(path) || reading.read.size >= MAX_CONFIG_FILES) return;
  reading.read.add(path);
  for (const variable of parseGitConfig((await readSmallText(reading.fs, path)) ?? "")) {
    const isIncluded = variable.key === "include.path" || /^includeif\..*\.path$/s.test(variable.key);
    if (variable.value === "" || (!isIncluded && !namesPlace(variable))) continue;
    const named = namedPlaceOf(reading, isIncluded ? parentOf(path) : worktree, variable.value);
    if (named === undefined) continue;
    reading.places.add(named);
    if (isIncluded) await readGitConfig(reading, named, worktree);
  }
}

/** Returns true for a variable whose value is the path of a place or a program. */
function namesPlace({ key, value }: ReturnType<typeof parseGitConfig>[number]): boolean {
  return key === "core.hookspath" || (key === "core.fsmonitor" && !isGitBoolean(value));
}

function isGitBoolean(value: string): boolean {
  return /^(?:true|false|yes|no|on|off|0|1)$/i.test(value);
}

/** Returns the absolute path of a value; undefined when it needs an unknown home directory. */
function namedPlaceOf({ home }: RepositoryReading, base: string, value: string): string | undefined {
  if (!value.startsWith("~")) return resolveAgainst(base, value);
  return home !== undefined && value.startsWith("~/") ? resolveAgainst(home, value.slice(2)) : undefined;
}

function resolveAgainst(base: string, path: string): string {
  return normalise(joinPath(base, path)).path;
}

async function statOrUndefined(fs: Files, path: string): Promise<FsStat | undefined> {
  try {
    return await fs.stat(path);
  } catch {
    return undefined;
  }
}

async function entriesOrEmpty(fs: Files, directory: string): Promise<readonly FsEntry[]> {
  try {
    return await fs.listDir(directory);
  } catch {
    return [];
  }
}

/** Returns the content of a small text file of git; undefined when there is none. */
export async function readSmallText(fs: Files, path: string): Promise<string | undefined> {
  try {
    const { size, isFile } = await fs.stat(path);
    if (!isFile || size > MAX_CONFIG_BYTES) return undefined;
    return new TextDecoder().decode(await fs.readBytes(path));
  } catch {
    return undefined;
  }
}

/**
 * Returns the policy with the paths that the repositories of its roots name protected. `roots` are
 * the real paths; `home` is the home directory of the user, whose git configuration applies to every
 * repository.
 */
export async function protectNamedPlaces(
  policy: SandboxPolicy,
  fs: Files,
  roots: readonly string[],
  home: string | undefined,
): Promise<SandboxPolicy> {
  if (!policy.protect) return policy;
  const named = new Set<string>();
  for (const root of roots) {
    for (const place of await placesNamedByNearestRepository(fs, root, home)) {
      if (roots.some((one) => place !== one && isWithin(place, one))) named.add(pathPlace(place));
    }
  }
  if (named.size === 0) return policy;
  return Object.freeze({ ...policy, places: Object.freeze([...(policy.places ?? []), ...named]) });
}

/** The repositories below the roots, read when a path in them is written. */
export interface Repositories {
  /**
   * Returns the paths named by the repositories between a root and a real path. `looked` keeps the
   * results of the directories for further paths of the same call.
   */
  placesFor(real: string, looked?: Map<string, Promise<readonly string[]>>): Promise<readonly string[]>;
  /** Returns the paths named by the repository whose `.git` is in a directory; empty without a repository. */
  placesOf(directory: string): Promise<readonly string[]>;
  /** Returns the repositories of the same files through another object, such as that of a stage. */
  on(fs: Files): Repositories;
}

/** The maximum number of directories whose result is cached. */
const MAX_CACHED_DIRECTORIES = 4096;

/**
 * Finds repositories between the roots and written paths. Each write looks for `.git` in every
 * directory, because a repository can be created at any time; its configuration is read again only
 * after a change. `home` is the home directory of the user, whose git configuration applies to every
 * repository.
 */
export function makeRepositories(
  fs: Files,
  roots: readonly string[],
  home: string | undefined,
): Repositories {
  return repositoriesOn(fs, { roots, home, known: new Map() });
}

/** The facts about the repositories, however the storage is accessed. */
interface KnownRepositories {
  readonly roots: readonly string[];
  readonly home: string | undefined;
  readonly known: Map<string, { readonly stamp: string; readonly named: NamedPaths }>;
}

function repositoriesOn(fs: Files, shared: KnownRepositories): Repositories {
  const { roots, home, known } = shared;
  const stampOf = async (entry: FsStat, configs: readonly string[]): Promise<string> => {
    const stats = await Promise.all(configs.map((path) => statOrUndefined(fs, path)));
    return [entry, ...stats].map((stat) => `${stat?.version} ${stat?.size} ${stat?.mtime}`).join();
  };
  const placesOf = async (directory: string): Promise<readonly string[]> => {
    const entry = await statOrUndefined(fs, joinPath(directory, ".git"));
    if (entry === undefined) return [];
    const before = known.get(directory);
    if (before !== undefined && before.stamp === (await stampOf(entry, before.named.configs)))
      return before.named.places;
    const named = (await placesNamedByRepository(fs, directory, home)) ?? NO_NAMED_PATHS;
    if (known.size >= MAX_CACHED_DIRECTORIES) known.clear();
    known.set(directory, { stamp: await stampOf(entry, named.configs), named });
    return named.places;
  };
  return {
    placesOf,
    on: (other) => repositoriesOn(other, shared),
    async placesFor(real, looked = new Map()) {
      const root = roots.find((one) => isWithin(real, one));
      if (root === undefined) return [];
      const above: string[] = [];
      for (let at = parentOf(real); at !== root && isWithin(at, root); at = parentOf(at)) above.push(at);
      const places = above.map((directory) => {
        const found = looked.get(directory) ?? placesOf(directory);
        looked.set(directory, found);
        return found;
      });
      return (await Promise.all(places)).flat();
    },
  };
}
