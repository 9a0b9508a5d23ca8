/** The locks of a storage in memory: a line of waiters, leases that lapse, and fencing tokens. */
import { FilewrightError } from "../../engine/errors.ts";
import { isWithin } from "../../backends/paths.ts";
import { fencedError } from "../failure.ts";
import type { LockAllOptions, LockPath } from "../shared.ts";

const DEFAULT_LEASE_MS = 60_000;
/** The number of past holders that are remembered for fencing. An older token is refused. */
const MAX_PAST_HOLDERS = 10_000;

interface Holder {
  readonly token: bigint;
  readonly paths: readonly LockPath[];
  readonly until: number;
}

interface Waiter {
  readonly paths: readonly LockPath[];
  readonly forMs: number;
  grant(holder: Holder): void;
}

/** The locks of one storage. */
export class LeaseLocks {
  readonly #waiting: Waiter[] = [];
  #held: Holder[] = [];
  #past: Holder[] = [];
  #token = 0n;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Waits in line for the paths. @throws LOCK_TIMEOUT, CANCELLED */
  acquire(paths: readonly LockPath[], { timeoutMs, forMs, signal }: LockAllOptions): Promise<Holder> {
    return new Promise((resolve, reject) => {
      const end = (error?: FilewrightError): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", cancel);
        if (error === undefined) return;
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(error);
        this.#serve();
      };
      const cancel = (): void => end(new FilewrightError("CANCELLED", "the call was cancelled"));
      const late = (): void =>
        end(
          new FilewrightError("LOCK_TIMEOUT", `another holder kept the lock for ${timeoutMs} ms`, {
            path: paths[0]?.path,
          }),
        );
      const waiter: Waiter = {
        paths,
        forMs: forMs ?? DEFAULT_LEASE_MS,
        grant: (holder) => {
          end();
          resolve(holder);
        },
      };
      const timer = setTimeout(late, timeoutMs);
      this.#waiting.push(waiter);
      if (signal?.aborted === true) return cancel();
      signal?.addEventListener("abort", cancel, { once: true });
      this.#serve();
    });
  }

  /** Releases what a token holds. One that holds nothing any more is fine. */
  release(token: bigint): void {
    this.#held = this.#held.filter((one) => one.token !== token);
    this.#serve();
  }

  /** Refuses a token when a later holder was given one of its paths. @throws CONFLICT */
  check(token: bigint): void {
    const own = this.#past.find((one) => one.token === token);
    if (own === undefined) throw fencedError();
    if (this.#past.some((one) => one.token > token && overlaps(one.paths, own.paths))) throw fencedError();
  }

  /** Serves waiters in their order; one that overlaps an earlier waiter waits behind it. */
  #serve(): void {
    clearTimeout(this.#timer);
    const now = Date.now();
    const ahead: LockPath[][] = [];
    for (const waiter of [...this.#waiting]) {
      const inTheWay = this.#held.filter((one) => overlaps(one.paths, waiter.paths));
      const free = inTheWay.every(({ until }) => until <= now);
      if (!free || ahead.some((paths) => overlaps(paths, waiter.paths))) {
        ahead.push([...waiter.paths]);
        continue;
      }
      this.#held = this.#held.filter((one) => !inTheWay.includes(one));
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
      const holder = { token: ++this.#token, paths: waiter.paths, until: now + waiter.forMs };
      this.#held.push(holder);
      this.#past.push(holder);
      waiter.grant(holder);
    }
    if (this.#past.length > 2 * MAX_PAST_HOLDERS) this.#past = this.#past.slice(-MAX_PAST_HOLDERS);
    if (this.#waiting.length === 0) return;
    const next = Math.min(...this.#held.map(({ until }) => until));
    if (Number.isFinite(next)) this.#timer = setTimeout(() => this.#serve(), Math.max(1, next - now));
  }
}

function overlaps(some: readonly LockPath[], others: readonly LockPath[]): boolean {
  return some.some((a) =>
    others.some(
      (b) =>
        a.path === b.path ||
        (a.tree === true && isWithin(b.path, a.path)) ||
        (b.tree === true && isWithin(a.path, b.path)),
    ),
  );
}
