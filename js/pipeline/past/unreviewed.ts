/** The changes that were made without a question, and the record that a person has reviewed them and lets them stay. */
import { keepChanges, unreviewedChanges } from "../../log/past.ts";
import type { Session } from "../session.ts";
import { withStage } from "../staged.ts";
import type { HistoryEntry } from "../../tools/lib/history-entry.ts";
import { type HostWork, toHistoryEntry } from "./history.ts";
import type { KeepOptions } from "./keep-options.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";

/** The changes that were made without a question and that nobody has kept. */
export interface Unreviewed {
  /** The calls, the newest first. Those of which nothing is left, because they were undone, are left out. */
  readonly calls: readonly HistoryEntry[];
  /**
   * The history has forgotten changes before this time, and unreviewed ones may be among them: ISO 8601, UTC. Absent
   * when it has forgotten none.
   */
  readonly forgottenBefore?: string;
}

/** Returns the changes that nobody has kept. */
export async function listUnreviewed(session: Session): Promise<Unreviewed> {
  const { records, forgottenBefore } = await unreviewedChanges(withStage(session).past.log);
  const calls = records.map((record) => toHistoryEntry(record, session.files.resolver.display));
  const since = forgottenBefore === undefined ? undefined : new Date(forgottenBefore).toISOString();
  return Object.freeze(withoutUndefined({ calls: Object.freeze(calls), forgottenBefore: since }));
}

/**
 * Records that calls were reviewed and are kept.
 * @returns the ids of the calls that were unreviewed until now
 * @throws NOT_FOUND for an unknown call; then none is kept
 */
export async function keepCalls(
  { session, facts }: HostWork,
  callIds: readonly string[],
  { by }: KeepOptions,
): Promise<readonly string[]> {
  const { agent } = session.caller;
  const records = await keepChanges(session.past.log, callIds, { by, agent });
  const kept = Object.freeze(records.map(({ header }) => header.callId));
  const paths = [...new Set(records.flatMap((record) => record.paths))];
  facts.tell({ what: "kept", calls: kept, by, paths });
  return kept;
}
