/** The pages of what changed since a version, for the storages that compute them here: memory and S3. */
import { compareCodePoints } from "../backends/paths.ts";
import type { Entry, Version } from "./entry.ts";
import type { ChangePage } from "./storage.ts";

/** The last commit that changed a path. */
export interface LastChange {
  /** Grows from commit to commit. Comparable within one call of {@link changePage} only. */
  readonly order: number;
  readonly version: Version;
  /** Returns the entry that the change left, or one of type `gone`. */
  entry(): Entry;
}

/**
 * Returns a page of the last changes, by commit and then by path. `partly` is where the page before has ended: the order of
 * the commit, and the last path on the page; `last` then begins with that commit. `SINCE_FORM` of each storage reads `next`.
 */
export function changePage(
  head: Version,
  last: ReadonlyMap<string, LastChange>,
  limit: number,
  partly: { readonly order: number; readonly after: string } | undefined,
): ChangePage {
  const isNext = (path: string, order: number): boolean =>
    partly === undefined || order > partly.order || compareCodePoints(path, partly.after) > 0;
  const found = [...last]
    .filter(([path, { order }]) => isNext(path, order))
    .sort(([a, change], [b, other]) => change.order - other.order || compareCodePoints(a, b));
  const page = found.slice(0, limit);
  const end = found.length > limit ? page.at(-1) : undefined;
  const entries = page.map(([, change]) => change.entry());
  return { head, entries, ...(end === undefined ? {} : { next: `${end[1].version} ${end[0]}` }) };
}
