/**
 * Converts a typed path to a {@link Location}, or refuses it.
 *
 * All of this is text: the working directory and the roots were resolved once, when the resolver
 * was created. The confined backend checks links below a root, on the real path, when the location
 * is used.
 */
import { outside, protectedPlace, readOnly, temporaryName } from "../backends/confined/outside.ts";
import { canonicalPath } from "../backends/name-escapes.ts";
import { resolveAlias, checkPath, isWithin, joinPath, normalise, relativeTo } from "../backends/paths.ts";
import { FilewrightError } from "../engine/errors.ts";
import { escapeControls } from "../engine/escape.ts";
import { type PlaceRow, placeRow } from "../backends/confined/places.ts";
import type { Intent } from "../backends/policy.ts";
import { possibleRepositoriesOn } from "../backends/confined/repository.ts";
import { hasTempName } from "../backends/walk/temp-name.ts";
import { pathConverterOf, displayPath } from "../backends/windows-paths.ts";
import { POLICY_OPTION } from "../backends/option-schema.ts";
import { compilePathRules } from "../backends/confined/rules.ts";
import { optionChecker } from "../schema/option.ts";
import { type Location, makeLocation } from "./location.ts";
import type { SandboxPolicy } from "./policy.ts";

/** The rows of the table of places that apply to one path. */
export interface PlaceVerdict {
  /** The row that refuses writing, or requires an approval for it; undefined without such a row. */
  readonly write: PlaceRow | undefined;
  /** The row that makes the path a secret; undefined if it is none. */
  readonly read: PlaceRow | undefined;
}

/** The facts that a call needs about a real path that it writes. They depend on the path and the policy alone. */
export interface WrittenPathFacts {
  /** True for a name that {@link Resolver.isTemporary} knows. */
  readonly isTemporary: boolean;
  /** The row that refuses writing the path, or requires an approval for it; undefined without such a row. */
  readonly row: PlaceRow | undefined;
  /** The directories above the path that would contain it as a part, if they are git repositories. */
  readonly repositories: readonly string[];
}

/** The check of a policy that refused a path, in the order of the checks. */
export type PathGate = "read-only" | "root" | "deny" | "protected" | "temporary";

/** A refused path. The error does not name the check, because a model must not learn what is denied. */
interface PathRefusal {
  readonly gate: PathGate;
  readonly error: FilewrightError;
}

/** A path that may be used, or its refusal. */
type Located = { readonly at: Location } | PathRefusal;

const checkPolicy = optionChecker("createResolver", POLICY_OPTION);

/** Checks typed paths and formats paths, for one policy. */
export interface Resolver {
  /** The policy with its roots and working directory resolved. */
  readonly policy: SandboxPolicy;
  /**
   * Returns the location of a path that may be used with this intent.
   * @throws FilewrightError INVALID_ARGUMENT, NAME_TOO_LONG, READ_ONLY, OUTSIDE_ALLOWED, PROTECTED_PATH
   */
  resolve(typed: string, intent: Intent): Location;
  /**
   * Returns the check that refuses a path with this intent; undefined for a path that may be used.
   * @throws FilewrightError INVALID_ARGUMENT, NAME_TOO_LONG for what is no path
   */
  gateOf(typed: string, intent: Intent): PathGate | undefined;
  /**
   * Returns true when a real path has, below its root, a name of Filewright's own temporary files. No tool uses one:
   * listings hide these names, and what has one is removed without a call of `delete`.
   */
  isTemporary(real: string): boolean;
  /** Returns true when an absolute path may be written, temporary files of Filewright's own changes included. */
  mayWrite(path: string): boolean;
  /** Returns true when an absolute path, as written, may be shown: it is readable, and not denied. */
  mayRead(path: string): boolean;
  /** Returns true when the content at a real path is a secret that may not be read without a grant. */
  secret(real: string): boolean;
  /** Returns true where the content at a real path may be read without a grant only if it holds no secret. */
  checksContent(real: string): boolean;
  /** Returns the rows of the table of places that apply to a real path. */
  place(real: string): PlaceVerdict;
  /** Returns the facts that a call needs about a real path that it writes. */
  written(real: string): WrittenPathFacts;
  /**
   * Returns a path relative to the working directory when inside it, otherwise absolute; it can be
   * passed back unchanged.
   */
  display(path: string): string;
  /** Returns {@link Resolver.display} with control and bidirectional characters escaped, for texts. */
  show(path: string): string;
}

/** Returns the path with all links resolved. Names at its end that do not exist are kept. */
export type Realpath = (path: string) => string | Promise<string>;

/**
 * Creates a resolver. The roots and the working directory are resolved here and never again:
 * retargeting a link that named one of them changes nothing.
 */
export async function createResolver(
  given: SandboxPolicy,
  realpath: Realpath = (path) => path,
): Promise<Resolver> {
  const policy = checkPolicy(given);
  const real = new Map<string, string>();
  for (const path of [policy.cwd, ...(policy.read ?? []), ...policy.write]) {
    if (!real.has(path)) real.set(path, await realpath(path));
  }
  const of = (path: string): string => real.get(path) ?? path;
  const pinned: SandboxPolicy = Object.freeze({
    ...policy,
    cwd: of(policy.cwd),
    read: policy.read === null ? null : Object.freeze([...new Set(policy.read.map(of))]),
    write: Object.freeze([...new Set(policy.write.map(of))]),
  });
  return makeResolver(
    pinned,
    [...real].filter(([from, to]) => from !== to),
  );
}

/**
 * The maximum number of paths whose facts are cached. A path means the same until the workspace is closed, and an agent
 * names few paths, each in several calls. When the number is reached, all are dropped.
 */
const MAX_KEPT_PATHS = 1024;
/** The maximum length of a path whose facts are cached, in UTF-16 units. */
const MAX_KEPT_PATH_LENGTH = 256;

/** Returns a function that resolves paths, and caches their locations. */
function cachedResolve(resolve: Resolver["resolve"]): Resolver["resolve"] {
  const located: Record<Intent, Map<string, Location>> = { read: new Map(), write: new Map() };
  return (typed, intent) =>
    located[intent].get(typed) ?? keep(located[intent], typed, resolve(typed, intent));
}

/** Returns a function that finds out what a written path is, and caches it. */
function cachedWritten({ isTemporary, place }: Pick<Resolver, "isTemporary" | "place">): Resolver["written"] {
  const known = new Map<string, WrittenPathFacts>();
  const find = (real: string): WrittenPathFacts => ({
    isTemporary: isTemporary(real),
    row: place(real).write,
    repositories: possibleRepositoriesOn(real),
  });
  return (real) => known.get(real) ?? keep(known, real, find(real));
}

/** Caches what was found out about a path, if it is short, and returns it. */
function keep<Found>(known: Map<string, Found>, path: string, found: Found): Found {
  if (path.length > MAX_KEPT_PATH_LENGTH) return found;
  if (known.size >= MAX_KEPT_PATHS) known.clear();
  known.set(path, found);
  return found;
}

/** Creates the resolver of a policy with real paths. `aliases` maps each configured root to its real path. */
function makeResolver(policy: SandboxPolicy, aliases: readonly (readonly [string, string])[]): Resolver {
  const rules = compilePathRules(policy);
  const roots: Record<Intent, readonly string[] | null> = { read: policy.read, write: policy.write };
  const allRoots = [...(policy.read ?? ["/"]), ...policy.write];

  const convert = pathConverterOf(policy, [...allRoots, ...aliases.map(([named]) => named)]);
  const absolute = convert ?? ((typed: string) => joinPath(policy.cwd, canonicalPath(typed)));

  const isTemporary = (path: string): boolean => hasTempName(path, rootOf(path, allRoots) ?? "/");
  const resolve = cachedResolve((typed, intent) => {
    const found = find(typed, intent);
    if ("gate" in found) throw found.error;
    return found.at;
  });
  const find = (typed: string, intent: Intent): Located => {
    const found = locate(typed, intent);
    if ("gate" in found || !isTemporary(found.at.path)) return found;
    return { gate: "temporary", error: temporaryName(typed) };
  };
  const gateOf = (typed: string, intent: Intent): PathGate | undefined => {
    const found = find(typed, intent);
    return "gate" in found ? found.gate : undefined;
  };
  const mayWrite = (path: string): boolean => {
    try {
      return "at" in locate(path, "write");
    } catch (error) {
      if (error instanceof FilewrightError) return false;
      throw error;
    }
  };
  const locate = (typed: string, intent: Intent): Located => {
    checkPath(typed);
    const { path: named, directory } = normalise(absolute(typed));
    if (intent === "write" && policy.readOnly) return { gate: "read-only", error: readOnly(typed) };
    const path = resolveAlias(named, allRoots, aliases);
    const root = rootOf(path, roots[intent]);
    if (root === null) return { gate: "root", error: outside(typed, intent) };
    const verdict = rules.check(path);
    if (verdict.denied) return { gate: "deny", error: outside(typed, intent) };
    if (intent === "write" && verdict.protected)
      return { gate: "protected", error: protectedPlace(typed, rowOf(verdict.row)) };
    return { at: makeLocation({ typed, path, intent, root, directory }) };
  };
  const display = (path: string): string => relativeTo(path, policy.cwd) ?? displayPath(path, policy.paths);
  const mayRead = (named: string): boolean => {
    const path = resolveAlias(named, allRoots, aliases);
    const reachable = policy.followSymlinks === "any" || rootOf(path, policy.read) !== null;
    return reachable && !rules.check(path).denied;
  };
  const secret = (real: string): boolean => rules.check(real).secret;
  const checksContent = (real: string): boolean => policy.secrets === "grant" && !rules.check(real).opened;
  const rowOf = (row: number | undefined): PlaceRow => placeRow(row ?? -1, policy.places ?? []);
  const place = (real: string): PlaceVerdict => {
    const { protected: refused, asks, row, secretRow } = rules.check(real);
    return {
      write: refused || asks ? rowOf(row) : undefined,
      read: secretRow === undefined ? undefined : rowOf(secretRow),
    };
  };
  return Object.freeze({
    policy,
    resolve,
    gateOf,
    isTemporary,
    mayWrite,
    mayRead,
    secret,
    checksContent,
    place,
    written: cachedWritten({ isTemporary, place }),
    display,
    show: (path: string) => escapeControls(display(path)),
  });
}

/** Returns the deepest root that contains a path; null when none does. */
export function rootOf(path: string, roots: readonly string[] | null): string | null {
  if (roots === null) return "/";
  let deepest: string | null = null;
  for (const root of roots) {
    if (isWithin(path, root) && (deepest === null || root.length > deepest.length)) deepest = root;
  }
  return deepest;
}
