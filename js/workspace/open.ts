/**
 * Opens a workspace: options become a policy, a confined backend and the shared state of calls;
 * tools become methods.
 */
import { createResolver, type Resolver, type SandboxPolicy } from "../policy/index.ts";
import type { FsBackend } from "../backends/backend.ts";
import { usedCapabilities } from "../backends/confined/used.ts";
import { outputBoundOf } from "../backends/policy.ts";
import { IGNORE_FILES } from "../backends/walk/ignore-files.ts";
import { isWithin, literalGlob, parentOf } from "../backends/paths.ts";
import type { StateDirectory } from "../backends/state-directory.ts";
import { pathForStorage } from "../backends/windows-paths.ts";
import type { SandboxProvider } from "../backends/sandbox/sandbox.ts";
import { SandboxedBackend } from "../backends/confined/sandboxed.ts";
import { engine } from "../engine/current.ts";
import { debug } from "../engine/debug.ts";
import { FilewrightError } from "../engine/errors.ts";
import { makeApprovals } from "../hooks/approvals.ts";
import { oneOf } from "../hooks/approvers.ts";
import { notifySafely } from "../hooks/events.ts";
import { approversFor } from "../hooks/run.ts";
import { type Preset, presetOf } from "../presets/index.ts";
import type { GuardLevel } from "../presets/index.ts";
import {
  type JournalOptions,
  type JournalStore,
  makeJournal,
  MemoryJournal,
  type Recovery,
} from "../journal/index.ts";
import { readersFor } from "../readers/index.ts";
import { DEFAULT_LIMITS, type Limits } from "../tools/lib/limits.ts";
import { assertNoSecondArgument, boundHooksOf, type CheckedOptions, checkOptions } from "./check.ts";
import { statOrNull } from "../tools/lib/contents.ts";
import { commandSandboxOf, type PlacesOfCommands } from "./commands.ts";
import { readGitExcludes } from "../pipeline/paths/git-excludes.ts";
import { recoverSession } from "../pipeline/past/history.ts";
import { makeConfine } from "./confine.ts";
import { isForking } from "./forks/files.ts";
import { confinementOf, isLocalDisk, requireLocalHost, lockerOfBackend } from "./host.ts";
import type { WorkspaceOptions } from "./options.ts";
import { openPermissions, type PermissionOptions } from "./permissions.ts";
import { rulesWithin } from "./reach.ts";
import { policyOfRoots } from "./roots.ts";
import { makeReads } from "../pipeline/past/reads.ts";
import { makeRepositories, protectNamedPlaces } from "../pipeline/paths/repositories.ts";
import { RunningCalls } from "../pipeline/scheduling/running.ts";
import type { Session } from "../pipeline/session.ts";
import { CallSlots } from "../pipeline/scheduling/admission.ts";
import { makeMoments } from "../pipeline/moments.ts";
import { makeViews, type Views } from "../pipeline/views.ts";
import { sharedStoresOf } from "./shared/stores.ts";
import type { Storage } from "../storage/storage.ts";
import { openSearches, openStorage, stagesOf } from "./storage.ts";
import { nextWorkspaceNumber } from "./number.ts";
import type { Capabilities, Workspace } from "./types.ts";
import { makeWorkspace } from "./workspace.ts";
import { linkedWorktrees } from "./worktrees.ts";

/**
 * Opens a workspace: everything a model may do with files below the roots.
 *
 * @example
 * const ws = await openWorkspace({ root: "/repo", guard: "refuse" });
 * const { text } = await ws.call("grep", { pattern: "TODO" });
 * await ws.close();
 *
 * @throws FilewrightError INVALID_ARGUMENT for invalid options, NOT_FOUND for a missing root
 */
export function openWorkspace(options: WorkspaceOptions): Promise<Workspace>;
/**
 * Opens a workspace on one directory: a path, or a `file:` URL. Every option has its default.
 *
 * @example
 * const ws = await openWorkspace("/repo");
 *
 * @throws FilewrightError INVALID_ARGUMENT for a value that names no directory, NOT_FOUND for a missing one
 */
// `Root` keeps the members of URL out of the completion of half-typed options: for a call that fits no overload, an
// editor offers the members of all of them, but those of the first where one is generic.
export function openWorkspace<Root extends string | URL>(root: Root): Promise<Workspace>;
/** Opens a workspace on a directory or with options. The compiler takes its messages from here. */
export function openWorkspace(options: string | URL | WorkspaceOptions): Promise<Workspace>;
// A second argument is no part of the type: it exists so that a call from JavaScript that has one is refused.
export async function openWorkspace(
  options: string | URL | WorkspaceOptions,
  ...others: readonly unknown[]
): Promise<Workspace> {
  assertNoSecondArgument(others[0]);
  const checked = checkOptions(options);
  const shared = checked.storage === undefined ? undefined : await openStorage(checked.storage);
  const given = shared === undefined ? checked : { ...checked, backend: shared.backend };
  const [preset, hooks] = [presetOf(given.preset), boundHooksOf(given)];
  const disk =
    given.backend === undefined
      ? requireLocalHost().open({
          stateDir: given.stateDir,
          durability: given.durability ?? "atomic",
          preserve: given.preserve ?? "possible",
          kernel: given.kernel ?? "prefer",
          engine: given.engine ?? "auto",
          index: given.index ?? "auto",
        })
      : undefined;
  const local = disk !== undefined;
  const state = stateDirectoryOf(given, local);
  const storage: FsBackend = disk ?? (given.backend as FsBackend);
  const { permissions, prompting, deny } = await openPermissions(
    permissionOptionsOf(given, preset),
    given.stateDir,
    given.notify,
    storage,
  );
  const named = policyOfRoots(given, preset?.access, storage, local ? requireLocalHost().cwd() : "/", deny);
  const roots = (path: string): Promise<string> => realRootPath(storage, path, local);
  const repositories = await repositoriesOf(named, storage, local, roots);
  const stateDirs = await stateDirsOf(state, storage);
  const resolver = await createResolver(await denyStateDirs(repositories, stateDirs, roots), roots);
  const { policy } = resolver;
  await assertDirectory(storage, policy.cwd, given.cwd ?? given.roots?.[0]?.path ?? policy.cwd);
  const guard = guardLevelOf(given.guard, preset);
  const { stores, reads, places } = sharedStoresOf(given, policy, { guard, local, state });
  const reachesBeyond = permissions !== undefined || (given.commands ?? false) !== false;
  const rules = rulesWithin(given, policy, reachesBeyond);
  const commandsFor = commandSandboxOf(given, await placesOfCommands(given, policy, storage, stateDirs));
  const commands = commandsFor(policy, rules);
  // The backends that this workspace created and closes; the host closes its own storage.
  const made = new Set<FsBackend>(disk === undefined ? [] : [disk]);
  const confined = disk?.confine?.(policy);
  const fs: FsBackend = confined ?? new SandboxedBackend(storage, policy);
  made.add(fs);
  const confine = (within: SandboxPolicy): FsBackend =>
    disk?.confine?.(within) ?? new SandboxedBackend(storage, within);
  const views = makeViews(fs, (globs) => confine({ ...policy, deny: [...policy.deny, ...globs] }));
  const searches = shared === undefined ? undefined : await openSearches(given, shared);
  const momentsFor = (within: SandboxPolicy, its: Views): Session["enterMoment"] =>
    searches && makeMoments(searches, within, its);
  const facts = confined?.capabilities();
  const sandbox = (provider: SandboxProvider | undefined): Session["access"]["sandbox"] => ({
    fs: facts?.kernel.files ?? "none",
    net: provider?.status.network ?? "none",
    ...(provider === undefined ? {} : { commands: provider.status }),
  });
  const running = { engine: engine().info, confinement: confinementOf(storage), state };
  const { endUse, ...records } = journalPlaceOf(given, state, policy);
  const ownJournal = makeJournal({
    ...records,
    cwd: policy.cwd,
    keep: given.history ?? true,
    durable: given.durability === "durable",
  });
  const keepsOwn = given.journal !== undefined || given.history === false;
  const isMine = resolver.mayWrite;
  const stages =
    shared === undefined
      ? undefined
      : stagesOf(checked.storage as Storage, shared.backend, { journal: ownJournal, isMine, keepsOwn });
  const told = given.access?.deny ?? [];
  const observers = Object.freeze([...(given.observers ?? [])]);
  const session: Session = Object.freeze({
    workspace: nextWorkspaceNumber(),
    tenant: given.tenant,
    running: new RunningCalls(),
    async release() {
      await views.close();
      for (const backend of made) await backend.close?.();
      made.clear();
      await Promise.all([searches?.release(), endUse()]);
    },
    fs,
    resolver,
    repositories: policy.protect
      ? makeRepositories(storage, policy.write, local ? homeFor(storage) : undefined)
      : undefined,
    limits: effectiveLimitsOf(given.limits, preset, outputBoundOf(storage)),
    durability: given.durability ?? "atomic",
    edit: Object.freeze({ match: given.edit?.match ?? "whitespace" }),
    reads: makeReads(reads),
    agent: given.agent,
    key: "",
    stores,
    guard,
    acceptsQuotes: given.guard === undefined && guard === "refuse",
    observers,
    hashes: observers.some(({ hashes }) => hashes === true),
    access: accessSummaryOf(resolver, told, sandbox(commands), running),
    confine: makeConfine({
      files: storage,
      made,
      rules,
      commandsFor,
      confine,
      momentsFor,
      summarize: (both, wanted, ran) =>
        accessSummaryOf(both, [...told, ...wanted.deny], sandbox(ran), running),
    }),
    permissions,
    prompting,
    budget: undefined,
    hooks,
    onHookError: given.onHookError,
    rules,
    views,
    enterMoment: momentsFor(policy, views),
    requireApproval: given.requireApproval === true,
    reviewsAfter: given.review === "after",
    confirmFor: (tool: string, calledAs?: string) =>
      oneOf(approversFor(hooks, tool, given.confirm, calledAs)),
    notify: given.notify,
    approvals: makeApprovals(() => Date.now(), { store: stores.approvals, kept: stores.kept, bases: policy }),
    locker: lockerOfBackend(storage, local),
    findFiles: given.findFiles === true,
    slots: new CallSlots(given.concurrency ?? Number.POSITIVE_INFINITY),
    commands,
    commandsFor,
    stages,
    stage: undefined,
    journal: ownJournal,
    ignoreFiles: Object.freeze([...(given.ignoreFiles ?? IGNORE_FILES)]),
    readers: readersFor({ readers: given.readers }),
    storage: isForking(given.storage) ? given.storage : undefined,
    forkDepth: 0,
  });
  const recovery = await recoverSession(session);
  const journal =
    given.journal !== undefined
      ? "host"
      : shared?.facts.history === true && !keepsOwn
        ? "storage"
        : records.store instanceof MemoryJournal
          ? "memory"
          : "disk";
  notifyRecovery(given, recovery, journal);
  return makeWorkspace(session, preset, {
    engine: running.engine,
    backend: usedCapabilities(storage),
    confinement: running.confinement,
    ...(facts === undefined ? {} : { resolver: facts }),
    ...(shared === undefined ? {} : { storage: shared.facts }),
    recovery,
    journal,
    shared: places,
    ...(state === undefined ? {} : { state }),
    sandbox: session.access.sandbox,
  });
}

/**
 * Returns the place of the journal. The paths of a `LocalBackend` identify its files on the disk, and so
 * its journal. The paths of another backend identify nothing without a name for the storage. `endUse` is called when the
 * workspace is closed.
 */
function journalPlaceOf(
  { backend, backendId, journal, history }: WorkspaceOptions,
  state: StateDirectory | undefined,
  { cwd, write, readOnly }: SandboxPolicy,
): Pick<JournalOptions, "store" | "storage"> & { readonly endUse: () => void } {
  const endUse = (): void => undefined;
  if (journal === undefined && state === undefined) return { store: new MemoryJournal(), endUse };
  const shared =
    journal === undefined ? requireLocalHost().journal((state as StateDirectory).path) : undefined;
  const place = { store: shared ?? (journal as JournalStore), endUse: shared?.use() ?? endUse };
  const isDisk = backend === undefined || isLocalDisk(backend);
  const others = write.filter((root) => root !== cwd);
  if (isDisk && history !== false && !readOnly && write.includes(cwd) && others.length > 0)
    shared?.share([cwd, ...others]);
  return isDisk ? place : { ...place, storage: `backend ${backendId}` };
}

/**
 * Returns the state directory; undefined for a workspace that keeps nothing on the disk.
 * @throws FilewrightError when the host named one that cannot be written
 */
function stateDirectoryOf(
  { backend, backendId, stateDir, journal }: WorkspaceOptions,
  local: boolean,
): StateDirectory | undefined {
  // A journal of the host needs no place on the disk.
  const isNamed = backendId !== undefined && journal === undefined;
  const isKept = local || (isLocalDisk(backend as FsBackend) ? stateDir !== undefined : isNamed);
  return isKept ? requireLocalHost().stateDir(stateDir) : undefined;
}

/**
 * Notifies the host of recovered changes, and of a journal in memory, with which the end of the process
 * leaves a change half made.
 */
function notifyRecovery(
  { notify, stateDir, storage }: WorkspaceOptions,
  recovery: Recovery,
  journal: Capabilities["journal"],
): void {
  const { rolledBack, ignored, damaged, conflicts } = recovery;
  debug.recovery?.(
    `journal ${journal}: ${rolledBack} rolled back, ${ignored} ignored, ${damaged} damaged, ${conflicts.length} conflicts`,
  );
  if (rolledBack + ignored + damaged + conflicts.length > 0)
    notifySafely(notify, { type: "recovered", recovery });
  if (journal === "memory" && stateDir !== undefined && storage === undefined) {
    notifySafely(notify, {
      type: "journal_in_memory",
      message: "the journal of this storage is in memory: give a backendId to keep it in stateDir",
    });
  }
}

/**
 * Returns the real paths of every state directory: that of the workspace, and those that are the default of any process
 * of the user, where tokens, keys, grants and sockets are. Empty where the files are not on this machine's disk.
 */
async function stateDirsOf(own: StateDirectory | undefined, storage: FsBackend): Promise<readonly string[]> {
  if (!isLocalDisk(storage)) return [];
  const named = [...(own === undefined ? [] : [own.path]), ...requireLocalHost().defaultStateDirs()];
  const real = named.map((path) => realPathOf(storage, pathForStorage(storage, path)));
  return Object.freeze([...new Set(await Promise.all(real))]);
}

/** Returns the places that matter to commands: of linked worktrees only where commands run on this machine's disk. */
async function placesOfCommands(
  { commands }: WorkspaceOptions,
  policy: SandboxPolicy,
  storage: FsBackend,
  stateDirs: readonly string[],
): Promise<PlacesOfCommands> {
  if (commands === undefined || !isLocalDisk(storage)) return { stateDirs, worktrees: [] };
  const home = homeFor(storage);
  const kept = [...stateDirs, ...(home === undefined ? [] : [await realPathOf(storage, home)])];
  const roots = [...(policy.read ?? []), ...policy.write];
  return { stateDirs, worktrees: await linkedWorktrees(storage, roots, kept) };
}

/** Returns the real path of an entry that may be missing: of the part that exists, with the other names after it. */
async function realPathOf(storage: FsBackend, path: string): Promise<string> {
  for (let at = path; at !== parentOf(at); at = parentOf(at)) {
    try {
      const real = (await storage.realpath?.(at)) ?? at;
      return `${real === "/" ? "" : real}${path.slice(at.length)}`;
    } catch {
      // This part is missing, too, or cannot be looked up.
    }
  }
  return path;
}

/** Returns the user's home directory in the form of the storage's paths. */
function homeFor(storage: FsBackend): string | undefined {
  const home = requireLocalHost().home?.();
  return home === undefined ? undefined : pathForStorage(storage, home);
}

/** Returns the policy with the paths that the repositories of its roots name. */
async function repositoriesOf(
  policy: SandboxPolicy,
  storage: FsBackend,
  local: boolean,
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

/** Returns the guard level of the host, or that of the preset. */
function guardLevelOf(given: WorkspaceOptions["guard"], preset: Preset | undefined): GuardLevel {
  if (given === undefined) return preset?.guard ?? "warn";
  if (typeof given === "boolean") return given ? "refuse" : "off";
  return typeof given === "object" ? (given.level ?? "refuse") : given;
}

/** Checks the working directory. @throws FilewrightError INVALID_ARGUMENT when it is a file */
async function assertDirectory(storage: FsBackend, real: string, typed: string): Promise<void> {
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

/** Returns the real path of a root. A missing root is created, except on the local disk. */
async function realRootPath(storage: FsBackend, path: string, local: boolean): Promise<string> {
  if (!local && !(await storage.exists(path))) await storage.mkdir(path, { parents: true, existOk: true });
  if (local && !(await storage.exists(path))) {
    throw new FilewrightError("NOT_FOUND", `the root '${path}' does not exist`, { path });
  }
  return storage.realpath === undefined ? path : await storage.realpath(path);
}

const UNSET_IMAGE_LIMITS: Pick<Limits, "imageBase64Bytes" | "imagePixels"> = {
  imageBase64Bytes: Number.MAX_SAFE_INTEGER,
  imagePixels: Number.MAX_SAFE_INTEGER,
};

function effectiveLimitsOf(
  given: Partial<Limits> | undefined,
  preset: Preset | undefined,
  bound: number | undefined,
): Limits {
  const set = Object.entries(given ?? {}).filter(([, value]) => value !== undefined);
  // A host that sets a size for images knows what its model accepts, so no other limit of images applies.
  const ofImages = given?.imageBytes === undefined ? {} : UNSET_IMAGE_LIMITS;
  const limits = { ...DEFAULT_LIMITS, ...preset?.limits, ...ofImages, ...Object.fromEntries(set) };
  // An option of the workspace cannot exceed the bound of the storage's own policy.
  return Object.freeze(
    bound === undefined ? limits : { ...limits, outputBytes: Math.min(limits.outputBytes, bound) },
  );
}

function accessSummaryOf(
  { policy }: Resolver,
  deny: readonly string[],
  sandbox: Session["access"]["sandbox"],
  { state, ...running }: Pick<Session["access"], "engine" | "confinement" | "state">,
): Session["access"] {
  return Object.freeze({
    cwd: policy.cwd,
    readRoots: policy.read,
    writeRoots: policy.write,
    deny: Object.freeze([...new Set(deny)]),
    readOnly: policy.readOnly,
    ...running,
    sandbox: Object.freeze(sandbox),
    ...(policy.paths === undefined ? {} : { paths: policy.paths }),
    ...(state === undefined ? {} : { state }),
  });
}
