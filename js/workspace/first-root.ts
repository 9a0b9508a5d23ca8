/**
 * Resolves relative paths in the servers, where all roots are equal: a path names the first root that
 * has it. The answer must not reveal hidden paths, so rules, grants and the policy are applied before
 * any look-up, and a hidden path counts as missing.
 */
import { placeOf } from "../access/index.ts";
import { covers } from "../access/grants.ts";
import { joinPath, normalise, parentOf } from "../backends/paths.ts";
import { pathsInRoots, readableRoots } from "./look-alikes.ts";
import type { Session } from "./session.ts";

/** Returns the absolute path of a relative one; undefined when the working directory, or no root, has it. */
type FindInRoots = (typed: string) => Promise<string | undefined>;

/** The key under which tools and workspaces hold their {@link FindInRoots}. Not part of the API. */
export const FIND_IN_ROOTS: unique symbol = Symbol("what a relative path means in several roots");

/**
 * Returns the absolute path of a relative one in several roots; undefined when the path needs no change.
 * `caller` is a tool of a workspace, or a workspace for a look-up.
 */
export function pathInRoots(caller: object, typed: string): Promise<string | undefined> {
  const { [FIND_IN_ROOTS]: find } = caller as { readonly [FIND_IN_ROOTS]?: FindInRoots };
  return find === undefined ? Promise.resolve(undefined) : find(typed);
}

/** Returns the search for one canonical tool. */
export function findInRoots(session: Session, tool: string): FindInRoots {
  const { policy } = session.resolver;
  const roots = [...new Set([policy.cwd, ...readableRoots(policy)])];
  return async (typed) => {
    if (roots.length < 2) return undefined;
    // The search finds an entry only when a `stat` of it needs no approval.
    const fs = session.views.of({ rules: session.rules.forCall("stat"), hidden: ["deny", "ask"] });
    for await (const path of pathsInRoots(typed, roots, fs, await keptFrom(session, tool)))
      return path === normalise(joinPath(policy.cwd, typed)).path ? undefined : path;
    return undefined;
  };
}

/** Returns a test for paths hidden from a tool: covered by a rule, or in a directory that is not granted. */
async function keptFrom(session: Session, tool: string): Promise<(path: string) => Promise<boolean>> {
  const rules = session.rules.forCall(tool);
  // A rule without a path decides equally about existing and missing paths, so it hides none.
  const everywhere = rules.decide([]);
  const granted = session.prompting === undefined ? undefined : ((await session.permissions?.list()) ?? []);
  return async (path) => {
    const forms = await placeOf(session.fs, { path }, true);
    if (granted !== undefined && !forms.every((form) => covers(granted, parentOf(form), "read", 0)))
      return true;
    const decision = rules.decide(forms);
    return decision !== everywhere && (decision === "deny" || decision === "ask");
  };
}
