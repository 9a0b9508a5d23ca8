/** The locks of the paths of a call: in this process, and between processes where the storage or the disk has them. */
import type { Files } from "../backends/files.ts";
import type { LockHandle } from "../backends/backend.ts";
import { entryPath } from "../backends/fallback/fallback.ts";
import { debug } from "../engine/debug.ts";
import { FilewrightError } from "../engine/errors.ts";
import { sortYielding, Yielder } from "../engine/yielder.ts";
import type { Location } from "../policy/index.ts";
import type { Call, PathUse, Tool } from "../tools/lib/tool.ts";
import type { Session } from "./session.ts";
import { nameCallPaths } from "./staged.ts";
import { checkWrittenPlaces, type WrittenPath } from "./written-places.ts";

/** The number of locks that are released before the event loop can run. */
const LOCKS_PER_YIELD_CHECK = 64;

/** The locks that a call took before it read anything. */
export interface EarlyLocks {
  readonly locks: HeldLocks;
  /** Returns true when they are the locks of these places. */
  areFor(keys: readonly WrittenPath[]): boolean;
}

/**
 * Locks the paths that a call names before it reads them, because another replica changes one of them as well. The
 * storage returns the present state with the locks, and the commit of the call releases them, so that no conflict
 * makes it plan again. Call it only where `mayLockEarly` returns true. Returns undefined for a path that cannot be
 * resolved.
 */
export async function lockContendedPaths(
  session: Session,
  tool: Pick<Tool, "name" | "kind" | "paths" | "traits">,
  args: object,
  signal: AbortSignal,
): Promise<EarlyLocks | undefined> {
  const uses = tool.paths(args as never);
  let locations: readonly Location[];
  try {
    locations = uses.map(({ typed, intent }) => session.files.resolver.resolve(typed, intent));
  } catch (error) {
    // The call itself reports it.
    if (error instanceof FilewrightError) return undefined;
    throw error;
  }
  const keys = await lockKeysOf(session, uses, { fs: undefined, locations });
  nameCallPaths(session, { tool, args, uses, locations });
  const locks = await acquireLocks(session, keys, { fs: session.files.fs, signal }, true);
  return { locks, areFor: (others) => isSameKeys(keys, others) };
}

/** Returns true when a call may lock its paths early, and one of those that it names is contended. */
export function mayLockEarly(
  session: Session,
  tool: Pick<Tool, "name" | "kind" | "paths" | "traits">,
  args: object,
): boolean {
  const { stage } = session.staging;
  if (stage === undefined || tool.kind !== "change" || !stage.mayHaveToLock) return false;
  const waits = session.hooks.bound.length > 0 || session.gates.permissions !== undefined;
  if (waits || session.gates.confirmFor(tool.name) !== undefined) return false;
  const written = tool.paths(args as never).filter(({ intent }) => intent === "write");
  try {
    return stage.mustLock(written.map(({ typed }) => session.files.resolver.resolve(typed, "write").path));
  } catch (error) {
    if (error instanceof FilewrightError) return false;
    throw error;
  }
}

function isSameKeys(some: readonly WrittenPath[], others: readonly WrittenPath[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ path, tree, write }, index) => {
      const other = others[index] as WrittenPath;
      return path === other.path && tree === other.tree && write === other.write;
    })
  );
}

/**
 * Locks every path of the call, in this process and between processes. Returns the release function,
 * which must be awaited where many paths are locked. A call with a stage is optimistic: the conditions of its commit
 * find what another process has changed.
 */
export async function lockPathsOfCall(
  session: Session,
  uses: readonly PathUse[],
  call: Pick<Call, "fs" | "locations" | "signal">,
): Promise<() => Promise<void>> {
  const keys = await lockKeysOf(session, uses, call);
  await checkWrittenPlaces(session, keys, call);
  return (await acquireLocks(session, keys, call, session.staging.stage !== undefined)).release;
}

/**
 * Returns the places of the paths of a call in the order in which they are locked: their real paths on a storage, or the
 * paths themselves without one.
 */
export async function lockKeysOf(
  { files: { resolver } }: Pick<Session, "files">,
  uses: readonly PathUse[],
  { fs, locations }: { readonly fs: Files | undefined; readonly locations: readonly Location[] },
): Promise<readonly WrittenPath[]> {
  const byPath = new Map<string, WrittenPath>();
  const yielder = new Yielder({});
  for (const [index, use] of uses.entries()) {
    await yielder.yieldIfDue();
    const { path } = locations[index] as Location;
    // A tool that transfers a tree names its source first.
    const from = use.argument === "destination" && uses.length === 2 ? [...byPath.keys()][0] : undefined;
    for (const real of await writtenPlacesOf(use, path, fs)) {
      addKey(byPath, { path: real, of: path, from }, use, resolver);
    }
  }
  return sortYielding([...byPath.values()], (a, b) => (a.path < b.path ? -1 : 1), yielder);
}

/** Adds the key of a place, and those of directories that a call may complete to a repository. */
function addKey(
  byPath: Map<string, WrittenPath>,
  { path, of, from }: Pick<WrittenPath, "path" | "of" | "from">,
  use: PathUse,
  resolver: Session["files"]["resolver"],
): void {
  const other = byPath.get(path);
  byPath.set(path, {
    path,
    of,
    tree: use.tree === true || other?.tree === true,
    write: use.intent === "write" || other?.write === true,
    from,
    belowReplaced: use.belowReplaced,
  });
  if (use.intent !== "write") return;
  // The directory is locked as well, so that two calls cannot complete a repository together.
  for (const directory of resolver.written(path).repositories)
    if (!byPath.has(directory)) byPath.set(directory, { path: directory, tree: false, write: false });
}

/** Returns the places of a use of a path: two for what is written through a link, those of the link and of its target. */
async function writtenPlacesOf(
  use: PathUse,
  path: string,
  fs: Files | undefined,
): Promise<readonly string[]> {
  if (fs === undefined) return [path];
  const own = await realPlaceOf(use, path, fs);
  if (use.writesThrough !== true) return [own];
  const target = await fs.realpath(path);
  return target === own ? [own] : [own, target];
}

/** Returns the real path of a use of a path. What is below a replaced entry has none yet. */
export function realPlaceOf(use: PathUse, path: string, fs: Files): string | Promise<string> {
  if (use.belowReplaced === true) return path;
  return use.entry === true ? entryPath(fs, path) : fs.realpath(path);
}

/** Runs an action while locks are held, and releases them. */
export async function withLocks<T>(
  locked: Promise<() => void | Promise<void>>,
  action: () => Promise<T>,
): Promise<T> {
  const unlock = await locked;
  try {
    return await action();
  } finally {
    await unlock();
  }
}

/** The locks that a call holds. */
export interface HeldLocks {
  /** Returns true when a lock was left out, because there was no reason for it then, and is needed after a conflict. */
  mustLock(): boolean;
  /** True when one of them holds for all processes. */
  readonly isShared: boolean;
  /** The time for which the call waited for them, in milliseconds. */
  readonly waitedMs: number;
  release(): Promise<void>;
}

/** Locks places, in this process and between processes. An `optimistic` call leaves out what met no conflict. */
export async function acquireLocks(
  session: Session,
  keys: readonly WrittenPath[],
  call: Pick<Call, "fs" | "signal">,
  optimistic = false,
): Promise<HeldLocks> {
  // Rollbacks that an earlier call could not finish come first, because this call may depend on those paths.
  await session.past.rollbacks.retry(session.files.fs, keys, (paths, action) => {
    const trees = [...paths].sort().map((path) => ({ path, tree: true, write: true }));
    const locks = acquireLocks(session, trees, { fs: session.files.fs, signal: undefined });
    return withLocks(
      locks.then(({ release }) => release),
      action,
    );
  });
  const { signal } = call;
  const timeoutMs = session.settings.limits.lockTimeoutMs;
  const asked = performance.now();
  const held: (() => void)[] = [await session.scheduling.locker.acquire(keys, { timeoutMs, signal })];
  const release = async (): Promise<void> => {
    const yielder = new Yielder({});
    for (let free = held.pop(); free !== undefined; free = held.pop()) {
      free();
      if (held.length % LOCKS_PER_YIELD_CHECK === 0) await yielder.yieldIfDue();
    }
  };
  try {
    let [isSkipped, isShared] = [false, false];
    const keep = (handle: LockHandle): void => {
      if (handle.skipped === true) isSkipped = true;
      else isShared = true;
      held.push(() => handle.release());
    };
    const wait = { timeoutMs, signal, optimistic, resolved: true } as const;
    const leftOut = await lockBetweenProcesses(session, keys, call.fs, { wait, keep });
    const waitedMs = performance.now() - asked;
    debug.lock?.(`${keys.length} paths after ${waitedMs.toFixed(1)} ms`);
    const mustLock = (): boolean => isSkipped || session.staging.stage?.mustLock(leftOut) === true;
    return { mustLock, isShared, waitedMs, release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** How locks between processes are taken. */
interface LockWait {
  readonly wait: {
    readonly timeoutMs: number;
    readonly signal: AbortSignal | undefined;
    readonly optimistic: boolean;
    /** The paths are real ones. */
    readonly resolved: true;
  };
  /** Called with each lock that was taken. */
  keep(handle: LockHandle): void;
}

/**
 * Takes the locks of the written paths that hold between processes, where the storage or the disk has them. Returns the
 * paths that an optimistic lock of several leaves out.
 */
async function lockBetweenProcesses(
  { staging: { stage } }: Session,
  keys: readonly WrittenPath[],
  fs: Files,
  { keep, wait }: LockWait,
): Promise<readonly string[]> {
  // A path that is only read needs no lock here: its writers keep it consistent.
  const written = keys.filter(({ write }) => write);
  if (stage !== undefined) {
    const paths = written.map(({ path }) => path);
    // An optimistic lock is of those paths alone that met a conflict.
    const leftOut = wait.optimistic ? paths.filter((path) => !stage.mustLock([path])) : [];
    keep(await stage.lock(paths, wait));
    return leftOut;
  }
  if (!fs.abilities.locks) return [];
  // A free lock is acquired without waiting, so a thousand of them would block the event loop.
  const yielder = new Yielder({ signal: wait.signal });
  for (const { path, belowReplaced } of written) {
    if (belowReplaced === true) continue;
    await yielder.yieldIfDue();
    keep(await fs.lock(path, wait));
  }
  return [];
}
