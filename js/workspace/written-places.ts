/**
 * What the table of places says of the paths that a call writes, beyond what every backend refuses: places that a
 * repository below the roots names are refused, and rows that ask are told.
 */
import type { Decision, PlaceRow } from "../access/index.ts";
import type { FsBackend } from "../backends/backend.ts";
import { lstatOrNull } from "../backends/fallback.ts";
import { isWithin } from "../backends/paths.ts";
import { walkTree } from "../backends/walk-tree.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { Confirm } from "../hooks/confirm.ts";
import { escapeControls } from "../engine/escape.ts";
import type { Call } from "../tools/tool.ts";
import type { LockKey } from "./locks.ts";
import type { Session } from "./session.ts";

/** A path that is written although a row wants a person to be asked. */
export interface AskedPlace {
  /** As it is shown. */
  readonly path: string;
  readonly row: PlaceRow;
}

/** One real path of a call. */
export type WrittenKey = LockKey & {
  readonly write: boolean;
  /** Of a destination: the real path of what is copied or moved there. */
  readonly from?: string | undefined;
};

/**
 * Judges the real paths of a call, and those that a directory's content comes to lie at. `fs`: as the call sees it.
 *
 * @throws FilewrightError PROTECTED_PATH for a place that a repository's configuration names
 */
export async function judgeWritten(
  session: Pick<Session, "resolver" | "repositories">,
  keys: readonly WrittenKey[],
  { fs, signal }: Pick<Call, "fs" | "signal">,
): Promise<readonly AskedPlace[]> {
  const written = keys.filter(({ write }) => write);
  const asked = await Promise.all(written.map((key) => judgeKey(session, key, fs, signal)));
  return asked.flat();
}

async function judgeKey(
  { resolver, repositories }: Pick<Session, "resolver" | "repositories">,
  { path, tree, from }: WrittenKey,
  fs: FsBackend,
  signal: AbortSignal | undefined,
): Promise<readonly AskedPlace[]> {
  const named = [...((await repositories?.placesFor(path)) ?? [])];
  const asked: AskedPlace[] = [];
  const judge = (at: string): void => {
    const place = named.find((one) => isWithin(at, one));
    if (place !== undefined) throw namedPlace(resolver, at, place);
    const row = resolver.place(at).write;
    if (row?.decision === "ask") asked.push({ path: resolver.display(at), row });
  };
  judge(path);
  if (tree) {
    const below = named.find((place) => isWithin(place, path));
    if (below !== undefined && (await typeAt(fs, below)) !== undefined)
      throw namedPlace(resolver, path, below);
  }
  if (from === undefined || (await typeAt(fs, from)) !== "dir") return asked;
  // Two trees become one: repositories that are there already have their places, too.
  const merges = (await typeAt(fs, path)) === "dir";
  if (merges) named.push(...((await repositories?.placesOf(path)) ?? []));
  for await (const entry of walkTree(fs, from, signal)) {
    const at = path + entry.path.slice(from.length);
    if (merges && entry.type === "dir") named.push(...((await repositories?.placesOf(at)) ?? []));
    judge(at);
  }
  return asked;
}

/** What is at a path; undefined where nothing is, or nothing that may be looked at. */
async function typeAt(fs: FsBackend, path: string): Promise<string | undefined> {
  return (await lstatOrNull(fs, path).catch(() => null))?.type;
}

function namedPlace({ display }: Session["resolver"], path: string, place: string): FilewrightError {
  const because = "The configuration of a git repository names it: git runs or obeys what is there.";
  const details = { reason: "place", place: display(place), because };
  return new FilewrightError("PROTECTED_PATH", "is protected from changes", { path: display(path), details });
}

/** A decision on a change, with what the rows say that ask: no rule, only the host's own exception takes them out. */
export function withPlaces(
  decision: Decision,
  asked: readonly AskedPlace[],
  confirm: Confirm | undefined,
): Decision {
  return decision === "allow" && confirm !== undefined && asked.length > 0 ? "ask" : decision;
}

/** Whether a call only tells what it would do. */
export function isDryRun(args: object): boolean {
  return (args as { readonly dry_run?: unknown }).dry_run === true;
}

/** What an answer says of places that were written without a question. */
export function warningsOf(asked: readonly AskedPlace[]): readonly string[] {
  const byPath = new Map(asked.map((place) => [place.path, place.row]));
  return [...byPath].map(
    ([path, { reason }]) => `${escapeControls(path)}: ${reason} Nobody was there to be asked; tell the user.`,
  );
}
