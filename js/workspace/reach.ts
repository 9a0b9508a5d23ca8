/** Refuses restrictions of a workspace and of its agents that can restrict nothing. */
import { compileRules, type Rule, type Rules, type SandboxPolicy } from "../policy/index.ts";
import { assertGlobsReach, assertPlacesReach, type GlobReach, type NamedGlob } from "../policy/reach.ts";
import { TOOL_NAMES } from "../schema/tool-names.ts";
import type { AccessOptions } from "./options.ts";

/** The options that restrict paths. */
interface Restrictions {
  readonly access?: AccessOptions | undefined;
  readonly rules?: readonly Rule[] | undefined;
  readonly foreignTools?: readonly string[] | undefined;
}

/**
 * Compiles the rules of a workspace or an agent, and refuses those that can match nothing below the roots, as well as
 * such denied globs and places. With `reachesBeyond` calls or commands may reach other directories, too: only the text
 * is checked then.
 * @throws FilewrightError INVALID_GLOB, INVALID_ARGUMENT
 */
export function rulesWithin(
  { access = {}, rules = [], foreignTools = [] }: Restrictions,
  policy: SandboxPolicy,
  reachesBeyond: boolean,
): Rules {
  const isOpen = reachesBeyond || policy.read === null || policy.followSymlinks === "any";
  const roots = isOpen ? [] : [...new Set([policy.cwd, ...(policy.read ?? []), ...policy.write])];
  const reach: GlobReach = { ...policy, roots };
  const anywhere: GlobReach = { ...policy, roots: [] };
  assertGlobsReach(named("access.deny", access.deny), reach);
  const { places = {} } = access;
  for (const list of ["allow", "ask", "refuse", "secret", "readable"] as const)
    assertPlacesReach(named(`access.places.${list}`, places[list]), reach);
  assertPlacesReach(named("access.read", access.read), anywhere);
  assertPlacesReach(named("access.write", access.write), anywhere);
  const paths = rules.flatMap(({ path }, index) =>
    path === undefined ? [] : [{ where: `rules[${index}].path`, glob: path }],
  );
  assertGlobsReach(paths, reach);
  return compileRules(rules, policy, new Set([...TOOL_NAMES, ...foreignTools]));
}

function named(option: string, globs: readonly string[] | null | undefined): readonly NamedGlob[] {
  return (globs ?? []).map((glob, index) => ({ where: `${option}[${index}]`, glob }));
}
