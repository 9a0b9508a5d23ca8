/**
 * The history of a workspace: lists the calls that can be undone, and undoes them. The log has the steps; this file
 * applies the policy and the locks to them, and shows each caller its own changes.
 */
import type { Files } from "../../backends/files.ts";
import { lstatOrNull } from "../../backends/fallback/fallback.ts";
import { isBelowAny, parentOf } from "../../backends/paths.ts";
import type { Location } from "../../policy/index.ts";
import { checkAborted, FilewrightError } from "../../engine/errors.ts";
import type { HistoryRecord } from "../../log/index.ts";
import { planUndo, statesOfChange, undoableChange, undoChange } from "../../log/past.ts";
import type { PathUse } from "../../tools/lib/tool.ts";
import type { Facts } from "../facts.ts";
import { effectsFrom } from "../observe.ts";
import { lockPathsOfCall, withLocks } from "../path-locks.ts";
import { withStage } from "../staged.ts";
import type { Session } from "../session.ts";
import type { HistoryEntry } from "../../tools/lib/history-entry.ts";
import type { UndoableHistory } from "../../tools/lib/past.ts";
import { putBackUse } from "../../tools/lib/put-back.ts";
import { contentBefore, lastChangesOf, pathsSince, type ReadLog } from "./earlier-contents.ts";
import { changesOfPlan, putBackPath } from "./put-back.ts";
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
 * Returns the history of a caller. Its own calls are those under its name. For a caller without a name,
 * they are the calls without a name that were made through this workspace.
 */
export function historyOfCaller(session: Session, agent: string | undefined): UndoableHistory {
  const { log } = session.past;
  const { display, checksContent } = session.files.resolver;
  const readLog = (): ReadLog => ({ log: withStage(session, false).past.log, checksContent });
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
    async madeBy(path, hash) {
      for (const record of await lastChangesOf(withStage(session).past.log, path)) {
        const states = await statesOfChange(log, record, () => false);
        const after = states.find((state) => state.path === path)?.after;
        if (hash === null ? after !== null : after?.hash !== hash) continue;
        const change = toHistoryEntry(record, display);
        return { change, isOwn: isOwn(change) };
      }
      return undefined;
    },
    contentBefore: (path, hash) => contentBefore(readLog(), path, hash),
    since: (place, all) =>
      pathsSince(readLog(), place, (record) => {
        const change = toHistoryEntry(record, display);
        const by = { change, isOwn: isOwn(change) };
        return all || !by.isOwn ? by : undefined;
      }),
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
