/**
 * The list of a change in the form in which a disk makes it in one job, together with its record
 * (`js/backends/transaction/recorded-list.ts`). A list that has anything else is made by steps.
 */
import { type ListedChange, MAX_LISTED } from "../../backends/transaction/recorded-list.ts";
import type { Change, Put, Remove, Transfer } from "./change.ts";

/** The most bytes that a list replaces or copies: the record gets the replaced ones in memory, and the job is a quick one. */
const MAX_LISTED_BYTES: number = 64 * 1024 * 1024;

/** Returns the changes of a list as a disk makes them; undefined where it cannot make all of them in one job. */
export function listedChanges(changes: readonly Change[]): readonly ListedChange[] | undefined {
  if (changes.length > MAX_LISTED) return undefined;
  const listed: ListedChange[] = [];
  const paths: string[] = [];
  let left = MAX_LISTED_BYTES;
  for (const change of changes) {
    const one = listedChange(change);
    if (one === undefined) return undefined;
    // A directory of one change may be missing for another one, or is moved with what another one changes.
    if (changes.length > 1 && isOfDirectory(change)) return undefined;
    if (one.do === "put") left -= one.was?.bytes.length ?? 0;
    if (change.do === "copy") left -= change.size;
    listed.push(one);
    paths.push(...pathsOfListed(one));
  }
  const isList = listed.length > 0 && new Set(paths).size === paths.length;
  return isList && left >= 0 ? listed : undefined;
}

/** Returns the paths that a change of a list reads or writes. */
function pathsOfListed(change: ListedChange): readonly string[] {
  return change.do === "move" || change.do === "copy" ? [change.path, change.from] : [change.path];
}

function isOfDirectory(change: Change): boolean {
  return change.do === "mkdir" || (change.do === "move" && change.type === "dir");
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
      return listedTransfer(change);
  }
}

function listedPut({ target, was, now, parents }: Put): ListedChange | undefined {
  const mode = now.mode === undefined ? undefined : Number.parseInt(now.mode, 8);
  const put = {
    do: "put",
    path: target,
    bytes: now.bytes,
    hash: now.hash,
    mode,
    was: null,
    parents,
  } as const;
  if (was === null) return put;
  const { bytes, version, stat } = was;
  if (bytes === null || version === undefined || stat === undefined) return undefined;
  // A version need not cover the permission bits, which the undo of a write that sets them restores.
  if (mode !== undefined && mode !== stat.mode) return undefined;
  return { ...put, was: { bytes, version, stat }, parents: false };
}

function listedRemoval({ path, type, tree, was: { version } }: Remove): ListedChange | undefined {
  return type !== "file" || tree || version === undefined ? undefined : { do: "remove", path, version };
}

function listedTransfer(change: Transfer): ListedChange | undefined {
  const { do: kind, path, from, type, version, over, overwrite, parents } = change;
  const isFile = type === "file" && version !== undefined && (over === null || over === "file");
  const isDirectory = type === "dir" && kind === "move" && over === null;
  if (!isFile && !isDirectory) return undefined;
  return { do: kind, path, from, version, isOver: over !== null, overwrite, parents };
}
