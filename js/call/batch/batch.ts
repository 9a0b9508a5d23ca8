/**
 * Runs several calls as one.
 *
 * First every operation is tried on an overlay: hooks run, and rules decide. Nothing is locked or written, so most
 * failures occur here without effect. Each approver is asked once about all of his operations (`question.ts`). Then all
 * paths are locked at once, and the operations are repeated on the storage as one change of the journal, which rolls all
 * of them back when one fails or the process dies. They are made in turn, or at once where they can be one list
 * (`joined-list.ts`). An operation that was asked about must be the one that was shown, or the batch fails with CONFLICT;
 * see `trial.ts`. One that the reviewer refuses is left out, and its result says so.
 */
import type { Files } from "../../backends/files.ts";
import { OverlayBackend } from "../../backends/overlay/overlay.ts";
import type { CommitList } from "../../backends/transaction/recorded-list.ts";
import type { AllowedBy } from "../../backends/transaction/step.ts";
import { checkAborted, FilewrightError } from "../../engine/errors.ts";
import type { About, Undoability, Made } from "../../log/index.ts";
import { failedEarly, failureResult } from "../../pipeline/answer.ts";
import { isGuardRefusal } from "../../pipeline/guard.ts";
import { effectsFrom } from "../../pipeline/observe.ts";
import { lockPathsOfCall } from "../../pipeline/path-locks.ts";
import { BatchFailed, type ErrorData, type ToolResult } from "../../pipeline/result.ts";
import { assertVersionsUnchanged } from "../../pipeline/review.ts";
import type { Session } from "../../pipeline/session.ts";
import { unaskedPlaceWarnings } from "../../pipeline/written-places.ts";
import type { BatchData, BatchOutcome } from "../../tools/index.ts";
import type { Answer, Call, PathUse, Tool } from "../../tools/lib/tool.ts";
import { holdNotes, MAX_PLANS_PER_CALL } from "../change.ts";
import { type JoinedList, joinOperations, makeJoined } from "./joined-list.ts";
import {
  approvedOf,
  type BatchCall,
  judgedOf,
  type Operation,
  pathsOf,
  prepareOperations,
  refusalOf,
  toolOfOperation,
} from "./operations.ts";
import { batchOutcomeOf, outcomesAfterHooks, runInOrder } from "./outcomes.ts";
import {
  isConflict,
  repeatAsApproved,
  repeatOperation,
  tryOperations,
  versionsBeforeBatch,
} from "./trial.ts";

/** Runs a batch. @throws BatchFailed; HookException */
export async function runBatch(batch: BatchCall): Promise<Made<Answer<BatchData>>> {
  const { session, args } = batch;
  if (!args.atomic && !args.dry_run) return runEachAlone(batch);
  const overlay = new OverlayBackend(session.files.fs);
  const operations = await prepareOperations(batch, overlay);
  const tried = await tryOperations(batch, operations, overlay);
  const undo = await commitOperations(batch, operations, tried.isReviewed);
  const results = await outcomesAfterHooks(operations);
  const changed =
    !args.dry_run && operations.some((one) => one.tool.kind === "change" && refusalOf(one) === undefined);
  const warnings = changed ? unaskedPlaceWarnings(tried.unasked) : [];
  return { result: { data: { results, applied: changed, rolled_back: false }, warnings }, undo };
}

/** Runs every operation as a separate call, of which each is undone by itself; a failure does not stop the others. */
async function runEachAlone({
  session,
  request: { options },
  args,
  callsOf,
}: BatchCall): Promise<Made<Answer<BatchData>>> {
  const results: BatchOutcome[] = [];
  const own =
    session.staging.unstaged === undefined
      ? session
      : {
          ...session.staging.unstaged,
          scheduling: { ...session.staging.unstaged.scheduling, slots: session.scheduling.slots },
        };
  const run = callsOf(own);
  let failed: { readonly index: number; readonly error: ErrorData } | undefined;
  for (const [index, { tool, args: given }] of args.operations.entries()) {
    let result: ToolResult;
    try {
      result = await run(toolOfOperation(tool) as unknown as Tool, given, options);
    } catch (thrown) {
      if (!(thrown instanceof FilewrightError)) throw thrown;
      result = await failureResult(session, failedEarly({ name: tool, title: tool }, thrown));
    }
    results.push(batchOutcomeOf(tool, result));
    if (!result.ok) failed ??= { index, error: result.error };
  }
  const data = { results, applied: results.some(({ ok }) => ok), rolled_back: false };
  if (failed === undefined) return { result: { data }, undo: "nothing" };
  const { index, error } = failed;
  throw new BatchFailed(index, results[index]?.tool ?? "", error, data);
}

/** Returns the reasons why the operations were allowed, each once; undefined where the workspace does not ask. */
function allowedByOperations(operations: readonly Operation[]): readonly AllowedBy[] | undefined {
  const found = new Map<string, AllowedBy>();
  for (const operation of operations)
    for (const one of approvedOf(operation)?.allowedBy ?? []) found.set(JSON.stringify(one), one);
  return found.size === 0 ? undefined : [...found.values()];
}

/** Runs a step for each operation, in order. */
type RunOperations = (step: (operation: Operation) => Promise<Answer<unknown>>) => Promise<void>;

/** The changing operations of a batch as one change. */
interface JoinedChange {
  readonly batch: BatchCall;
  readonly operations: readonly Operation[];
  /** True when the batch has no operation that reads, which would see the changes before it. */
  readonly isOnlyChanges: boolean;
  /** True when a reviewer has seen one of them, so that each must be the approved one. */
  readonly asked: boolean;
}

/** Repeats the operations on the storage, all of them or none; none of a dry run. */
async function commitOperations(
  batch: BatchCall,
  operations: readonly Operation[],
  asked: boolean,
): Promise<Undoability> {
  const { session, request, args, call } = batch;
  if (args.dry_run) return "nothing";
  let undo: Undoability = "nothing";
  const toMake = operations.filter((one) => refusalOf(one) === undefined);
  const changing = toMake.filter((one) => one.tool.kind === "change");
  const isOnlyChanges = changing.length > 0 && changing.length === toMake.length;
  const uses = changing.flatMap((operation) => pathsOf(operation).uses);
  const locations = changing.flatMap((operation) => pathsOf(operation).locations);
  const change: JoinedChange = { batch, operations: changing, isOnlyChanges, asked };
  const locks = new BatchLocks(session, uses, { ...call, locations });
  await runInOrder(session, operations, async (run) => {
    await locks.take();
    try {
      if (asked) await assertVersionsUnchanged(versionsBeforeBatch(operations), session.files.fs);
      const effects = session.observers.hashes ? await effectsFrom(uses, locks.call) : undefined;
      undo = await changeAgainAfterConflicts(change, run, locks);
      const { facts } = request;
      facts.tell({ what: "located", args, uses, locations });
      facts.tell({ what: "changed", effects: await effects?.(), allowedBy: allowedByOperations(changing) });
    } finally {
      await locks.release();
    }
  });
  return undo;
}

/** The locks of all paths that a batch changes. */
class BatchLocks {
  readonly call: Call;
  readonly #session: Session;
  readonly #uses: readonly PathUse[];
  #unlock: (() => Promise<void>) | undefined;

  constructor(session: Session, uses: readonly PathUse[], call: Call) {
    this.#session = session;
    this.#uses = uses;
    this.call = call;
  }

  /** Takes the locks, after releasing those that are held: those of a conflict are not left out a second time. */
  async take(): Promise<void> {
    await this.release();
    this.#unlock = await lockPathsOfCall(this.#session, this.#uses, this.call);
  }

  async release(): Promise<void> {
    const unlock = this.#unlock;
    this.#unlock = undefined;
    await unlock?.();
  }
}

/** Makes all operations, and repeats them if another commit was faster, unless a reviewer has approved them. */
async function changeAgainAfterConflicts(
  change: JoinedChange,
  run: RunOperations,
  locks: BatchLocks,
): Promise<Undoability> {
  const { asked, batch } = change;
  const { stage } = batch.session.staging;
  if (asked || stage?.isOutdated() === true) stage?.refresh();
  for (let attempt = 1; ; attempt++) {
    try {
      return await changeAll(change, run);
    } catch (error) {
      const isStale = stage !== undefined && isConflict(error) && !isGuardRefusal(error);
      if (asked || !isStale || attempt === MAX_PLANS_PER_CALL) throw error;
      await locks.take();
      stage.refresh();
    }
  }
}

/** Makes all operations as one change of the history. `run` runs each of them, in order. */
async function changeAll(change: JoinedChange, run: RunOperations): Promise<Undoability> {
  const { asked, isOnlyChanges, operations } = change;
  const { stage } = change.batch.session.staging;
  // What a reviewer has approved is compared operation by operation.
  const joined = stage === undefined && isOnlyChanges && !asked ? joinOperations(operations) : undefined;
  if (joined === undefined) return appendAll(change, run, undefined);
  try {
    return await appendAll(change, run, joined);
  } catch (error) {
    // All is taken back, and in their turn the operations may be planned again, or fail each with its own error.
    if (!isTakenBack(error)) throw error;
    return appendAll(change, run, undefined);
  }
}

/**
 * Returns true for an error after which all is as before, so that the operations can be made in turn, which says better what
 * fails: not for a call that was cancelled, or a change that could not be taken back.
 */
function isTakenBack(error: unknown): boolean {
  if (!(error instanceof FilewrightError) || error.code === "CANCELLED") return false;
  return error.details?.["rolled_back"] !== false;
}

/** Makes all operations, as one list or in turn, and adds the record of the change to the history. */
async function appendAll(
  { batch: { session, call }, operations: changing, asked }: JoinedChange,
  run: RunOperations,
  joined: JoinedList | undefined,
): Promise<Undoability> {
  const { stage } = session.staging;
  const held = stage && holdNotes(stage, session.past.reads, call);
  const { callId, agent } = call.about;
  const about: About = {
    callId,
    tool: "batch",
    agent,
    rollback: "always",
    signal: call.signal,
    // A batch that only reads makes no commit of its own: its notes have no conditions.
    records: changing.length === 0 ? undefined : held?.records,
    unreviewed: changing.some((operation) => approvedOf(operation)?.isUnreviewed === true),
    allowedBy: allowedByOperations(changing),
  };
  const inTurn = (fs: Files): Promise<void> =>
    run(async (operation) => {
      checkAborted(call.signal);
      const { call: judged, admitted } = judgedOf(operation);
      // A read needs no record, and searches on the storage are faster than on the recording backend.
      const seen = operation.tool.kind === "read" ? admitted.view() : admitted.view(fs);
      const own: Call = { ...judged, fs: seen, ...(held && { seen: held.seen }) };
      return asked ? repeatAsApproved(operation, own) : repeatOperation(operation, own);
    });
  const make = async (fs: Files, commit?: CommitList): Promise<void> => {
    if (joined === undefined || commit === undefined) return inTurn(fs);
    const answers = await makeJoined(joined, commit);
    return run(async (operation) => answers.get(operation) as Answer<unknown>);
  };
  const planned = joined && { list: joined.list, found: async () => undefined };
  const { undo } = await session.past.log.append(session.files.fs, about, make, planned);
  held?.committed();
  return undo;
}
