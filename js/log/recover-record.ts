/** Rolls back one change that a dead process has left unfinished. It is loaded for the first record of such a change. */
import type { MaybePromise } from "../backends/backend.ts";
import { entryPath, lstatOrNull } from "../backends/fallback/fallback.ts";
import type { Files } from "../backends/files.ts";
import { isBelowAny, parentOf } from "../backends/paths.ts";
import { discardAsides, rollBack, type RollbackOutcome } from "../backends/transaction/rollback.ts";
import {
  type RecordEntry,
  type RecordHeader,
  pathsOfAsides,
  pathsOfSteps,
  readSteps,
  staysInHistory,
  type Step,
} from "../backends/transaction/step.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { StoredRecord } from "./store.ts";

/** Runs an action while these paths are locked, and returns its result. */
export type RunLocked = <T>(paths: readonly string[], action: () => Promise<T>) => Promise<T>;

/** Where the changes of a recovery are, and which of them are its own. */
export interface RecordTask {
  /** The id of the storage of the paths; undefined for the local disk. */
  readonly storage: string | undefined;
  readonly fs: Files;
  /** Returns true for a path that the workspace may change. */
  readonly mine: (path: string) => boolean;
  readonly locked: RunLocked;
}

/**
 * Rolls back the change of a dead process, if it is unfinished, and closes its record. Undefined when the change
 * belongs to another workspace.
 */
export async function recoverRecord(
  log: StoredRecord,
  header: RecordHeader | undefined,
  { storage, fs, mine, locked }: RecordTask,
): Promise<{ readonly rolledBack: boolean; readonly conflicts: readonly string[] } | undefined> {
  const nothing = { rolledBack: false, conflicts: [] };
  const { steps, given } = readSteps(log.entries);
  if (header === undefined || steps.length === 0) {
    const commit = log.entries.find((entry) => entry.entry === "commit");
    // Without a commit it was interrupted before its first step.
    await log.close(header === undefined ? null : historyGroupOf(commit, header));
    return nothing;
  }
  if (header.storage !== storage || !pathsTouchedByRollback(steps).every(mine)) return undefined;
  const paths = pathsOfSteps(steps);
  const commit = log.entries.find((entry) => entry.entry === "commit");
  let conflicts: readonly string[] = [];
  const isCut = commit === undefined && !wasSingleAtomicOperation(header, steps);
  await locked(paths, async () => {
    if (isCut) {
      conflicts = await conflictsOf(fs, steps, await rollBack(fs, steps, given));
    }
    const kept = await keptTrees(fs, steps, conflicts);
    const asides = [...pathsOfAsides(steps), ...steps.flatMap(({ aside = [] }) => aside)];
    for (const aside of new Set(asides))
      if (!kept.has(aside)) await ifPlaceIsThere(() => discardAsides(fs, aside));
  });
  // Removes the temporary files of an interrupted write.
  for (const directory of new Set(pathsTouchedByRollback(steps).map(parentOf)))
    await ifPlaceIsThere(() => fs.sweep(directory));
  await log.close(historyGroupOf(commit, header));
  return { rolledBack: isCut, conflicts };
}

/** The codes of a path whose directory is gone, is no directory any more, or is a link that leads out of the roots. */
const PLACE_IS_GONE: ReadonlySet<string> = new Set(["NOT_FOUND", "NOT_DIRECTORY", "OUTSIDE_ALLOWED"]);

/** Runs an action on a path, unless the directory of the path is gone. */
async function ifPlaceIsThere(action: () => MaybePromise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!(error instanceof FilewrightError) || !PLACE_IS_GONE.has(error.code)) throw error;
  }
}

/** Returns true when the directory of a recorded path is not there any more. */
async function isPlaceGone(fs: Files, path: string): Promise<boolean> {
  let isGone = true;
  await ifPlaceIsThere(async () => {
    const directory = await lstatOrNull(fs, parentOf(path));
    isGone = directory?.type !== "dir" || (await entryPath(fs, path)) !== path;
  });
  return isGone;
}

/**
 * Returns the paths that a rollback has left to others. A path whose directory is gone is one of them: another attempt
 * would fail as well. @throws when another attempt can succeed
 */
async function conflictsOf(
  fs: Files,
  steps: readonly Step[],
  { conflicts, failed }: RollbackOutcome,
): Promise<readonly string[]> {
  const moves = steps.filter((step) => step.kind === "move");
  const otherEnds = new Map(moves.flatMap(({ from, to }) => [[to, from] as const, [from, to] as const]));
  const gone = new Set<string>();
  const above = new Set<string>();
  for (const path of failed) {
    const other = otherEnds.get(path);
    if (!(await isPlaceGone(fs, path)) && (other === undefined || !(await isPlaceGone(fs, other)))) continue;
    gone.add(path);
    for (let at = parentOf(path); at !== "/" && !above.has(at); at = parentOf(at)) above.add(at);
  }
  // The steps of what is above or below such a path were not tried.
  const isLeft = (path: string): boolean => gone.has(path) || above.has(path) || isBelowAny(path, gone);
  if (!failed.every(isLeft))
    throw new FilewrightError("IO_ERROR", "an interrupted change was not rolled back completely");
  return [...new Set([...conflicts, ...failed])];
}

/**
 * Returns the removed trees that cannot be put back, because another entry is there: they stay set aside beside it. What
 * another process writes to the path of a file replaces that file; it does not replace the files of a tree.
 */
async function keptTrees(
  fs: Files,
  steps: readonly Step[],
  conflicts: readonly string[],
): Promise<ReadonlySet<string>> {
  const trusted = fs.trusted();
  const left = new Set(conflicts);
  const kept = new Set<string>();
  for (const step of steps) {
    if (step.kind !== "delete" || step.aside === undefined || !left.has(step.path)) continue;
    const { aside } = step;
    await ifPlaceIsThere(async () => {
      const stat = await lstatOrNull(trusted, aside);
      if (stat?.type === "dir" && (await trusted.listDir(aside, { facts: false })).length > 0)
        kept.add(aside);
    });
  }
  return kept;
}

/** Returns the group in whose history a record is kept; null when it is removed. */
function historyGroupOf(commit: RecordEntry | undefined, { cwd }: RecordHeader): string | null {
  return commit?.entry === "commit" && staysInHistory(commit) ? cwd : null;
}

/** Returns every path that the rollback of these steps may touch. */
function pathsTouchedByRollback(steps: readonly Step[]): readonly string[] {
  return [...pathsOfSteps(steps), ...steps.flatMap((step) => ("scratch" in step ? [step.path] : []))];
}

/** Returns true when a change was a single atomic operation, which was made completely or not at all. */
function wasSingleAtomicOperation({ atomic }: RecordHeader, steps: readonly Step[]): boolean {
  const [only] = steps;
  return atomic !== true && steps.length === 1 && only?.aside === undefined && !("scratch" in (only as Step));
}
