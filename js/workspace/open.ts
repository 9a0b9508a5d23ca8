/**
 * Opening a workspace: options become a policy, a confined backend and a
 * session; the tools become methods.
 */
import { compileRules, createResolver, type Resolver, SandboxPolicy } from "../access/index.ts";
import { literalGlob } from "../access/policy.ts";
import { CAPABILITIES, type FsBackend } from "../backends/backend.ts";
import { IGNORE_FILES } from "../backends/search-walk.ts";
import { realpathVia } from "../backends/fallback.ts";
import { isWithin } from "../backends/paths.ts";
import { SandboxedBackend } from "../backends/sandboxed.ts";
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import { makeApprovals } from "../hooks/approvals.ts";
import { oneOf } from "../hooks/approvers.ts";
import { confirmersFor } from "../hooks/run.ts";
import { type Preset, presetOf } from "../presets/index.ts";
import type { PresetAccess } from "../presets/index.ts";
import { makeJournal, MemoryJournal } from "../journal/index.ts";
import { readersFor } from "../readers/index.ts";
import { DEFAULT_LIMITS, type Limits } from "../tools/limits.ts";
import { check } from "./check.ts";
import { recover } from "./history.ts";
import { localHost, lockerOf } from "./host.ts";
import type { AccessOptions, WorkspaceOptions } from "./options.ts";
import { openPermissions, type PermissionOptions } from "./permissions.ts";
import { makeReads, type ReadStore } from "./reads.ts";
import type { Session } from "./session.ts";
import { makeWorkspace, type Workspace } from "./workspace.ts";

/**
 * Opens a workspace: everything a model may do with files below the roots.
 *
 * @example
 * const ws = await openWorkspace("/repo");
 * const { text } = await ws.call("grep", { pattern: "TODO" });
 * await ws.close();
 *
 * @throws FilewrightError INVALID_ARGUMENT for options that make no sense, NOT_FOUND for a missing root
 */
export async function openWorkspace(options: string | WorkspaceOptions): Promise<Workspace> {
  const given: WorkspaceOptions = typeof options === "string" ? { root: options } : options;
  check(given);
  const preset = presetOf(given.preset);
  const disk =
    given.backend === undefined
      ? localHost().open({
          stateDir: given.stateDir,
          durability: given.durability ?? "atomic",
          preserve: given.preserve ?? "possible",
          kernel: given.kernel ?? "prefer",
          index: given.index ?? "auto",
        })
      : undefined;
  const local = disk !== undefined;
  const storage: FsBackend = disk ?? (given.backend as FsBackend);
  const { permissions, prompting, deny } = await openPermissions(
    asking(given, preset),
    given.stateDir,
    given.notify,
  );
  const named = policyOf(given, preset?.access, local, deny);
  const roots = (path: string): Promise<string> => rootPath(storage, path, local);
  const resolver = await createResolver(await sparingState(named, given, disk, roots), roots);
  const { policy } = resolver;
  const confined = disk?.confine?.(policy);
  const fs: FsBackend = confined ?? new SandboxedBackend(storage, policy);
  const facts = confined?.capabilities();
  const sandbox = {
    fs: facts?.kernel.files ?? "none",
    net: given.commands?.status.network ?? "none",
  } as const;
  const told = given.access?.deny ?? [];
  const observers = Object.freeze([...(given.observers ?? [])]);
  const session: Session = Object.freeze({
    fs,
    resolver,
    limits: limitsOf(given.limits, preset),
    durability: given.durability ?? "atomic",
    edit: Object.freeze({ match: given.edit?.match ?? "whitespace" }),
    reads: makeReads(readStoreOf(given, local)),
    agent: given.agent,
    guard: given.guard !== undefined && given.guard !== false,
    observers,
    hashes: observers.some(({ hashes }) => hashes === true),
    access: accessOf(resolver, told, sandbox),
    async confine(wanted: SandboxPolicy, within: SandboxPolicy) {
      // Links are followed before the two are compared: what a name means is what counts.
      const real = (path: string): Promise<string> => realpathVia(storage, path);
      const own = (await createResolver(wanted, real)).policy;
      const both = await createResolver(SandboxPolicy.intersect(within, own), real);
      const there = disk?.confine?.(both.policy) ?? new SandboxedBackend(storage, both.policy);
      return { fs: there, resolver: both, access: accessOf(both, [...told, ...wanted.deny], sandbox) };
    },
    permissions,
    prompting,
    budget: undefined,
    hooks: Object.freeze([...(given.hooks ?? [])]),
    onHookError: given.onHookError,
    rules: compileRules(given.rules ?? []),
    requireApproval: given.requireApproval === true,
    confirmFor: (tool: string) => oneOf(confirmersFor(given.hooks ?? [], tool, given.confirm)),
    notify: given.notify,
    approvals: makeApprovals(),
    locker: lockerOf(storage, local),
    findFiles: given.findFiles === true,
    commands: given.commands,
    journal: makeJournal({
      store: local ? localHost().journal(given.stateDir) : new MemoryJournal(),
      cwd: policy.cwd,
      keep: given.history ?? true,
      durable: given.durability === "durable",
    }),
    ignoreFiles: Object.freeze([...(given.ignoreFiles ?? IGNORE_FILES)]),
    readers: readersFor({ readers: given.readers }),
  });
  const recovery = await recover(session);
  return makeWorkspace(session, preset, {
    engine: engine().info,
    backend: Object.freeze(CAPABILITIES.filter((name) => storage[name] !== undefined)),
    confinement: storage.confine === undefined ? "checked" : "native",
    ...(facts === undefined ? {} : { resolver: facts }),
    recovery,
    sandbox: session.access.sandbox,
  });
}

/** `unreachable`: globs of what is out of bounds besides, and not told. */
function policyOf(
  options: WorkspaceOptions,
  preset: PresetAccess | undefined,
  local: boolean,
  unreachable: readonly string[],
): SandboxPolicy {
  const base = local ? localHost().cwd() : "/";
  const absolute = (path: string): string =>
    path.startsWith("/") ? path : `${base === "/" ? "" : base}/${path}`;
  const roots = (options.roots ?? (options.root === undefined ? [] : [options.root]))
    .map((root) => (typeof root === "string" ? { path: root } : root))
    .map((root) => ({ path: absolute(root.path), write: root.access !== "read" }));
  const access = accessIn(options, preset);
  const cwd = options.cwd === undefined ? roots[0]?.path : absolute(options.cwd);
  if (cwd === undefined)
    throw new FilewrightError("INVALID_ARGUMENT", "give a root: the directory to work in");
  return SandboxPolicy.allowList({
    cwd,
    read: access.read === undefined ? roots.map((root) => root.path) : access.read,
    write: access.write ?? roots.filter((root) => root.write).map((root) => root.path),
    deny: [...(access.deny ?? []), ...unreachable],
    protect: access.protect ?? true,
    secrets: access.secrets ?? "grant",
    readOnly: access.readOnly,
    followSymlinks: access.followSymlinks,
  });
}

/** The policy with our own state out of bounds, where that lies below a root: it can undo, and lock. */
async function sparingState(
  policy: SandboxPolicy,
  { stateDir }: WorkspaceOptions,
  disk: FsBackend | undefined,
  rootPath: (path: string) => Promise<string>,
): Promise<SandboxPolicy> {
  if (disk?.realpath === undefined) return policy;
  const state = await disk.realpath(localHost().stateDir(stateDir));
  for (const root of [...(policy.read ?? ["/"]), ...policy.write]) {
    if (!isWithin(state, await rootPath(root))) continue;
    return Object.freeze({ ...policy, deny: Object.freeze([...policy.deny, literalGlob(state)]) });
  }
  return policy;
}

/** The access options, completed by what the preset says where the host says nothing. @throws INVALID_ARGUMENT */
function accessIn(options: WorkspaceOptions, preset: PresetAccess | undefined): AccessOptions {
  const { root, roots, access = {} } = options;
  if (preset?.listed === true) wantListed(options);
  if (preset === undefined || roots !== undefined) return access;
  const [read, write] = [access.read ?? preset.read, access.write ?? preset.write];
  // The working directory stands for a root that only names it.
  return {
    ...access,
    ...(access.read === undefined && read !== undefined ? { read } : {}),
    ...(access.write === undefined && write !== undefined && root === undefined ? { write } : {}),
  };
}

/** @throws FilewrightError INVALID_ARGUMENT unless the roots are a list of absolute paths */
function wantListed({ root, roots = [], access = {} }: WorkspaceOptions): void {
  const named = [
    ...(root === undefined ? [] : [root]),
    ...roots.map((one) => (typeof one === "string" ? one : one.path)),
  ];
  const read = access.read === undefined ? named : access.read;
  const wrong =
    read === null || read.length === 0
      ? "needs a list of the directories that may be used"
      : [...named, ...read, ...(access.write ?? [])].some((entry) => !entry.startsWith("/"))
        ? "needs absolute paths for its directories"
        : undefined;
  if (wrong !== undefined) throw new FilewrightError("INVALID_ARGUMENT", `this preset ${wrong}`);
}

/** Where what was read is remembered: with a guard and a state directory it survives a restart. */
function readStoreOf({ guard, stateDir }: WorkspaceOptions, local: boolean): ReadStore | undefined {
  if (guard === undefined || guard === false) return undefined;
  if (guard !== true && guard.store !== undefined) return guard.store;
  return stateDir === undefined || !local ? undefined : localHost().reads?.(stateDir);
}

/** A preset whose directories are asked for asks unless the host says otherwise. */
function asking(
  { permissions }: WorkspaceOptions,
  preset: Preset | undefined,
): PermissionOptions | undefined {
  return preset?.access.prompt === true && permissions?.mode === undefined
    ? { ...permissions, mode: "prompt" }
    : permissions;
}

/** Where a root really is. A root in other storage than the disk is made where it is missing. */
async function rootPath(storage: FsBackend, path: string, local: boolean): Promise<string> {
  if (!local && !(await storage.exists(path))) await storage.mkdir(path, { parents: true, existOk: true });
  if (local && !(await storage.exists(path))) {
    throw new FilewrightError("NOT_FOUND", `the root '${path}' does not exist`, { path });
  }
  return storage.realpath === undefined ? path : await storage.realpath(path);
}

function limitsOf(given: Partial<Limits> | undefined, preset: Preset | undefined): Limits {
  const set = Object.entries(given ?? {}).filter(([, value]) => value !== undefined);
  return Object.freeze({ ...DEFAULT_LIMITS, ...preset?.limits, ...Object.fromEntries(set) });
}

function accessOf(
  { policy }: Resolver,
  deny: readonly string[],
  sandbox: Session["access"]["sandbox"],
): Session["access"] {
  return Object.freeze({
    cwd: policy.cwd,
    readRoots: policy.read,
    writeRoots: policy.write,
    deny: Object.freeze([...new Set(deny)]),
    readOnly: policy.readOnly,
    sandbox: Object.freeze(sandbox),
  });
}
