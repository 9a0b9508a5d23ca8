/**
 * The number of requests that a workspace may make in a minute, counted by the engine for all replicas together.
 *
 * A replica takes a hundredth of the number at once, so that most requests need no round trip for it. What it took and
 * did not use is lost after a few seconds: so a workspace never gets more than its number in a minute of the engine's
 * clock and these seconds, and a hundredth less for each replica.
 */
import type { Records } from "../../storage/storage.ts";

const MINUTE_MS = 60_000;
/** The time in milliseconds for which taken requests can be used, and for which a refusal is repeated without a trip. */
const MAX_HELD_MS = 2000;
const PARTS_PER_MINUTE = 100;

/** Counts the requests of one workspace. */
export interface CallQuota {
  /** Takes all of these requests, or none and returns false when the number of this minute does not suffice. */
  take(count: number, signal: AbortSignal): Promise<boolean>;
}

/** Creates the counter of a workspace. `most` is the number of requests in a minute. */
export function makeCallQuota(records: Records, most: number): CallQuota {
  const part = Math.max(1, Math.floor(most / PARTS_PER_MINUTE));
  let left = 0;
  let heldUntil = 0;
  /** The smallest number that was refused, and until when its refusal is repeated. */
  let refused = { amount: 0, until: 0 };
  let asking: Promise<void> | undefined;
  const ask = async (missing: number): Promise<void> => {
    for (const amount of missing >= part ? [missing] : [part, missing]) {
      const { ok } = await records.add("calls", "minute", amount, { most, forMs: MINUTE_MS });
      const now = performance.now();
      if (ok) {
        left += amount;
        heldUntil = now + MAX_HELD_MS;
        return;
      }
      refused = { amount, until: now + MAX_HELD_MS };
    }
  };
  return {
    async take(count, signal) {
      if (count > most) return false;
      while (!signal.aborted) {
        const now = performance.now();
        if (now >= heldUntil) left = 0;
        if (left >= count) {
          left -= count;
          return true;
        }
        const missing = count - left;
        if (now < refused.until && missing >= refused.amount) return false;
        // Requests that arrive together share one trip; those for which it was not enough ask again.
        asking ??= ask(missing).finally(() => {
          asking = undefined;
        });
        await asking;
      }
      return false;
    },
  };
}
