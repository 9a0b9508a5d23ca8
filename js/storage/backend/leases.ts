/**
 * Locks of paths for all replicas: those of the engine, or leases in its records where it has no locks. One record for
 * each path has its holder and the line of those who wait, so that the first who came is the next to hold it.
 *
 * A holder that ends without releasing is found out by those who wait, each by its own clock: they compare durations,
 * never times, so clocks that differ do no harm. A lease is no proof for its holder: one that was passed over because
 * it took too long still changes nothing that others changed, because each commit has the versions as its conditions.
 */
import { FilewrightError } from "../../engine/errors.ts";
import { engine } from "../../engine/current.ts";
import { byteLength } from "../../backends/paths.ts";
import type { LockHandle, LockOptions } from "../../backends/backend.ts";
import type { Records, SharedRecord } from "../../records/records.ts";
import type { ReadMany, Storage } from "../storage.ts";

/** The time after which a holder that did not release is passed over, in milliseconds. */
const LEASE_MS = 30_000;
/** The time in which one whose turn it is has to take the lock, in milliseconds. */
const TURN_MS = 2000;
/** The time after its last change at which the engine forgets a record, in milliseconds. */
const RECORD_MS = 4 * LEASE_MS;
/** The pause between two looks at the record for the first in line; those behind it wait longer. In milliseconds. */
const PAUSE_MS = 20;
const MAX_PAUSE_MS = 250;
const KIND = "lease";
/** Longer paths are replaced by their hash in the name of the record. */
const MAX_ID_BYTES = 900;

/** The value of the record of a path. */
interface Line {
  /** The holder of the lock, or the waiter that may take it; null without one. */
  readonly holder: string | null;
  /** True when the holder has taken it. */
  readonly taken: boolean;
  /** The waiters, in the order in which they came. */
  readonly waiting: readonly string[];
}

const EMPTY_LINE: Line = { holder: null, taken: false, waiting: [] };

/** How paths are locked for all replicas. */
interface LockPathsOptions extends LockOptions {
  /** Paths that are read with the locks where the engine can do both in one round trip. */
  readonly read?: readonly string[] | undefined;
  /** The maximum bytes of the contents that are read. */
  readonly maxBytes?: number | undefined;
}

/** Locks for all replicas. */
export interface PathsHandle extends LockHandle {
  /** The token with which a commit can end the locks; undefined for leases in records. */
  readonly token?: bigint | undefined;
  /** The entries that were read with the locks; undefined where the engine has not read. */
  readonly read?: ReadMany | undefined;
}

/** Waits for paths that are locked for all replicas. @throws FilewrightError LOCK_TIMEOUT, CANCELLED */
export type LockPaths = (paths: readonly string[], options: LockPathsOptions) => Promise<PathsHandle>;

/** Returns the function that locks paths for all replicas; undefined where the engine has no way to do it. */
export function locksOf(storage: Pick<Storage, "lockAll" | "records">): LockPaths | undefined {
  const { records } = storage;
  if (storage.lockAll !== undefined) return (paths, options) => lockByEngine(storage, paths, options);
  return records === undefined ? undefined : (paths, options) => lockByLeases(records, paths, options);
}

async function lockByEngine(
  storage: Pick<Storage, "lockAll">,
  paths: readonly string[],
  { timeoutMs, signal, read, maxBytes }: LockPathsOptions,
): Promise<PathsHandle> {
  const held = await storage.lockAll?.(
    paths.map((path) => ({ path })),
    { timeoutMs, signal, read, maxBytes },
  );
  return {
    token: held?.token,
    read: held?.read,
    // An engine that cannot be reached frees the lock when its time is over.
    release: () => void held?.release().catch(() => undefined),
  };
}

/** Takes the leases of several paths in one order, so that two holders never wait for each other. */
async function lockByLeases(
  records: Records,
  paths: readonly string[],
  options: LockOptions,
): Promise<LockHandle> {
  const deadline = performance.now() + options.timeoutMs;
  const held: LockHandle[] = [];
  const release = (): void => {
    for (const one of held.splice(0).reverse()) one.release();
  };
  try {
    for (const path of [...paths].sort()) held.push(await lockByLease(records, path, options, deadline));
    return { release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Waits in line for a path, until a time of `performance.now()`. @throws FilewrightError LOCK_TIMEOUT, CANCELLED */
async function lockByLease(
  records: Records,
  path: string,
  { timeoutMs, signal }: LockOptions,
  deadline: number,
): Promise<LockHandle> {
  const id = byteLength(path) <= MAX_ID_BYTES ? path : engine().sha256(new TextEncoder().encode(path));
  const waiter = new Waiter(records, id);
  try {
    for (let place = await waiter.advance(); place > 0; place = await waiter.advance()) {
      if (signal?.aborted === true) throw new FilewrightError("CANCELLED", "the call was cancelled");
      if (performance.now() >= deadline)
        throw new FilewrightError("LOCK_TIMEOUT", `another holder kept the lock for ${timeoutMs} ms`, {
          path,
        });
      await pause(Math.min(MAX_PAUSE_MS, PAUSE_MS * place) * (0.5 + Math.random()));
    }
  } catch (error) {
    await waiter.leave().catch(() => undefined);
    throw error;
  }
  // A record that cannot be reached is passed over by the others when its time is over.
  return { release: () => void waiter.leave().catch(() => undefined) };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** One who waits for a path, or holds it. */
class Waiter {
  readonly #records: Records;
  readonly #id: string;
  readonly #name: string = crypto.randomUUID();
  /** The holder that was seen last, and since when by the clock of this process. */
  #seen: { readonly turn: string; readonly since: number } = { turn: "", since: 0 };

  constructor(records: Records, id: string) {
    this.#records = records;
    this.#id = id;
  }

  /** Takes the lock or a place in the line. Returns the place: 0 for the holder, 1 for the next. */
  async advance(): Promise<number> {
    for (;;) {
      const record = await this.#records.get(KIND, this.#id);
      const line = (record?.value as Line | undefined) ?? EMPTY_LINE;
      const next = this.#nextLine(line);
      if (next !== line && !(await this.#put(record, next))) continue;
      if (next.holder === this.#name && next.taken) return 0;
      return next.waiting.indexOf(this.#name) + 1;
    }
  }

  /** Leaves the line, or gives the lock to the next. */
  async leave(): Promise<void> {
    for (;;) {
      const record = await this.#records.get(KIND, this.#id);
      if (record === null) return;
      const line = record.value as Line;
      const waiting = line.waiting.filter((one) => one !== this.#name);
      const isHolder = line.holder === this.#name;
      if (!isHolder && waiting.length === line.waiting.length) return;
      const [first = null, ...others] = waiting;
      const next = isHolder ? { holder: first, taken: false, waiting: others } : { ...line, waiting };
      if (await this.#put(record, next)) return;
    }
  }

  /** Returns the line with this waiter in it, or as its holder; the same object where nothing changes. */
  #nextLine(line: Line): Line {
    const { holder, taken, waiting } = line;
    if (holder === this.#name) return taken ? line : { ...line, taken: true };
    const isInLine = waiting.includes(this.#name);
    const all = isInLine ? waiting : [...waiting, this.#name];
    if (holder !== null && !this.#isPassedOver(holder, taken))
      return isInLine ? line : { ...line, waiting: all };
    const [first, ...others] = all;
    if (first !== this.#name) return { holder: first as string, taken: false, waiting: others };
    return { holder: first, taken: true, waiting: others };
  }

  /** Returns true when the holder is the same for longer than it may be. */
  #isPassedOver(holder: string, taken: boolean): boolean {
    const turn = `${holder} ${taken}`;
    const now = performance.now();
    if (this.#seen.turn !== turn) this.#seen = { turn, since: now };
    return now - this.#seen.since > (taken ? LEASE_MS : TURN_MS);
  }

  /** Replaces the record, if it is still the one that was read. */
  async #put(record: SharedRecord | null, line: Line): Promise<boolean> {
    try {
      await this.#records.put(KIND, this.#id, line, { expect: record?.rev ?? null, forMs: RECORD_MS });
      return true;
    } catch (error) {
      if (error instanceof FilewrightError && error.code === "CONFLICT") return false;
      throw error;
    }
  }
}
