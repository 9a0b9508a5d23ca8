/** Decides what a workspace may reach: its policy, its rules, and the directories that are granted to it. */
import type { Files } from "../backends/files.ts";
import {
  createResolver,
  type Permissions,
  type Resolver,
  type Rules,
  type SandboxPolicy,
} from "../policy/index.ts";
import { isWithin, literalGlob, parentOf } from "../backends/paths.ts";
import type { StateDirectory } from "../backends/state-directory.ts";
import { pathForStorage } from "../backends/windows-paths.ts";
import { FilewrightError } from "../engine/errors.ts";
import { readGitExcludes } from "../pipeline/paths/git-excludes.ts";
import { makeRepositories, protectNamedPlaces, type Repositories } from "../pipeline/paths/repositories.ts";
import type { GrantPromptSettings } from "../pipeline/session.ts";
import type { Preset } from "../presets/index.ts";
import { statOrNull } from "../tools/lib/contents.ts";
import type { OpenedBackend } from "./backend.ts";
import type { CheckedOptions } from "./check.ts";
import type { PlacesOfCommands } from "./commands.ts";
import { isLocalDisk, requireLocalHost } from "./host.ts";
import { openPermissions, type PermissionOptions } from "./permissions.ts";
import { rulesWithin } from "./reach.ts";
import { policyOfRoots } from "./roots.ts";
import { linkedWorktrees } from "./worktrees.ts";

/** What a workspace may reach. */
export interface OpenedAccess {
  readonly resolver: Resolver;
  readonly permissions: Permissions | undefined;
  readonly prompting: GrantPromptSettings | undefined;
  readonly rules: Rules;
  /** Undefined when protected places are not refused. */
  readonly repositories: Repositories | undefined;
  readonly places: PlacesOfCommands;
}

/** Opens the access of a workspace. @throws FilewrightError INVALID_ARGUMENT, NOT_FOUND for a missing root */
export async function openAccess(opened: OpenedBackend, preset: Preset | undefined): Promise<OpenedAccess> {
  const { given, storage, local, state } = opened;
  const { permissions, prompting, deny } = await openPermissions(
    permissionOptionsOf(given, preset),
    given,
    storage,
  );
  const named = policyOfRoots(given, preset?.access, storage, local ? requireLocalHost().cwd() : "/", deny);
  const roots = (path: string): Promise<string> => realRootPath(storage, path, local);
  const whole = await withNamedPlaces(named, opened, roots);
  const stateDirs = await stateDirsOf(state, storage);
  const resolver = await createResolver(await denyStateDirs(whole, stateDirs, roots), roots);
  const { policy } = resolver;
  await assertDirectory(storage, policy.cwd, given.cwd ?? given.roots?.[0]?.path ?? policy.cwd);
  const reachesBeyond = permissions !== undefined || (given.commands ?? false) !== false;
  const home = local ? homeFor(storage) : undefined;
  return {
    resolver,
    permissions,
    prompting,
    rules: rulesWithin(given, policy, reachesBeyond),
    repositories: policy.protect ? makeRepositories(storage, policy.write, home) : undefined,
    places: await placesOfCommands(given, policy, storage, stateDirs),
  };
}

/**
 * Returns the permission options. A preset that asks for directories does so unless the host decides otherwise.
 */
function permissionOptionsOf(
  { permissions }: CheckedOptions,
  preset: Preset | undefined,
): PermissionOptions | undefined {
  return preset?.access.prompt === true && permissions?.mode === undefined
    ? { ...permissions, mode: "prompt" }
    : permissions;
}

/** Checks the working directory. @throws FilewrightError INVALID_ARGUMENT when it is a file */
async function assertDirectory(storage: Files, real: string, typed: string): Promise<void> {
  const stat = await statOrNull(storage, real);
  if (stat === null || stat.isDir) return;
  throw new FilewrightError(
    "INVALID_ARGUMENT",
    `the root '${typed}' is a file; name the directory it is in`,
    {
      path: typed,
    },
  );
}

/** Returns the real path of a root. A missing root is created, except on the local disk. */
async function realRootPath(storage: Files, path: string, local: boolean): Promise<string> {
  if (!local && !(await storage.exists(path))) await storage.mkdir(path, { parents: true, existOk: true });
  if (local && !(await storage.exists(path))) {
    throw new FilewrightError("NOT_FOUND", `the root '${path}' does not exist`, { path });
  }
  return storage.realpath(path);
}

/**
 * Returns the real paths of every state directory: that of the workspace, and those that are the default of any process
 * of the user, where tokens, keys, grants and sockets are. Empty where the files are not on this machine's disk.
 */
async function stateDirsOf(own: StateDirectory | undefined, storage: Files): Promise<readonly string[]> {
  if (!isLocalDisk(storage)) return [];
  const named = [...(own === undefined ? [] : [own.path]), ...requireLocalHost().defaultStateDirs()];
  const real = named.map((path) => realPathOf(storage, pathForStorage(storage, path)));
  return Object.freeze([...new Set(await Promise.all(real))]);
}

/** Returns the places that matter to commands: of linked worktrees only where commands run on this machine's disk. */
async function placesOfCommands(
  { commands }: CheckedOptions,
  policy: SandboxPolicy,
  storage: Files,
  stateDirs: readonly string[],
): Promise<PlacesOfCommands> {
  if (commands === undefined || !isLocalDisk(storage)) return { stateDirs, worktrees: [] };
  const home = homeFor(storage);
  const kept = [...stateDirs, ...(home === undefined ? [] : [await realPathOf(storage, home)])];
  const roots = [...(policy.read ?? []), ...policy.write];
  return { stateDirs, worktrees: await linkedWorktrees(storage, roots, kept) };
}

/** Returns the real path of an entry that may be missing: of the part that exists, with the other names after it. */
async function realPathOf(storage: Files, path: string): Promise<string> {
  for (let at = path; at !== parentOf(at); at = parentOf(at)) {
    try {
      const real = await storage.realpath(at);
      return `${real === "/" ? "" : real}${path.slice(at.length)}`;
    } catch {
      // This part is missing, too, or cannot be looked up.
    }
  }
  return path;
}

/** Returns the user's home directory in the form of the storage's paths. */
function homeFor(storage: Files): string | undefined {
  const home = requireLocalHost().home?.();
  return home === undefined ? undefined : pathForStorage(storage, home);
}

/** Returns the policy with the paths that the repositories of its roots name. */
async function withNamedPlaces(
  policy: SandboxPolicy,
  { storage, local }: Pick<OpenedBackend, "storage" | "local">,
  rootPath: (path: string) => Promise<string>,
): Promise<SandboxPolicy> {
  const roots: string[] = [];
  for (const root of new Set(policy.write)) roots.push(await rootPath(root));
  const home = local ? homeFor(storage) : undefined;
  const whole = await protectNamedPlaces(policy, storage, roots, home);
  if (!local) return whole;
  const environment = requireLocalHost().environment?.() ?? {};
  const gitExcludes = await readGitExcludes(storage, await rootPath(policy.cwd), { home, environment });
  return gitExcludes === undefined ? whole : Object.freeze({ ...whole, gitExcludes });
}

/**
 * Returns the policy with the state directories denied that are below a root, because their files control undo and
 * locks, and answer questions.
 */
async function denyStateDirs(
  policy: SandboxPolicy,
  stateDirs: readonly string[],
  rootPath: (path: string) => Promise<string>,
): Promise<SandboxPolicy> {
  const roots = await Promise.all([...(policy.read ?? ["/"]), ...policy.write].map(rootPath));
  const below = stateDirs.filter((directory) => roots.some((root) => isWithin(directory, root)));
  if (below.length === 0) return policy;
  return Object.freeze({ ...policy, deny: Object.freeze([...policy.deny, ...below.map(literalGlob)]) });
}
