/** Roots by the names they had when they were pinned. */
import { isWithin, relativeTo } from "./paths.ts";

/** A root as the policy names it, and its real path. */
export type Alias = readonly [named: string, real: string];

/**
 * Maps a path below a named root onto the root's real path. Of several names
 * around the path, as named and real ones, the deepest counts, as natively.
 */
export function throughAlias(path: string, roots: readonly string[], aliases: readonly Alias[]): string {
  let [name, place] = ["", ""];
  const consider = (from: string, to: string): void => {
    if (from.length > name.length && isWithin(path, from)) [name, place] = [from, to];
  };
  for (const root of roots) consider(root, root);
  for (const [from, to] of aliases) consider(from, to);
  if (name === place) return path;
  const rest = relativeTo(path, name);
  return rest === null || rest === "." ? place : place === "/" ? `/${rest}` : `${place}/${rest}`;
}
