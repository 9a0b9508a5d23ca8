/**
 * The path resolver of a sandboxed backend: from the path a caller gives to the real path the
 * inner backend gets, or to a refusal.
 *
 * Roots are resolved once. Links are followed here, one name at a time, and no path outside the
 * roots is ever looked at: a refusal is the same whether or not something exists there.
 */
import type { Files } from "../files.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { shortcutsOf } from "../abilities.ts";
import { resolveAlias, childOf, isWithin, joinPath, nameOf, normalise, parentOf } from "../paths.ts";
import type { FsStat } from "../backend.ts";
import { canonicalPath } from "../name-escapes.ts";
import { LinkWalk, type FoundEntry } from "../fallback/links.ts";
import { outside, protectedPath, protectedPlace, readOnly, repositoryPath } from "./outside.ts";
import { placeRow } from "./places.ts";
import { ignoresCase, type Intent, type SandboxPolicy } from "../policy.ts";
import { pathConverterOf, withPathsOf } from "../windows-paths.ts";
import { isRepositoryPart } from "./repository.ts";
import { compilePathRules, type BackendPathRules } from "./rules.ts";

/** The treatment of a link that is the last name of a path: `follow` it, or `keep` it as the entry that is meant. */
export type FinalSymlink = "follow" | "keep";

/** Resolves paths for one inner backend and one policy. */
export interface PathResolver {
  readonly rules: BackendPathRules;
  /** Returns the real path of an allowed path. @throws READ_ONLY, OUTSIDE_ALLOWED, PROTECTED_PATH, LOOP */
  resolve(path: string, intent: Intent, last: FinalSymlink): Promise<string>;
  /**
   * Returns an allowed path without looking whether a name of it is a link, for a storage that refuses such a path
   * itself. Undefined where {@link PathResolver.resolve} has to look, or refuses.
   */
  withoutLooking(path: string, intent: Intent): string | undefined;
  /** Returns true for a real path that is within the roots and not denied. */
  mayRead(real: string): boolean;
  /** Returns {@link PathResolver.resolve} for an operation that removes the whole entry, which must not be a root. */
  resolveForRemoval(path: string): Promise<string>;
  /** Returns a path as the rules see its names: beneath the real path of its root, with its links. */
  nameOf(path: string): string;
  /**
   * Refuses a link whose target, as written, is outside the roots. `link` is its real path. @throws
   * OUTSIDE_ALLOWED
   */
  checkLinkTarget(link: string, target: string): void;
  /** Returns the same resolver for the same files through another object, such as that of a stage. */
  over(inner: Files): PathResolver;
}

/** Resolves the roots and compiles the rules. */
export async function makePathResolver(inner: Files, given: SandboxPolicy): Promise<PathResolver> {
  const policy = withPathsOf(inner, given);
  const real = async (paths: readonly string[]): Promise<readonly string[]> => {
    const resolved: string[] = [];
    for (const path of paths) resolved.push(await inner.realpath(path));
    return resolved;
  };
  const pinned: SandboxPolicy = {
    ...policy,
    cwd: await inner.realpath(policy.cwd),
    read: policy.read === null ? null : await real(policy.read),
    write: await real(policy.write),
  };
  const rules = compilePathRules(pinned);
  const roots: Record<Intent, readonly string[]> = { read: pinned.read ?? ["/"], write: pinned.write };
  const allRoots = [...(pinned.read ?? ["/"]), ...pinned.write];
  const aliases = [policy.cwd, ...(policy.read ?? []), ...policy.write].map(
    (path, i) => [path, [pinned.cwd, ...(pinned.read ?? []), ...pinned.write][i] as string] as const,
  );

  const convert = pathConverterOf(policy, [...allRoots, ...aliases.map(([named]) => named)]);
  const namedPath = (path: string): string =>
    resolveAlias(normalise(convert?.(path) ?? canonicalPath(path)).path, allRoots, aliases);
  const enterOn = async (inner: Files, path: string, intent: Intent, last: FinalSymlink): Promise<string> => {
    if (intent === "write" && policy.readOnly) throw readOnly(path);
    const named = namedPath(path);
    const check = (at: string): void => {
      const verdict = rules.check(at);
      if (verdict.denied) throw outside(path, intent);
      if (intent === "write" && verdict.protected)
        throw protectedPlace(path, placeRow(verdict.row ?? -1, policy.places ?? []));
    };
    // Checks the path as written and as resolved: a rule on a name also covers a link of that name.
    check(named);
    const resolved = await followLinks(inner, named, {
      roots: roots[intent],
      links: policy.followSymlinks,
      last,
      foldsCase: ignoresCase(policy),
      // Another spelling of the same name may be what a rename wants, and the rules ignore its letter case.
      foldsKept: convert !== undefined,
      refuse: () => outside(path, intent),
    });
    // The target of a link can have names that refer to another file.
    if (resolved !== named) convert?.(resolved);
    if (resolved !== named) check(resolved);
    if (intent === "write" && rules.check(resolved).part) {
      const within = [...roots.read, ...roots.write];
      if (await isRepositoryPart(inner, resolved, within)) throw repositoryPath(path);
    }
    return resolved;
  };
  const isAllowed = (path: string, intent: Intent): boolean =>
    roots[intent].some((root) => isWithin(path, root)) && !rules.check(path).denied;
  const withoutLookingIn = (inner: Files, path: string, intent: Intent): string | undefined => {
    if (!shortcutsOf(inner).refusesLinks) return undefined;
    const named = namedPath(path);
    return isAllowed(named, intent) ? named : undefined;
  };
  const enterWholeOn = async (inner: Files, path: string): Promise<string> => {
    const resolved = await enterOn(inner, path, "write", "keep");
    const everyRoot = [...(pinned.read ?? []), ...pinned.write];
    if (everyRoot.some((root) => isWithin(root, resolved))) {
      throw protectedPath(path, "is a root of the workspace, or holds one");
    }
    if (rules.check(resolved).guarded) throw protectedPath(path);
    return resolved;
  };
  const leads = (link: string, target: string): void => {
    const path = namedPath(joinPath(parentOf(link), target));
    const everyRoot = [...roots.read, ...roots.write];
    if (!everyRoot.some((root) => isWithin(path, root)) || rules.check(path).denied)
      throw outside(target, "read");
  };
  const over = (other: Files): PathResolver => ({
    rules,
    resolve: (path, intent, last) => enterOn(other, path, intent, last),
    withoutLooking: (path, intent) => withoutLookingIn(other, path, intent),
    mayRead: (path) => isAllowed(path, "read"),
    resolveForRemoval: (path) => enterWholeOn(other, path),
    nameOf: namedPath,
    checkLinkTarget: leads,
    over,
  });
  return over(inner);
}

interface FollowOptions {
  readonly roots: readonly string[];
  readonly links: SandboxPolicy["followSymlinks"];
  readonly last: FinalSymlink;
  /** True when the storage finds a name in another spelling, so that the stored one must be looked up. */
  readonly foldsCase: boolean;
  /** True when that applies to the entry that is meant itself, too: a short name of Windows is no spelling of it. */
  readonly foldsKept: boolean;
  refuse(): FilewrightError;
}

/** Returns the path with its links followed, or refuses it when one leads out of the roots. */
async function followLinks(inner: Files, path: string, how: FollowOptions): Promise<string> {
  const within = (at: string, roots: readonly string[]): boolean => roots.some((root) => isWithin(at, root));
  if (!within(normalise(path).path, how.roots)) throw how.refuse();
  if (!inner.abilities.links) return path;

  const asksName = how.foldsKept && how.last === "keep";
  if (!asksName && (await isRealPath(inner, path, how.last))) return path;

  const bounds = how.links === "any" ? ["/"] : how.roots;
  const walk = new LinkWalk(path, how.last === "follow");
  const look = async (at: string): Promise<FoundEntry | null> => {
    if (!within(at, bounds)) {
      // A directory above a root is a real one, because the roots contain no links.
      if (bounds.some((root) => isWithin(root, at))) return UNCHECKED_DIRECTORY;
      throw how.refuse();
    }
    const isKept = walk.isLast && how.last === "keep";
    if (bounds.includes(at) || (isKept && !how.foldsKept)) return UNCHECKED_DIRECTORY;
    const stat = await factsOrNull(inner, at);
    if (stat === null) return null;
    if (stat.type !== "symlink")
      return { type: stat.type, name: how.foldsCase ? await storedName(inner, at) : undefined };
    if (isKept) return UNCHECKED_DIRECTORY;
    if (how.links === "never") throw how.refuse();
    return { type: "symlink", target: canonicalPath(await inner.readLink(at)) };
  };
  for (let name = walk.next(); name !== undefined; name = walk.next())
    walk.found(await look(childOf(walk.reached, name)));
  const real = walk.resolved(true);
  if (!within(real, bounds)) throw how.refuse();
  return real;
}

/**
 * Returns the name under which an entry is stored; undefined when the storage cannot tell. `path` has no link, and
 * the names of the directories in it are stored ones.
 */
async function storedName(inner: Files, path: string): Promise<string | undefined> {
  const real = await inner.realpath(path);
  return parentOf(real) === parentOf(path) ? nameOf(real) : undefined;
}

/** The found entry that stands for a directory which need not be looked up. */
const UNCHECKED_DIRECTORY: FoundEntry = { type: "dir" };

/**
 * Returns true when the inner backend finds no link in the path. This takes one call instead of one for each name.
 */
async function isRealPath(inner: Files, path: string, last: FinalSymlink): Promise<boolean> {
  const upTo = last === "keep" ? parentOf(path) : path;
  try {
    return (await inner.realpath(upTo)) === upTo;
  } catch {
    // The error means a loop, or a link to another place: the walk name by name finds out which.
    return false;
  }
}

async function factsOrNull(inner: Files, path: string): Promise<FsStat | null> {
  try {
    return await inner.lstat(path);
  } catch (error) {
    if (error instanceof FilewrightError && error.code === "NOT_FOUND") return null;
    throw error;
  }
}
