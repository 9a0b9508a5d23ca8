/**
 * Relative paths in a workspace with several roots, for servers whose client does not know which root
 * is the working directory: the path of an entry in the first root that has one, the working directory
 * first. The answer reveals nothing: an entry that a rule, a missing grant or the policy hides counts
 * as missing.
 */
import { placeOf } from "../../policy/index.ts";
import { covers } from "../../policy/grants.ts";
import { joinPath, normalise, parentOf } from "../../backends/paths.ts";
import { existingPathsInRoots, readableRoots } from "./look-alikes.ts";
import type { Session } from "../session.ts";
import { TOOL_FOR_ACCESS } from "../../schema/tool-facts.ts";

/** Returns the absolute path of the entry that a relative path names; undefined to leave the path as it is. */
type RootLookup = (typed: string) => Promise<string | undefined>;

/** The key under which tools and workspaces hold their {@link RootLookup}. Not part of the API. */
export const ROOT_LOOKUP: unique symbol = Symbol("looks relative paths up in several roots");

/**
 * Returns the absolute path of the entry that a relative path names in several roots; undefined to leave
 * the path as it is, because the working directory has the entry or because no root has it.
 *
 * @param holder the tool that is called, or the workspace when the entry is only read by the server itself
 */
export function lookUpInRoots(holder: object, typed: string): Promise<string | undefined> {
  const { [ROOT_LOOKUP]: lookUp } = holder as { readonly [ROOT_LOOKUP]?: RootLookup };
  return lookUp === undefined ? Promise.resolve(undefined) : lookUp(typed);
}

/** Makes the look-up for calls of a tool, which is given by its canonical name. */
export function makeRootLookup(session: Session, tool: string): RootLookup {
  const { policy } = session.files.resolver;
  const roots = [...new Set([policy.cwd, ...readableRoots(policy)])];
  return async (typed) => {
    if (roots.length < 2) return undefined;
    // An entry is found only when a `stat` of it needs no approval.
    const fs = session.files.views.of({
      rules: session.gates.rules.forCall(TOOL_FOR_ACCESS.look),
      hidden: ["deny", "ask"],
    });
    // The first path is the answer; the others are not looked up.
    for await (const path of existingPathsInRoots(typed, roots, fs, await hiddenPathTest(session, tool)))
      return path === normalise(joinPath(policy.cwd, typed)).path ? undefined : path;
    return undefined;
  };
}

/** Returns a test for paths that a rule, or a missing grant, hides from calls of a tool. */
async function hiddenPathTest(session: Session, tool: string): Promise<(path: string) => Promise<boolean>> {
  const rules = session.gates.rules.forCall(tool);
  // A rule without a path decides alike about existing and missing entries, so it hides none of them.
  const anywhere = rules.decide([]);
  const asksForGrants = session.gates.prompting !== undefined;
  const grants = asksForGrants ? ((await session.gates.permissions?.list()) ?? []) : [];
  return async (path) => {
    // The path as named, and the entry that its links lead to.
    const forms = await placeOf(session.files.fs, { path }, true);
    // A grant is one of a directory. The listed grants are in force at any time, so the time does not matter.
    if (asksForGrants && !forms.every((form) => covers(grants, parentOf(form), "read", 0))) return true;
    const decision = rules.decide(forms);
    return decision !== anywhere && (decision === "deny" || decision === "ask");
  };
}
