/**
 * The excludes of the person, which git applies in every repository: the file that
 * `core.excludesFile` names, else `$XDG_CONFIG_HOME/git/ignore` (`git help gitignore`).
 *
 * They are read once, when a workspace opens: the threads that walk may not reach them.
 */
import { parseGitConfig } from "../access/git-config.ts";
import type { FsBackend } from "../backends/backend.ts";
import { isWithin, joinPath, normalise, parentOf } from "../backends/paths.ts";

/** A larger file is no configuration and no list of patterns. Bytes. */
const MAX_FILE_BYTES = 1 << 20;
/** How deep configurations may include others. */
const MAX_INCLUDES = 10;
/** How many directories above a root are looked at for its repository. */
const MAX_ABOVE = 64;

/** Where git looks for the configuration of the person and of the machine. */
export interface GitHome {
  readonly home: string | undefined;
  /** Environment variables, as git reads them. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * The lines of the person's excludes; undefined where there are none.
 *
 * @param root where a root really is: the configuration of its repository counts last. A file that it
 * names counts only below the root, because whoever wrote the repository could else learn what is in
 * other files by what is hidden.
 */
export async function readGitExcludes(
  fs: FsBackend,
  root: string | undefined,
  { home, environment }: GitHome,
): Promise<string | undefined> {
  const configHome = environment["XDG_CONFIG_HOME"] || (home === undefined ? undefined : `${home}/.config`);
  const named = await namedByPerson(fs, home, configHome, environment);
  const ofRepository = root === undefined ? undefined : await namedByRepository(fs, root, home);
  const path = ofRepository ?? named ?? (configHome === undefined ? undefined : `${configHome}/git/ignore`);
  return path === undefined || path === "" ? undefined : textOf(fs, path);
}

/** What the configurations of machine and person name; the last one counts. */
async function namedByPerson(
  fs: FsBackend,
  home: string | undefined,
  configHome: string | undefined,
  environment: GitHome["environment"],
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
    if (config !== undefined && config !== "") named = (await namedBy(fs, config, home)) ?? named;
  }
  return named;
}

/** What the configuration of the repository of a root names, where that lies below the root. */
async function namedByRepository(
  fs: FsBackend,
  root: string,
  home: string | undefined,
): Promise<string | undefined> {
  let at = root;
  for (let level = 0; level < MAX_ABOVE; level++) {
    const text = await textOf(fs, joinPath(at, ".git/config"));
    if (text !== undefined) {
      const named = await namedBy(fs, joinPath(at, ".git/config"), home, at);
      return named !== undefined && isWithin(named, root) ? named : undefined;
    }
    if (at === "/") return undefined;
    at = parentOf(at);
  }
  return undefined;
}

/** The path that a configuration names in `core.excludesFile`, or one that it includes; "" for no file. */
async function namedBy(
  fs: FsBackend,
  config: string,
  home: string | undefined,
  base: string = parentOf(config),
  depth: number = 0,
): Promise<string | undefined> {
  let named: string | undefined;
  for (const { key, value } of parseGitConfig((await textOf(fs, config)) ?? "")) {
    if (key === "core.excludesfile") named = value === "" ? "" : pathOf(value, base, home);
    if (key === "include.path" && depth < MAX_INCLUDES) {
      const included = pathOf(value, parentOf(config), home);
      if (included !== undefined) named = (await namedBy(fs, included, home, base, depth + 1)) ?? named;
    }
  }
  return named;
}

function pathOf(value: string, base: string, home: string | undefined): string | undefined {
  if (value.startsWith("~/"))
    return home === undefined ? undefined : normalise(joinPath(home, value.slice(2))).path;
  return value.startsWith("~") ? undefined : normalise(joinPath(base, value)).path;
}

/** A small text file; undefined where there is none. */
async function textOf(fs: FsBackend, path: string): Promise<string | undefined> {
  try {
    const { size, isFile } = await fs.stat(path);
    if (!isFile || size > MAX_FILE_BYTES) return undefined;
    return new TextDecoder().decode(await fs.readBytes(path));
  } catch {
    return undefined;
  }
}
