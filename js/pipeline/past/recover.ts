/** Rolls back the unfinished changes of dead processes when a workspace is opened, and describes that in one line. */
import { entryPath } from "../../backends/fallback/fallback.ts";
import { escapeControls, plural } from "../../engine/escape.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { NO_RECOVERY, type Recovery, recoveryProblemOf } from "../../log/index.ts";
import type { Location } from "../../policy/index.ts";
import type { PathUse } from "../../tools/lib/tool.ts";
import { putBackUse } from "../../tools/lib/put-back.ts";
import { lockPathsOfCall, withLocks } from "../path-locks.ts";
import type { Session } from "../session.ts";

/**
 * Rolls back unfinished changes of paths that this workspace may write. A change that cannot be rolled back now is tried
 * again by the next workspace, and a workspace opens without it: an error of ours is the `problem` of the answer.
 * @throws any other error of the journal, such as a defect in one of the host
 */
export async function recoverSession(session: Session): Promise<Recovery> {
  try {
    return await session.past.rollbacks.recover(
      session.files.fs,
      session.files.resolver.mayWrite,
      (paths, action) => withLocks(lockPathsForWrite(session, paths, undefined), action),
    );
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    return Object.freeze({ ...NO_RECOVERY, problem: recoveryProblemOf(error) });
  }
}

/**
 * Resolves paths and locks them. A path whose directory leads nowhere any more is locked as it was recorded.
 * @throws FilewrightError as a write to them would
 */
async function lockPathsForWrite(
  session: Session,
  paths: readonly string[],
  signal: AbortSignal | undefined,
): Promise<() => void> {
  const locations: Location[] = paths.map((path) => session.files.resolver.resolve(path, "write"));
  const uses: PathUse[] = [];
  for (const path of paths) {
    const leads = await entryPath(session.files.fs, path).then(
      () => true,
      () => false,
    );
    uses.push({ ...putBackUse("path", path), belowReplaced: !leads });
  }
  return lockPathsOfCall(session, uses, { fs: session.files.fs, locations, signal });
}

/** The maximum number of paths that the line names. */
const MAX_NAMED_PATHS = 5;

/**
 * Describes the recovery of interrupted changes for people, as one line without its end; undefined when there is nothing
 * to report. Records that are not authentic are omitted, because they remain and every command would repeat them.
 */
export function describeRecovery({ rolledBack, damaged, conflicts, problem }: Recovery): string | undefined {
  const parts: string[] = [];
  if (rolledBack > 0) parts.push(`rolled back ${plural(rolledBack, "interrupted change")}`);
  if (damaged > 0)
    parts.push(
      `${plural(damaged, "journal record")} damaged: rolled back as far as readable, kept in journal/damaged`,
    );
  if (conflicts.length > 0) {
    const named = conflicts.slice(0, MAX_NAMED_PATHS).map(escapeControls).join(", ");
    const more = conflicts.length - MAX_NAMED_PATHS;
    parts.push(`left as changed by others: ${named}${more > 0 ? ` and ${more} more` : ""}`);
  }
  if (problem !== undefined)
    parts.push(
      `interrupted changes may be left (${problem.code}: ${escapeControls(problem.message)}); the next start tries again`,
    );
  return parts.length === 0 ? undefined : parts.join("; ");
}
