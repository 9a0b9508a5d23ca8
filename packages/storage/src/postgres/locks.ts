/**
 * Locks of a workspace on Postgres: in line, held by a connection of their own; or leases for a time, where the
 * client has no connections to hold or a pooler lends them by the transaction.
 */
import {
  checkAborted,
  FilewrightError,
  type LockAllOptions,
  type LockedPaths,
  type LockPath,
} from "filewright/files";
import { abortable, type Connection, type Row } from "./client.ts";
import type { Database } from "./database.ts";
import { above } from "./encode.ts";
import { fromPostgres } from "./errors.ts";
import { withinTime } from "./sessions.ts";

const DEFAULT_HOLD_MS = 60_000;
/** The longest pause between two attempts to get a lease. */
const MAX_PAUSE_MS = 100;

/** How long a cancelled call waits until a lease that it was given meanwhile is given back. */
const GIVE_BACK_MS = 1000;

/** Locks that a commit can end. */
export interface EndableLocks extends LockedPaths {
  /** The connection that holds them; undefined for a lease. */
  readonly connection: Connection | undefined;
  /** The locked paths, as the functions of the database take them. */
  readonly wanted: string;
  /** The rows of the paths that were read with the locks; undefined where none were. */
  readonly rows: readonly Row[] | undefined;
  /** False once they are released, or their time is over. */
  readonly isHeld: boolean;
  /** Notes that a commit has ended them. */
  ended(): void;
}

/** The paths that are read in the same round trip, as the functions of the database take them. */
export interface PathsToRead {
  readonly paths: string;
  readonly maxBytes: number | null;
}

/** What a workspace's locks are taken with: its tenant and number. */
export type WorkspaceValues = readonly [tenant: string, workspace: string];

/** The connections that may wait for locks or hold them, of each client: the others are for everything else. */
const slotsByClient = new WeakMap<object, LockSlots>();

/** Waits for paths in the line of the engine. The lock ends with the connection, also when the process dies. */
export async function lockFairly(
  database: Database,
  workspace: WorkspaceValues,
  paths: readonly LockPath[],
  options: LockAllOptions,
  read?: PathsToRead,
): Promise<EndableLocks> {
  const wanted = encodePaths(paths);
  const { timeoutMs, forMs = DEFAULT_HOLD_MS, signal } = options;
  checkAborted(signal);
  const deadline = performance.now() + timeoutMs;
  const slots = slotsByClient.get(database.client) ?? new LockSlots(database.maxLockConnections);
  slotsByClient.set(database.client, slots);
  if (!(await slots.enter(timeoutMs, signal))) throw timeoutError(timeoutMs, paths);
  let connection: Connection | undefined;
  try {
    connection = await database.connect();
    const waiting = connection;
    const values: unknown[] = [...workspace, wanted, Math.max(0, deadline - performance.now()), forMs];
    if (read !== undefined) values.push(read.paths, read.maxBytes);
    const name = read === undefined ? "take" : "take_read";
    const [row, ...rows] = await abortable(signal, () =>
      waiting.run(database.statement(name, values.length), values),
    );
    const token = BigInt(String(row?.[read === undefined ? "take" : "version"]));
    const about = { connection, wanted, token, rows: read === undefined ? undefined : rows };
    return hold(database, workspace, about, forMs, slots);
  } catch (error) {
    slots.leave();
    if (connection !== undefined) await giveUp(database, connection, signal);
    const failure = fromPostgres(error, false);
    throw failure.code === "LOCK_TIMEOUT" ? timeoutError(timeoutMs, paths) : failure;
  }
}

/** Gives a connection back whose wait failed: some of the locks may have been taken. */
async function giveUp(
  database: Database,
  connection: Connection,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (signal?.aborted === true) {
    connection.release(true);
    // The place in the line is freed when the statement is cancelled, at the latest when its turn comes.
    if (connection.processId !== undefined) await database.cancel(connection.processId);
    return;
  }
  const freed = await connection.run("select pg_advisory_unlock_all()", []).then(
    () => true,
    () => false,
  );
  connection.release(!freed);
}

function hold(
  database: Database,
  workspace: WorkspaceValues,
  about: Pick<EndableLocks, "wanted" | "token" | "rows"> & { readonly connection: Connection },
  forMs: number,
  slots: LockSlots,
): EndableLocks {
  const { connection, token } = about;
  let ended: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    clearTimeout(timer);
    const values = [...workspace, String(token)];
    const freed = await connection.run(database.statement("end_hold", values.length), values).then(
      () => true,
      () => false,
    );
    // A connection that may still hold a lock must not go back to the pool.
    connection.release(!freed);
    slots.leave();
  };
  const release = (): Promise<void> => {
    ended ??= end();
    return ended;
  };
  // A holder that hangs must not keep everybody else waiting; its token is refused once another holds the paths.
  const timer = setTimeout(() => void release(), forMs);
  (timer as { unref?: () => void }).unref?.();
  // The server has freed the paths then.
  connection.onLost(() => void release());
  const markEnded = (): void => {
    if (ended !== undefined) return;
    ended = Promise.resolve();
    clearTimeout(timer);
    connection.release();
    slots.leave();
  };
  return {
    ...about,
    release,
    ended: markEnded,
    get isHeld() {
      return ended === undefined;
    },
  };
}

/** Asks for a lease until it is given. There is no line: whoever asks first after the end of another one has it. */
export async function lockByLease(
  database: Database,
  workspace: WorkspaceValues,
  paths: readonly LockPath[],
  { timeoutMs, forMs = DEFAULT_HOLD_MS, signal }: LockAllOptions,
): Promise<EndableLocks> {
  const values = [...workspace, encodePaths(paths), forMs];
  const deadline = performance.now() + timeoutMs;
  for (let attempt = 1; ; attempt++) {
    const taken = await takeLease(database, workspace, values, signal);
    if (taken !== undefined) return taken;
    const left = deadline - performance.now();
    if (left <= 0) throw timeoutError(timeoutMs, paths);
    const pause = Math.min(left, MAX_PAUSE_MS, 2 ** attempt) * (0.5 + Math.random() / 2);
    await abortable(signal, () => new Promise((resolve) => setTimeout(resolve, pause)));
  }
}

/** Asks for a lease once; undefined when another holds the paths. One that is given to a cancelled call is given back. */
async function takeLease(
  database: Database,
  workspace: WorkspaceValues,
  values: unknown[],
  signal: AbortSignal | undefined,
): Promise<EndableLocks | undefined> {
  checkAborted(signal);
  const asked = database.change("take_lease", values).then(([row]) => {
    const token = row?.["take_lease"];
    return token === null || token === undefined
      ? undefined
      : lease(database, workspace, BigInt(String(token)));
  });
  try {
    return await abortable(signal, () => asked);
  } catch (error) {
    const givenBack = asked.then((late) => late?.release()).catch(() => undefined);
    await withinTime(GIVE_BACK_MS, givenBack);
    throw error;
  }
}

function lease(database: Database, workspace: WorkspaceValues, token: bigint): EndableLocks {
  let ended: Promise<unknown> | undefined;
  return {
    token,
    connection: undefined,
    // Nothing but the record of the lease holds the paths.
    wanted: "[]",
    rows: undefined,
    get isHeld() {
      return ended === undefined;
    },
    ended: () => {
      ended ??= Promise.resolve();
    },
    release: async () => {
      ended ??= database.change("end_hold", [...workspace, String(token)]);
      await ended;
    },
  };
}

function encodePaths(paths: readonly LockPath[]): string {
  const unique = new Map(paths.map((one) => [`${one.tree === true} ${one.path}`, one]));
  return JSON.stringify(
    [...unique.values()].map(({ path, tree = false }) => ({
      p: path,
      tree,
      ups: path === "/" ? ["/"] : ["/", ...above(path), path],
    })),
  );
}

function timeoutError(timeoutMs: number, paths: readonly LockPath[]): FilewrightError {
  return new FilewrightError("LOCK_TIMEOUT", `another holder kept the lock for ${timeoutMs} ms`, {
    path: paths[0]?.path,
  });
}

/** A line for the connections that locks may use, so that the holder of a lock finds one to commit with. */
class LockSlots {
  #free: number;
  readonly #waiting: ((entered: boolean) => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Waits in line. @returns false when the time is over */
  async enter(timeoutMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    if (this.#free > 0) {
      this.#free--;
      return true;
    }
    let settle: (entered: boolean) => void = () => undefined;
    const turn = new Promise<boolean>((resolve) => {
      settle = resolve;
    });
    this.#waiting.push(settle);
    const timer = setTimeout(() => settle(false), timeoutMs);
    const quit = (): void => settle(false);
    signal?.addEventListener("abort", quit, { once: true });
    const entered = await turn;
    clearTimeout(timer);
    signal?.removeEventListener("abort", quit);
    const at = this.#waiting.indexOf(settle);
    if (at >= 0) this.#waiting.splice(at, 1);
    checkAborted(signal === undefined || entered ? undefined : signal);
    return entered;
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next(true);
  }
}
