/**
 * The unreviewed changes of a storage: a shared record for each, written in its commit and removed when it is kept, so
 * that all replicas see the same. What is not recorded as kept stays unreviewed.
 */
import { listAll } from "../records/records.ts";
import type { CallStage } from "../storage/staged/stage.ts";
import type { Past, RecordOp, Records, Storage, Version } from "../storage/storage.ts";
import { type ReviewFacts, reviewedCalls } from "./reviewed.ts";
import type { ChangeFacts } from "./types.ts";

/** The kind of the shared records of unreviewed changes. */
export const UNREVIEWED_KIND = "unreviewed";
/** The kind of the shared records of rewinds, with the changes of which nothing is left. */
const REWIND_KIND = "rewind";
/** The number of commits that are read at once. */
const PAGE = 200;
/** The maximum number of commits that are searched for unreviewed changes. */
const MAX_SEARCHED_COMMITS = 20_000;

type StageCommit = Parameters<CallStage["commitDraft"]>[0];

/** Returns a commit with the records that say whether the change is unreviewed, and which others it undoes. */
export function withReviewRecords(
  commit: StageCommit,
  { callId, unreviewed, undoes = [] }: ChangeFacts,
): StageCommit {
  const more: RecordOp[] = [];
  if (unreviewed === true) more.push(unreviewedRecord(callId));
  if (undoes.length > 0) more.push({ kind: REWIND_KIND, id: callId, put: { undoes } });
  return more.length === 0 ? commit : { ...commit, records: [...(commit.records ?? []), ...more] };
}

/** Returns the record of an unreviewed change. */
export function unreviewedRecord(callId: string): RecordOp & { readonly put: unknown } {
  return { kind: UNREVIEWED_KIND, id: callId, put: {} };
}

/** Returns the commits of the unreviewed changes, the newest first. */
export async function listUnreviewed(
  records: Records | undefined,
  history: NonNullable<Storage["history"]>,
): Promise<{ readonly past: readonly Past[]; readonly forgottenBefore: number | undefined }> {
  if (records === undefined) return { past: [], forgottenBefore: undefined };
  const left = new Set((await listAll(records, UNREVIEWED_KIND)).map(({ id }) => id));
  if (left.size === 0) return { past: [], forgottenBefore: undefined };
  const rewinds = new Map(
    (await listAll(records, REWIND_KIND)).map(({ id, value }) => [
      id,
      (value as { readonly undoes?: readonly string[] }).undoes ?? [],
    ]),
  );
  const found: Past[] = [];
  const facts: ReviewFacts[] = [];
  let oldest: number | undefined;
  let before: Version | undefined;
  for (let read = 0; left.size > 0 && read < MAX_SEARCHED_COMMITS; read += PAGE) {
    const page = await history({ limit: PAGE, changes: true, before });
    for (const past of page) {
      const { callId, tool = "", undoOf } = past.actor ?? {};
      oldest = past.at;
      if (callId === undefined) continue;
      const undoes = rewinds.get(callId);
      facts.push({
        callId,
        tool,
        ...(undoOf === undefined ? {} : { undoOf }),
        ...(undoes === undefined ? {} : { undoes }),
      });
      if (left.delete(callId)) found.push(past);
    }
    before = page.at(-1)?.version;
    if (page.length < PAGE) break;
  }
  const done = reviewedCalls(facts);
  // A change whose commit the storage has forgotten can be neither shown nor undone.
  return {
    past: found.filter(({ actor }) => actor?.callId !== undefined && !done.has(actor.callId)),
    forgottenBefore: left.size > 0 ? oldest : undefined,
  };
}
