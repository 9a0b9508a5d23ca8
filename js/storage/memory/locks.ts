/** The locks of a storage in memory: the line of paths in this process, leases that lapse, and fencing tokens. */
import { FilewrightError } from "../../engine/errors.ts";
import { makePathLocker, MAX_TIMER_MS, overlaps, type LockKey } from "../../backends/path-locker.ts";
import { fencedError } from "../failure.ts";
import type { LockAllOptions, LockPath } from "../shared.ts";

const DEFAULT_LEASE_MS = 60_000;
/** The number of past holders that are remembered for fencing. An older token is refused. */
const MAX_PAST_HOLDERS = 10_000;

interface Holder {
  readonly token: bigint;
  readonly paths: readonly LockKey[];
}

/** The locks of one storage. */
export class LeaseLocks {
  readonly #locker = makePathLocker();
  /** The ends of the leases that are held, by token. */
  readonly #held = new Map<bigint, () => void>();
  #past: Holder[] = [];
  #token = 0n;

  /** Waits in line for the paths, and returns the token. @throws LOCK_TIMEOUT, CANCELLED */
  async acquire(
    wanted: readonly LockPath[],
    { timeoutMs, forMs = DEFAULT_LEASE_MS, signal }: LockAllOptions,
  ): Promise<bigint> {
    const paths = wanted.map(({ path, tree = false }) => ({ path, tree }));
    const wait = { timeoutMs, whole: true, signal };
    const free = await this.#locker.acquire(paths, wait).catch((error: unknown) => {
      if (!(error instanceof FilewrightError) || error.code !== "LOCK_TIMEOUT") throw error;
      const text = `another holder kept the lock for ${timeoutMs} ms`;
      throw new FilewrightError("LOCK_TIMEOUT", text, { path: paths[0]?.path });
    });
    const token = ++this.#token;
    const lapse = setTimeout(() => this.release(token), Math.min(forMs, MAX_TIMER_MS));
    (lapse as { unref?: () => void }).unref?.();
    this.#held.set(token, () => {
      clearTimeout(lapse);
      free();
    });
    this.#past.push({ token, paths });
    if (this.#past.length > 2 * MAX_PAST_HOLDERS) this.#past = this.#past.slice(-MAX_PAST_HOLDERS);
    return token;
  }

  /** Releases what a token holds. One that holds nothing any more is fine. */
  release(token: bigint): void {
    const free = this.#held.get(token);
    this.#held.delete(token);
    free?.();
  }

  /** Refuses a token when a later holder was given one of its paths. @throws CONFLICT */
  check(token: bigint): void {
    const own = this.#past.find((one) => one.token === token);
    if (own === undefined) throw fencedError();
    if (this.#past.some((one) => one.token > token && overlaps(one.paths, own.paths))) throw fencedError();
  }
}
