/**
 * Calls that walk a tree of a shared storage: each of them sees the storage at one moment, which takes one round trip
 * for all that it looks up, lists and searches.
 */
import type { FsBackend } from "../backends/backend.ts";
import type { SandboxPolicy } from "../backends/policy.ts";
import { SandboxedBackend } from "../backends/confined/sandboxed.ts";
import type { Tool } from "../tools/lib/tool.ts";
import type { EnterMoment, MomentSession, Session } from "./session.ts";
import { namesFilesOnly } from "./staged.ts";
import { makeViews, type Views } from "./views.ts";

/** A storage that is seen at one moment. */
export interface MomentSource {
  /** Returns the storage as it is, or was a short time ago. */
  moment(signal: AbortSignal | undefined): Promise<FsBackend>;
  /** Returns the version of the storage that a moment shows. */
  versionOf(moment: FsBackend): string | undefined;
}

/** Returns how the calls of a session enter a moment. `views` are those of the session, whose grants count. */
export function makeMoments(source: MomentSource, policy: SandboxPolicy, views: Views): EnterMoment {
  const known = new WeakMap<FsBackend, MomentSession>();
  return async (signal) => {
    const at = await source.moment(signal);
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
        version: source.versionOf(at),
      });
      known.set(at, entered);
    }
    if (views.granted !== undefined) entered.views.grantSecrets(views.granted);
    return entered;
  };
}

/**
 * Returns the session for a call of a tool, at one moment where the tool walks a tree of a shared storage, and the
 * version of the storage that the call then sees.
 */
export async function sessionAtMoment(
  session: Session,
  tool: Pick<Tool, "kind" | "name"> & { readonly searches?: boolean | undefined },
  args: object,
  signal: AbortSignal | undefined,
): Promise<{ readonly session: Session; readonly version?: string }> {
  const { moments, unstaged = session } = session;
  // The operations of a batch see what it has changed so far, which is no moment of the storage.
  if (moments === undefined || moments.of !== unstaged.fs || tool.kind !== "read" || tool.searches !== true)
    return { session };
  // Files that are named are read by the stage of the call, in one round trip without a tree.
  if (tool.name === "read_many_files" && namesFilesOnly(args)) return { session };
  const { version, ...parts } = await moments.enter(signal);
  return { session: { ...session, ...parts }, ...(version === undefined ? {} : { version }) };
}
