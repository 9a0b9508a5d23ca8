/** Maps a path below a root's configured name to the root's real path. */
import { isWithin, relativeTo } from "../paths.ts";

/** A root as the policy names it, and its real path. */
export type Alias = readonly [named: string, real: string];

/**
 * Maps a path below a named root onto the root's real path. Where several names, configured or
 * real, contain the path, the deepest one counts, as in the native resolver.
 */
export function resolveAlias(path: string, roots: readonly string[], aliases: readonly Alias[]): string {
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
