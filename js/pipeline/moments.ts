/**
 * Calls that walk a tree of a shared storage. Each of them works on one moment, a snapshot of all entries in memory.
 * So all its lookups, listings and searches together take one round trip, besides those for contents.
 */
import type { Files } from "../backends/files.ts";
import type { SandboxPolicy } from "../backends/policy.ts";
import { SandboxedBackend } from "../backends/confined/sandboxed.ts";
import type { StorageMoment } from "../storage/search/searches.ts";
import type { EnterMoment, MomentSession } from "./session.ts";
import { makeViews, type Views } from "./views.ts";

/** A storage of which snapshots can be taken. */
export interface MomentSource {
  /** Returns the storage as it is now, or as it was within the age that the workspace allows. */
  moment(signal: AbortSignal | undefined): Promise<StorageMoment>;
}

/**
 * Returns the function by which a call enters a moment. `views` are those of the session: secrets that were granted
 * there can be read in the moment too, and the other way round.
 */
export function makeMoments(source: MomentSource, policy: SandboxPolicy, views: Views): EnterMoment {
  const known = new WeakMap<Files, MomentSession>();
  return async (signal) => {
    const { fs: at, version } = await source.moment(signal);
    let entered = known.get(at);
    if (entered === undefined) {
      const fs = new SandboxedBackend(at, policy);
      const own = makeViews(
        fs,
        (globs) => new SandboxedBackend(at, { ...policy, deny: [...policy.deny, ...globs] }),
      );
      const grantSecrets = (paths: readonly string[]): void => {
        views.grantSecrets(paths);
        own.grantSecrets(paths);
      };
      entered = Object.freeze({
        fs,
        views: Object.freeze({ ...own, grantSecrets }),
        version,
      });
      known.set(at, entered);
    }
    if (views.granted !== undefined) entered.views.grantSecrets(views.granted);
    return entered;
  };
}
