/**
 * Checks the paths that a call writes against the table of places, in addition to the checks of every
 * backend. Refuses places named by a repository below the roots and names of temporary files to which a link leads,
 * and returns the places for which a row requires an approval.
 */
import type { Files } from "../backends/files.ts";
import type { DecisionSource, PlaceRow } from "../policy/index.ts";
import { temporaryName } from "../backends/confined/outside.ts";
import { lstatOrNull } from "../backends/fallback/fallback.ts";
import { isWithin } from "../backends/paths.ts";
import { walkTree } from "../backends/fallback/walk-tree.ts";
import { Yielder } from "../engine/yielder.ts";
import { checkAborted, FilewrightError } from "../engine/errors.ts";
import type { Confirm } from "../hooks/confirm.ts";
import { escapeControls } from "../engine/escape.ts";
import type { Call } from "../tools/lib/tool.ts";
import type { LockKey } from "../backends/path-locker.ts";
import type { Session } from "./session.ts";

/** The number of paths that are checked at the same time. */
const PATHS_CHECKED_AT_ONCE = 64;

/** A written path for which a row requires an approval. */
export interface PlaceToApprove {
  /** The path of the written place, as results show it. */
  readonly path: string;
  readonly row: PlaceRow;
}

/** One real path of a call. */
export type WrittenPath = LockKey & {
  /** The path of the call whose real path this is; undefined for a directory that is only read. */
  readonly of?: string | undefined;
  readonly write: boolean;
  /** True when nothing can be there yet, because an entry above it is replaced by a directory, which is locked. */
  readonly belowReplaced?: boolean | undefined;
  /** The real path of the entry that is copied or moved to this destination. */
  readonly from?: string | undefined;
};

/**
 * Checks the real paths of a call, and the destinations of a directory's content. `fs` is the storage as
 * the call sees it. Returns the places for which a row requires an approval.
 *
 * @throws FilewrightError PROTECTED_PATH for a place that a repository's configuration names, and for the name of a
 * temporary file
 */
export async function checkWrittenPlaces(
  session: Pick<Session, "files">,
  keys: readonly WrittenPath[],
  { fs, signal }: Pick<Call, "fs" | "signal">,
): Promise<readonly PlaceToApprove[]> {
  // A directory with many written files is looked at once.
  const looked = new Map<string, Promise<readonly string[]>>();
  const asked: PlaceToApprove[] = [];
  const yielder = keys.length > PATHS_CHECKED_AT_ONCE ? new Yielder({ signal }) : undefined;
  for (let at = 0; at < keys.length; at += PATHS_CHECKED_AT_ONCE) {
    const checks: Promise<readonly PlaceToApprove[]>[] = [];
    for (const key of keys.slice(at, at + PATHS_CHECKED_AT_ONCE))
      if (key.write) checks.push(checkWrittenPath(session, key, looked, { fs, signal }));
    for (const places of await Promise.all(checks)) asked.push(...places);
    await yielder?.yieldIfDue();
  }
  checkAborted(signal);
  return asked;
}

async function checkWrittenPath(
  { files: { resolver, repositories } }: Pick<Session, "files">,
  { path, tree, from }: WrittenPath,
  looked: Map<string, Promise<readonly string[]>>,
  { fs, signal }: Pick<Call, "fs" | "signal">,
): Promise<readonly PlaceToApprove[]> {
  const { isTemporary, row: ownRow } = resolver.written(path);
  if (isTemporary) throw temporaryName(resolver.display(path));
  const named = [...((await repositories?.placesFor(path, looked)) ?? [])];
  const asked: PlaceToApprove[] = [];
  const checkPlace = (at: string, row: PlaceRow | undefined): void => {
    const place = named.find((one) => isWithin(at, one));
    if (place !== undefined) throw namedPlaceError(resolver, at, place);
    if (row?.decision === "ask") asked.push({ path: resolver.display(at), row });
  };
  checkPlace(path, ownRow);
  if (tree) {
    const below = named.find((place) => isWithin(place, path));
    if (below !== undefined && (await entryTypeAt(fs, below)) !== undefined)
      throw namedPlaceError(resolver, path, below);
  }
  if (from === undefined || (await entryTypeAt(fs, from)) !== "dir") return asked;
  // A copy merges the two trees, so the places of repositories in the existing tree count, too.
  const merges = (await entryTypeAt(fs, path)) === "dir";
  if (merges) named.push(...((await repositories?.placesOf(path)) ?? []));
  for await (const entry of walkTree(fs, from, signal)) {
    const at = path + entry.path.slice(from.length);
    if (merges && entry.type === "dir") named.push(...((await repositories?.placesOf(at)) ?? []));
    checkPlace(at, resolver.place(at).write);
  }
  return asked;
}

/** Returns the type of an entry; undefined when it does not exist or cannot be accessed. */
async function entryTypeAt(fs: Files, path: string): Promise<string | undefined> {
  return (await lstatOrNull(fs, path).catch(() => null))?.type;
}

function namedPlaceError(
  { display }: Session["files"]["resolver"],
  path: string,
  place: string,
): FilewrightError {
  const because = "The configuration of a git repository names it: git runs or obeys what is there.";
  const details = { reason: "place", place: display(place), because };
  return new FilewrightError("PROTECTED_PATH", "is protected from changes", { path: display(path), details });
}

/**
 * The places that need an approval. A rule cannot override them; only the host can except a place. Where nobody
 * can be asked, the answer warns instead.
 */
export function placesSource(confirm: Confirm | undefined): DecisionSource {
  const name = "places";
  return {
    name,
    isInForce: confirm !== undefined,
    decide({ tool, writesAskedPlace }, before) {
      if (confirm === undefined || writesAskedPlace !== true || before?.decision === "ask") return undefined;
      return { decision: "ask", source: name, question: `${tool} writes to a place that needs an approval.` };
    },
  };
}

/** Returns true for a call that only reports its effect. */
export function isDryRun(args: object): boolean {
  return (args as { readonly dry_run?: unknown }).dry_run === true;
}

/** Returns the warnings about places that were written without an approval. */
export function unaskedPlaceWarnings(asked: readonly PlaceToApprove[]): readonly string[] {
  const byPath = new Map(asked.map((place) => [place.path, place.row]));
  return [...byPath].map(
    ([path, { reason }]) => `${escapeControls(path)}: ${reason} Nobody was there to be asked; tell the user.`,
  );
}
