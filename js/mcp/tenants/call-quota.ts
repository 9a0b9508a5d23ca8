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
  /** Takes one request. Returns false when the number of this minute is used up. */
  take(signal: AbortSignal): Promise<boolean>;
}

/** Creates the counter of a workspace. `most` is the number of requests in a minute. */
export function makeCallQuota(records: Records, most: number): CallQuota {
  const part = Math.max(1, Math.floor(most / PARTS_PER_MINUTE));
  let left = 0;
  let heldUntil = 0;
  let refusedUntil = 0;
  let asking: Promise<void> | undefined;
  const ask = async (): Promise<void> => {
    for (const amount of part === 1 ? [1] : [part, 1]) {
      const { ok } = await records.add("calls", "minute", amount, most, { forMs: MINUTE_MS });
      const now = performance.now();
      if (ok) {
        left = amount;
        heldUntil = now + MAX_HELD_MS;
        return;
      }
      refusedUntil = now + MAX_HELD_MS;
    }
  };
  return {
    async take(signal) {
      while (!signal.aborted) {
        const now = performance.now();
        if (left > 0 && now < heldUntil) {
          left -= 1;
          return true;
        }
        if (now < refusedUntil) return false;
        // Requests that arrive together share one trip; those for which it was not enough ask again.
        asking ??= ask().finally(() => {
          asking = undefined;
        });
        await asking;
      }
      return false;
    },
  };
}
