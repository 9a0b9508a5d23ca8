/**
 * How far a long call is, told to a client that asked: often enough to see, never backwards.
 *
 * A call that is over at once tells nothing, and the last step is no reason to
 * speak either: a client forgets the token with the answer, so that what is told
 * just before it reaches many clients as progress of a call that they do not know.
 */
import type { CallOptions } from "../workspace/index.ts";

/** At least so many milliseconds from the start to the first notification, and between two. */
const PACE_MS = 100;
/** A call that counts nothing shows this often that it is alive. */
const ALIVE_MS = 1000;

type OnProgress = NonNullable<CallOptions["onProgress"]>;

/** The progress of one call. */
export interface Reporter {
  readonly onProgress: OnProgress;
  /** Ends it, with the call. */
  end(): void;
}

/** Tells `notify`; undefined where the client did not ask. */
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
    // Who went away is not told; the call goes on or is cancelled by other means.
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
