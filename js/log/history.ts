/** The history of a workspace: the changes of its log by name and by place, the marks, and what was reviewed. */
import { hasTrait } from "../schema/tool-facts.ts";
import { markExistsError, notKeptError, unknownCallError } from "./errors.ts";
import type {
  HistoryRecord,
  KeptBy,
  Log,
  LoggedChange,
  LogPlace,
  Mark,
  ReviewFacts,
  Reviews,
  StateBefore,
} from "./log.ts";

/** A place in the history as callers name it: a mark, a moment in milliseconds since 1970, or the state before a call. */
export type HistoryPlace =
  | Exclude<LogPlace, { readonly before: HistoryRecord }>
  | { readonly before: string };

/** Returns the change of a call. @throws NOT_FOUND, UNSUPPORTED_OPERATION for one that cannot be undone */
export async function undoableChange(log: Log, callId: string): Promise<LoggedChange> {
  const change = await log.get(callId);
  if (change === undefined) throw unknownCallError(callId);
  const { header, undoable } = change.record;
  if (!undoable) throw notKeptError(callId, header.tool, log.largestUndo?.words ?? "nothing");
  return change;
}

/**
 * Returns the states before a change of a list; none where nothing is recorded, as of a command.
 * @throws UNSUPPORTED_OPERATION for a change whose record is damaged
 */
export async function statesOfChange(
  log: Log,
  { header, undoable }: HistoryRecord,
  wantsContent: (path: string) => boolean,
): Promise<readonly StateBefore[]> {
  const { callId } = header;
  const change = undoable ? await undoableChange(log, callId) : await log.get(callId);
  return change === undefined ? [] : change.states(wantsContent);
}

/**
 * Returns the changes that were committed after a place, the newest first, with those that cannot be undone.
 * @throws LIMIT_EXCEEDED when the history no longer reaches back to it; NOT_FOUND for an unknown call
 */
export async function changesAfter(log: Log, place: HistoryPlace): Promise<readonly HistoryRecord[]> {
  if (!("before" in place)) return log.list(place);
  const { record } = await undoableChange(log, place.before);
  return log.list({ before: record });
}

/** Names the present place in the history. @throws ALREADY_EXISTS for a name in use */
export async function addMark(log: Log, name: string, agent: string | undefined): Promise<Mark> {
  const mark = await log.mark(name, agent);
  if (mark === undefined) throw markExistsError(name);
  return mark;
}

/** Returns the changes that were made without a question, but for those that a person has kept, or that are undone wholly. */
export async function unreviewedChanges(log: Log): Promise<Omit<Reviews, "facts">> {
  const { records, facts, forgottenBefore } = await log.reviews();
  const done = reviewedCalls(facts);
  return { records: records.filter(({ header }) => !done.has(header.callId)), forgottenBefore };
}

/**
 * Notes that changes were reviewed and are kept. Changes that need no review are fine.
 * @returns the changes that were unreviewed until now @throws NOT_FOUND for an unknown change; then none is kept
 */
export async function keepChanges(
  log: Log,
  callIds: readonly string[],
  as: KeptBy,
): Promise<readonly HistoryRecord[]> {
  const { records } = await unreviewedChanges(log);
  const wanted = new Set(callIds);
  const kept = records.filter(({ header }) => wanted.has(header.callId));
  for (const { header } of kept) wanted.delete(header.callId);
  for (const callId of wanted) if ((await log.get(callId)) === undefined) throw unknownCallError(callId);
  if (kept.length > 0) await log.keep(kept, as);
  return kept;
}

/**
 * Returns the changes that are kept, and those that another change has undone wholly. An undo that was undone itself
 * counts no more.
 * @param records the newest first
 */
function reviewedCalls(records: readonly ReviewFacts[]): ReadonlySet<string> {
  const kept = new Set<string>();
  const undone = new Set<string>();
  for (const { callId, tool, undoOf, undoes = [], keeps = [] } of records) {
    for (const one of keeps) kept.add(one);
    if (undone.has(callId)) continue;
    if (undoOf !== undefined && !hasTrait(tool, "takesBackPart")) undone.add(undoOf);
    for (const one of undoes) undone.add(one);
  }
  return new Set([...kept, ...undone]);
}
