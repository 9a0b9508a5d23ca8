/**
 * Reads the user's excludes, which git applies in every repository: the file of
 * `core.excludesFile`, or `$XDG_CONFIG_HOME/git/ignore` (`git help gitignore`).
 *
 * They are read once, when a workspace opens, because the threads that walk may have no access to them.
 */
import type { Files } from "../../backends/files.ts";
import { parseGitConfig } from "../../policy/git-config.ts";
import { isWithin, joinPath, normalise, parentOf } from "../../backends/paths.ts";
import { readSmallText } from "./repositories.ts";
import { namedRepository } from "../../backends/walk/git-directory.ts";

/** The maximum depth of included configurations. Deeper ones are not read. */
const MAX_INCLUDE_DEPTH = 10;
/** The maximum number of directories above a root that are searched for its repository. */
const MAX_PARENT_DIRECTORIES = 64;

/** The locations of the git configurations of the user and the machine. */
export interface GitConfigLocations {
  readonly home: string | undefined;
  /** The environment variables that git reads. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Returns the lines of the user's excludes; undefined without any.
 *
 * @param root the real path of a root. The configuration of its repository has the highest precedence.
 * A file that it names is used only below the root: otherwise the author of the repository could
 * learn the content of other files from the names that are hidden.
 */
export async function readGitExcludes(
  fs: Files,
  root: string | undefined,
  { home, environment }: GitConfigLocations,
): Promise<string | undefined> {
  const configHome = environment["XDG_CONFIG_HOME"] || (home === undefined ? undefined : `${home}/.config`);
  const named = await excludesNamedByUser(fs, home, configHome, environment);
  const ofRepository = root === undefined ? undefined : await excludesNamedByRepository(fs, root, home);
  const path = ofRepository ?? named ?? (configHome === undefined ? undefined : `${configHome}/git/ignore`);
  return path === undefined || path === "" ? undefined : readSmallText(fs, path);
}

/** Returns the path that the configurations of the machine and the user name; the last one applies. */
async function excludesNamedByUser(
  fs: Files,
  home: string | undefined,
  configHome: string | undefined,
  environment: GitConfigLocations["environment"],
): Promise<string | undefined> {
  const own = environment["GIT_CONFIG_GLOBAL"];
  const configs = [
    environment["GIT_CONFIG_NOSYSTEM"] ? undefined : (environment["GIT_CONFIG_SYSTEM"] ?? "/etc/gitconfig"),
    ...(own === undefined
      ? [
          configHome === undefined ? undefined : `${configHome}/git/config`,
          home === undefined ? undefined : `${home}/.gitconfig`,
        ]
      : [own]),
  ];
  let named: string | undefined;
  for (const config of configs) {
    if (config !== undefined && config !== "")
      named = (await excludesFilesNamedBy(fs, config, { home })) ?? named;
  }
  return named;
}

/** Returns the path that the configuration of a root's repository names, when it is below the root. */
async function excludesNamedByRepository(
  fs: Files,
  root: string,
  home: string | undefined,
): Promise<string | undefined> {
  let at = root;
  for (let level = 0; level < MAX_PARENT_DIRECTORIES; level++) {
    const config = joinPath((await namedRepository(fs, at, root)) ?? joinPath(at, ".git"), "config");
    if ((await readSmallText(fs, config)) !== undefined) {
      const named = await excludesFilesNamedBy(fs, config, { home, base: at });
      return named !== undefined && isWithin(named, root) ? named : undefined;
    }
    if (at === "/") return undefined;
    at = parentOf(at);
  }
  return undefined;
}

/** What the paths of a configuration are relative to. */
interface ExcludesPlace {
  readonly home: string | undefined;
  /** Default: the directory of the configuration. */
  readonly base?: string;
  /** The number of configurations that include this one. */
  readonly depth?: number;
}

/** Returns the `core.excludesFile` of a configuration and those that it includes; "" for no file. */
async function excludesFilesNamedBy(
  fs: Files,
  config: string,
  { home, base = parentOf(config), depth = 0 }: ExcludesPlace,
): Promise<string | undefined> {
  let named: string | undefined;
  for (const { key, value } of parseGitConfig((await readSmallText(fs, config)) ?? "")) {
    if (key === "core.excludesfile") named = value === "" ? "" : resolveExcludesPath(value, base, home);
    if (key === "include.path" && depth < MAX_INCLUDE_DEPTH) {
      const included = resolveExcludesPath(value, parentOf(config), home);
      if (included !== undefined)
        named = (await excludesFilesNamedBy(fs, included, { home, base, depth: depth + 1 })) ?? named;
    }
  }
  return named;
}

function resolveExcludesPath(value: string, base: string, home: string | undefined): string | undefined {
  if (value.startsWith("~/"))
    return home === undefined ? undefined : normalise(joinPath(home, value.slice(2))).path;
  return value.startsWith("~") ? undefined : normalise(joinPath(base, value)).path;
}
