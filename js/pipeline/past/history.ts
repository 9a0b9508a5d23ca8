/**
 * The history of a workspace: lists the calls that can be undone, undoes them, and rolls back the
 * unfinished changes of dead processes. The log has the steps; this file applies the policy
 * and the locks to them, shows each caller its own changes, and describes a recovery in one line.
 */
import type { Files } from "../../backends/files.ts";
import { entryPath, lstatOrNull } from "../../backends/fallback/fallback.ts";
import { isBelowAny, parentOf } from "../../backends/paths.ts";
import type { Location } from "../../policy/index.ts";
import { checkAborted, FilewrightError } from "../../engine/errors.ts";
import {
  type HistoryRecord,
  NO_RECOVERY,
  planUndo,
  type Recovery,
  recoveryProblemOf,
  undoableChange,
  undoChange,
} from "../../log/index.ts";
import type { PathUse } from "../../tools/lib/tool.ts";
import type { Facts } from "../facts.ts";
import { effectsFrom } from "../observe.ts";
import { lockPathsOfCall, withLocks } from "../path-locks.ts";
import { withStage } from "../staged.ts";
import type { Session } from "../session.ts";
import type { HistoryEntry } from "../../tools/lib/history-entry.ts";
import type { UndoableHistory } from "../../tools/lib/past.ts";
import { putBackUse } from "../../tools/lib/put-back.ts";
import { changesOfPlan, putBackPath } from "./put-back.ts";
import { escapeControls, plural } from "../../engine/escape.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";

/** The options of `ws.history`. */
export interface HistoryOptions {
  /** True to include the calls that cannot be undone, such as commands. Default false. */
  readonly unrecorded?: boolean | undefined;
}

/** The result of an undo. */
export interface Undone {
  /** The id of the undo itself; undo it to restore the change. */
  readonly callId: string;
  /** The paths that the undo restored. */
  readonly paths: readonly string[];
}

/** Returns the calls that can be undone, the newest first; with `all`, also those that cannot. */
export async function listHistory(session: Session, all = false): Promise<readonly HistoryEntry[]> {
  const records = await withStage(session).past.log.list();
  return records
    .filter(({ undoable }) => all || undoable)
    .map((record) => toHistoryEntry(record, session.files.resolver.display));
}

/** Returns a change of the history as its callers see it. */
export function toHistoryEntry(
  { header, paths, undoable }: HistoryRecord,
  display: (path: string) => string,
): HistoryEntry {
  const { callId, tool, time, agent, undoOf, undoes, allowedBy } = header;
  return Object.freeze(
    withoutUndefined({
      callId,
      tool,
      time: new Date(time).toISOString(),
      paths: Object.freeze(paths.map(display)),
      agent,
      undoOf,
      undoes,
      unrecorded: undoable ? undefined : true,
      allowedBy,
    }),
  );
}

/** The error codes for a call that the history does not list. */
const NOT_IN_HISTORY: ReadonlySet<string> = new Set(["NOT_FOUND", "UNSUPPORTED_OPERATION"]);

/** The own work of a host on the past: the workspace as it works on it, its id in the history, its facts. */
export interface HostWork {
  readonly session: Session;
  readonly callId: string;
  readonly facts: Facts;
}

/** The paths of an undo. Both lists are filled later, so that a failure can name what was resolved until then. */
interface UndonePaths {
  readonly uses: PathUse[];
  readonly locations: Location[];
}

/** Tells which call an undo takes back, and by which names a failure is worded. @throws FilewrightError CANCELLED */
export function beginUndo(
  { session, facts }: HostWork,
  undone: string,
  signal: AbortSignal | undefined,
): UndonePaths {
  const paths: UndonePaths = { uses: [], locations: [] };
  facts.tell({ what: "undid", call: undone });
  facts.tell({ what: "sees", fs: session.files.fs });
  facts.tell({ what: "located", args: {}, ...paths });
  checkAborted(signal);
  return paths;
}

/** Undoes a call. */
export async function undoCall(
  work: HostWork,
  undone: string,
  signal: AbortSignal | undefined,
): Promise<Undone> {
  const { session, callId, facts } = work;
  const { fs, resolver } = session.files;
  const { log } = session.past;
  const { uses, locations } = beginUndo(work, undone, signal);
  const change = await undoableChange(log, undone);
  const { paths } = change.record;
  const shown = paths.map(resolver.display);
  const files = await changedNonDirectories(fs, paths);
  for (const [index, path] of paths.entries())
    uses.push({ ...putBackUse("path", shown[index] as string), belowReplaced: isBelowAny(path, files) });
  // The record only names the paths, so the current policy is applied to them again.
  for (const path of paths) locations.push(resolver.resolve(path, "write"));
  const named = { fs, locations, signal };
  await withLocks(lockPathsOfCall(session, uses, named), async () => {
    const effectsNow = session.observers.hashes ? await effectsFrom(uses, named) : undefined;
    await undoChange(log, fs, change, { callId, agent: session.caller.agent, signal });
    facts.tell({ what: "changed", effects: await effectsNow?.(), allowedBy: undefined });
  });
  return Object.freeze({ callId, paths: Object.freeze(shown) });
}

/** Returns the paths that are no directories now and have others among them below: these become directories again. */
async function changedNonDirectories(fs: Files, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const all = new Set(paths);
  const above = new Set<string>();
  for (const path of paths)
    for (let at = parentOf(path); at !== "/"; at = parentOf(at)) if (all.has(at)) above.add(at);
  const found = new Set<string>();
  for (const path of above) {
    const type = (await lstatOrNull(fs, path).catch(() => null))?.type;
    if (type !== undefined && type !== "dir") found.add(path);
  }
  return found;
}

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

/**
 * Returns the history of a caller. Its own calls are those under its name. For a caller without a name,
 * they are the calls without a name that were made through this workspace.
 */
export function historyForCaller(
  session: Session,
  agent: string | undefined = session.caller.agent,
): UndoableHistory {
  const { log } = session.past;
  const { display } = session.files.resolver;
  const { running } = session.scheduling;
  const isOwn = ({ callId, agent: by }: HistoryEntry): boolean =>
    agent === undefined ? by === undefined && running.changes.has(callId) : by === agent;
  return {
    async list(all) {
      const calls = await listHistory(session);
      return all ? calls : calls.filter(isOwn);
    },
    async find(callId, all) {
      try {
        const { record } = await undoableChange(log, callId);
        const call = toHistoryEntry(record, display);
        return all || isOwn(call) ? call : undefined;
      } catch (error) {
        if (error instanceof FilewrightError && NOT_IN_HISTORY.has(error.code)) return undefined;
        throw error;
      }
    },
    restores: async (callId) => (await undoableChange(log, callId)).states(),
    display,
    async preview(callId, { fs, signal }) {
      const plan = await planUndo(log, fs, await undoableChange(log, callId), signal);
      return (await changesOfPlan(fs, plan, display)).map(putBackPath);
    },
    async undo(undone, { fs, callId, agent: by, signal, isUnreviewed, allowedBy }) {
      const as = { callId, agent: by, signal, unreviewed: isUnreviewed, allowedBy };
      await undoChange(log, fs, await undoableChange(log, undone), as);
    },
  };
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
