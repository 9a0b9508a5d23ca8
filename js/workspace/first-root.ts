/**
 * Relative paths where several roots stand for each other, as in the servers: a path means the first root that has it.
 * The answer must not tell of what is kept from the call: rules, grants and the policy are asked before anything is
 * looked for, and what they keep reads as absent.
 */
import { placeOf } from "../access/index.ts";
import { covers } from "../access/grants.ts";
import { joinPath, normalise, parentOf } from "../backends/paths.ts";
import { pathsInRoots, readableRoots } from "./look-alikes.ts";
import type { Session } from "./session.ts";

/** Finds what a relative path means: absolute; undefined where the working directory has it, or no root. */
type FindInRoots = (typed: string) => Promise<string | undefined>;

/** Where tools, and a workspace for its looks, have their {@link FindInRoots}. No part of the API. */
export const FIND_IN_ROOTS: unique symbol = Symbol("what a relative path means in several roots");

/**
 * What a relative path of a call means in several roots: absolute; undefined where the path is to stay as it is.
 * `caller`: a tool of a workspace, or a workspace for a look.
 */
export function pathInRoots(caller: object, typed: string): Promise<string | undefined> {
  const { [FIND_IN_ROOTS]: find } = caller as { readonly [FIND_IN_ROOTS]?: FindInRoots };
  return find === undefined ? Promise.resolve(undefined) : find(typed);
}

/** The search for one tool of ours. */
export function findInRoots(session: Session, tool: string): FindInRoots {
  const { policy } = session.resolver;
  const roots = [...new Set([policy.cwd, ...readableRoots(policy)])];
  return async (typed) => {
    if (roots.length < 2) return undefined;
    // What exists is told where a look at it needs nobody's answer.
    const fs = session.views.of({ rules: session.rules.forCall("stat"), hidden: ["deny", "ask"] });
    for await (const path of pathsInRoots(typed, roots, fs, await keptFrom(session, tool)))
      return path === normalise(joinPath(policy.cwd, typed)).path ? undefined : path;
    return undefined;
  };
}

/** Whether a path is kept from a tool: by a rule on its path, or because its directory was not granted. */
async function keptFrom(session: Session, tool: string): Promise<(path: string) => Promise<boolean>> {
  const rules = session.rules.forCall(tool);
  // A rule without a path decides alike on what is there and on what is not.
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
