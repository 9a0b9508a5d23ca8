/**
 * Sends the progress of a long call to a client that asked for it: at most ten times a second, and never
 * decreasing.
 *
 * A short call sends no progress, and neither does the final step. Clients forget the progress token with the
 * answer, so many of them would assign a notification just before the answer to an unknown call.
 */
import type { CallOptions } from "../../workspace/index.ts";

/** Minimum milliseconds before the first notification and between two notifications. */
const PACE_MS = 100;
/** Milliseconds between two notifications of a call that reports no counts. */
const ALIVE_MS = 1000;

type OnProgress = NonNullable<CallOptions["onProgress"]>;

/** The progress of one call. */
export interface Reporter {
  readonly onProgress: OnProgress;
  /** Stops the notifications when the call ends. */
  end(): void;
}

/** Creates a reporter that sends through `notify`; undefined when the client sent no token. */
export function reporter(
  token: string | number | undefined,
  notify: (notification: { method: string; params: Record<string, unknown> }) => Promise<void>,
): Reporter | undefined {
  if (token === undefined) return undefined;
  const began = performance.now();
  let [told, last, counted] = [0, began, false];
  const tell = (progress: number, more: Record<string, unknown>): void => {
    told = progress;
    const params = { progressToken: token, progress, ...more };
    // The client may have disconnected. A lost notification must not fail the call.
    notify({ method: "notifications/progress", params }).catch(() => {});
  };
  const alive = setInterval(() => {
    const seconds = Math.floor((performance.now() - began) / 1000);
    if (!counted && seconds > told) tell(seconds, { message: `${seconds} s` });
  }, ALIVE_MS);
  return {
    onProgress({ done, total, message }) {
      counted = true;
      const now = performance.now();
      if (done <= told || now - last < PACE_MS) return;
      last = now;
      tell(done, {
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message }),
      });
    },
    end: () => clearInterval(alive),
  };
}
