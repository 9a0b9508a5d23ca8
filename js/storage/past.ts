/** The pages of what changed since a version, in storages that keep their commits as data. */
import { compareCodePoints } from "../backends/paths.ts";
import type { Entry, Version } from "./entry.ts";
import type { ChangePage } from "./storage.ts";

/** The last commit that changed a path. */
export interface LastChange {
  /** Grows from commit to commit. */
  readonly order: number;
  readonly version: Version;
  /** Returns what is at the path since. */
  entry(): Entry;
}

/** Returns a page of the last changes. `partly` is the commit within which the page before has ended, and its last path. */
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
    .sort(([a, one], [b, other]) => one.order - other.order || compareCodePoints(a, b));
  const page = found.slice(0, limit);
  const end = found.length > limit ? page.at(-1) : undefined;
  const entries = page.map(([, one]) => one.entry());
  return { head, entries, ...(end === undefined ? {} : { next: `${end[1].version} ${end[0]}` }) };
}
