/**
 * The list of a change in the form in which a disk makes it in one job, together with its record
 * (`js/backends/transaction/recorded-list.ts`). A list that has anything else is made by steps.
 */
import { type ListedChange, MAX_LISTED } from "../../backends/transaction/recorded-list.ts";
import type { Change, Put, Remove } from "./change.ts";

/** The most bytes that a list replaces. The record gets them in memory. */
const MAX_REPLACED_BYTES: number = 64 * 1024 * 1024;

/** Returns the changes of a list as a disk makes them; undefined where it cannot make all of them in one job. */
export function listedChanges(changes: readonly Change[]): readonly ListedChange[] | undefined {
  if (changes.length > MAX_LISTED) return undefined;
  const listed: ListedChange[] = [];
  const paths = new Set<string>();
  let left = MAX_REPLACED_BYTES;
  for (const change of changes) {
    const one = listedChange(change);
    if (one === undefined) return undefined;
    if (one.do === "put") left -= one.was?.bytes.length ?? 0;
    listed.push(one);
    paths.add(one.path);
  }
  // A directory of one change may be missing for another one.
  const hasDirectory = changes.length > 1 && listed.some((one) => one.do === "mkdir");
  const isList = paths.size === changes.length && paths.size > 0 && !hasDirectory;
  return isList && left >= 0 ? listed : undefined;
}

function listedChange(change: Change): ListedChange | undefined {
  switch (change.do) {
    case "put":
      return listedPut(change);
    case "remove":
      return listedRemoval(change);
    case "mkdir":
      return { do: "mkdir", path: change.path, parents: change.parents };
    default:
      return undefined;
  }
}

function listedPut({ target, was, now, parents }: Put): ListedChange | undefined {
  const hash = typeof now.hash === "string" ? now.hash : undefined;
  const mode = now.mode === undefined ? undefined : Number.parseInt(now.mode, 8);
  const put = { do: "put", path: target, bytes: now.bytes, hash, mode } as const;
  if (was === null) return { ...put, was, parents };
  const { bytes, version, stat } = was;
  if (bytes === null || version === undefined || stat === undefined) return undefined;
  // A version need not cover the permission bits, which the undo of a write that sets them restores.
  if (mode !== undefined && mode !== stat.mode) return undefined;
  return { ...put, was: { bytes, version, stat }, parents: false };
}

function listedRemoval({ path, type, tree, was: { version } }: Remove): ListedChange | undefined {
  return type !== "file" || tree || version === undefined ? undefined : { do: "remove", path, version };
}
