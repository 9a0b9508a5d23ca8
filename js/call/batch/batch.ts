/**
 * Runs several calls as one.
 *
 * First every operation is tried on an overlay: hooks run, rules decide, and reviewers are asked.
 * Nothing is locked or written, so most failures occur here without effect. Then all paths are locked
 * at once, and the operations are repeated on the storage as one change of the journal, which rolls
 * all of them back when one fails or the process dies. If a reviewer was asked, each operation must
 * be the approved one, or the batch fails with CONFLICT; see `trial.ts`.
 */
import { OverlayBackend } from "../../backends/overlay/overlay.ts";
import type { AllowedBy } from "../../backends/transaction/step.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { About, Undoability, Made } from "../../journal/index.ts";
import type { BatchArgs, BatchData, BatchOutcome } from "../../tools/index.ts";
import { forkForTrial } from "../../tools/lib/seen.ts";
import type { AnyChangingTool, Answer, Call, Tool } from "../../tools/lib/tool.ts";
import { failedEarly, failureResult } from "../../pipeline/answer.ts";
import { BatchFailed, type ErrorData, type ToolResult } from "../../pipeline/result.ts";
import { admitOperation, type Operation, prepareOperations, toolOfOperation } from "./operations.ts";
import { runAfterHooks, runInOrder, batchOutcomeOf } from "./outcomes.ts";
import { repeatAsApproved, versionsBeforeBatch, TrialRecorder } from "./trial.ts";
import { holdNotes, MAX_PLANS_PER_CALL, throwIfCancelled } from "../../pipeline/change.ts";
import { lockPathsOfCall } from "../../pipeline/path-locks.ts";
import type { CallOptions } from "../../pipeline/enter.ts";
import type { Facts } from "../../pipeline/facts.ts";
import { applyGuarded, type GuardSettings, guardSettingsOf, isGuardRefusal } from "../../pipeline/guard.ts";
import { effectsByHashes, hashesByPath } from "../../pipeline/observe.ts";
import { requestApproval, requesterOf } from "../../pipeline/permit.ts";
import { ask } from "../ask.ts";
import type { RunCall } from "../call.ts";
import { plan } from "../plan.ts";
import { revisePlan } from "../../pipeline/parts.ts";
import { assertVersionsUnchanged } from "../../pipeline/review.ts";
import type { Session } from "../../pipeline/session.ts";
import { type PlaceToApprove, unaskedPlaceWarnings } from "../../pipeline/written-places.ts";

/** The call of a batch: as it was made, and what happens in it. */
export interface BatchCall {
  readonly args: Required<BatchArgs>;
  readonly call: Call;
  readonly options: CallOptions;
  readonly facts: Facts;
  /** Returns the function that runs an operation as a call of its own, where the batch is not atomic. */
  callsOf(session: Session): RunCall;
}

/** The approval of an operation of a dry run, which changes nothing. */
const NOBODY_ASKED = { reviewed: undefined, isUnreviewed: false, allowedBy: undefined } as const;

/** Runs a batch. @throws BatchFailed; HookException */
export async function runBatch(session: Session, batch: BatchCall): Promise<Made<Answer<BatchData>>> {
  const { args, call, options } = batch;
  if (!args.atomic && !args.dry_run) return runEachAlone(session, batch);
  const operations = await prepareOperations(args, session, options);
  const overlay = new OverlayBackend(session.files.fs);
  const seen = forkForTrial(call.seen);
  const trials = new TrialRecorder();
  const mayAsk =
    !args.dry_run && operations.some(({ tool }) => session.gates.confirmFor(tool.name) !== undefined);
  const unasked: PlaceToApprove[] = [];
  let asked = false;
  const begun = { ...options, callId: call.about.callId, turn: call.about.turn };
  await runInOrder(session, operations, options, async (operation) => {
    const { tool } = operation;
    const { sources, ruled, isKept } = await admitOperation(session, operation, begun, overlay);
    const guarding = guardSettingsOf(session, sources);
    operation.guarding = guarding;
    const own: Call = { ...(operation.call as Call), seen };
    if (tool.kind === "read") return tool.run(operation.args, own);
    const reviewable = { tool, args: operation.args, uses: operation.uses, call: own };
    // Later operations of a dry run can read the result of this one, so its approval comes first.
    if (isKept && args.dry_run)
      await requestApproval(session, tool, own.locations, { ...requesterOf(own), ...reviewable });
    const admitted = { sources, ruled, isKept: isKept && !args.dry_run };
    const planned = await plan({ ...reviewable, session, admitted, early: undefined });
    if ("settled" in planned) {
      if (mayAsk) operation.trial = await trials.settled(operation, own);
      return planned.settled;
    }
    if (session.gates.confirmFor(tool.name) === undefined) unasked.push(...planned.places);
    const approved = args.dry_run ? { ...planned, ...NOBODY_ASKED } : await ask(planned);
    if ("settled" in approved) {
      asked ||= approved.isReviewed;
      return approved.settled;
    }
    const { reviewed } = approved;
    asked ||= reviewed !== undefined;
    operation.isUnreviewed = approved.isUnreviewed;
    operation.allowedBy = approved.allowedBy?.[0];
    operation.revisions = reviewed?.revisions ?? [];
    operation.reviewNote = reviewed?.note;
    if (mayAsk) operation.trial = await trials.note(operation, own, approved.plan.base, reviewed);
    try {
      return await applyGuarded(guarding, reviewable, approved.plan);
    } catch (error) {
      // The trial holds no locks, so another call may have been faster.
      if (reviewed !== undefined || isGuardRefusal(error) || !isConflict(error)) throw error;
      return repeatOperation(operation, own);
    }
  });
  const undo = await commitOperations(session, operations, asked, batch);
  const results = await runAfterHooks(session, operations, options);
  const changed = !args.dry_run && operations.some(({ tool }) => tool.kind === "change");
  const warnings = changed ? unaskedPlaceWarnings(unasked) : [];
  return { result: { data: { results, applied: changed, rolled_back: false }, warnings }, undo };
}

/** Runs every operation as a separate call, of which each is undone by itself; a failure does not stop the others. */
async function runEachAlone(
  session: Session,
  { args, options, callsOf }: BatchCall,
): Promise<Made<Answer<BatchData>>> {
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
  for (const { allowedBy } of operations)
    if (allowedBy !== undefined) found.set(JSON.stringify(allowedBy), allowedBy);
  return found.size === 0 ? undefined : [...found.values()];
}

/** Repeats the operations on the storage, all of them or none; none of a dry run. */
async function commitOperations(
  session: Session,
  operations: readonly Operation[],
  asked: boolean,
  { args, call, options, facts }: BatchCall,
): Promise<Undoability> {
  if (args.dry_run) return "nothing";
  let undo: Undoability = "nothing";
  const changing = operations.filter(({ tool }) => tool.kind === "change");
  const uses = changing.flatMap((operation) => operation.uses);
  const locations = changing.flatMap((operation) => operation.locations);
  await runInOrder(session, operations, options, undefined, async (run) => {
    let unlock = await lockPathsOfCall(session, uses, { ...call, locations });
    try {
      if (asked) await assertVersionsUnchanged(versionsBeforeBatch(operations), session.files.fs);
      const hashes = session.observers.hashes ? await hashesByPath(uses, { ...call, locations }) : undefined;
      const { signal } = call;
      const { callId, agent } = call.about;
      const { stage } = session.staging;
      if (asked || stage?.isOutdated() === true) stage?.refresh();
      for (let attempt = 1; ; attempt++) {
        const held = holdNotes(session, call);
        // A batch that only reads makes no commit of its own: its notes have no conditions.
        const records = changing.length === 0 ? undefined : held?.records;
        const unreviewed = changing.some(({ isUnreviewed }) => isUnreviewed);
        const allowedBy = allowedByOperations(changing);
        const about: About = {
          callId,
          tool: "batch",
          agent,
          rollback: "always",
          signal,
          records,
          unreviewed,
          allowedBy,
        };
        try {
          ({ undo } = await session.past.journal.change(session.files.fs, about, (fs) =>
            run(async (operation) => {
              throwIfCancelled(call.signal);
              const { tool } = operation;
              // A read needs no record, and searches on the storage are faster than on the recording backend.
              const seen = tool.kind === "read" ? operation.view() : operation.view(fs);
              const own: Call = { ...(operation.call as Call), fs: seen, ...(held && { seen: held.seen }) };
              return asked ? repeatAsApproved(operation, own) : repeatOperation(operation, own);
            }),
          ));
          held?.committed();
          break;
        } catch (error) {
          const isStale = stage !== undefined && isConflict(error) && !isGuardRefusal(error);
          if (asked || !isStale || attempt === MAX_PLANS_PER_CALL) throw error;
          // The paths of the conflict are locked this time.
          await unlock();
          unlock = async () => {};
          unlock = await lockPathsOfCall(session, uses, { ...call, locations });
          stage.refresh();
        }
      }
      const effects = hashes && effectsByHashes(hashes, await hashesByPath(uses, { ...call, locations }));
      facts.tell({ what: "located", args, uses, locations });
      facts.tell({ what: "changed", effects, allowedBy: allowedByOperations(changing) });
    } finally {
      await unlock();
    }
  });
  return undo;
}

/** Plans an operation again and applies it; the new plan may include the changes of another writer. */
async function repeatOperation(
  { tool, args, uses, revisions, guarding }: Operation,
  call: Call,
): Promise<Answer<unknown>> {
  if (tool.kind === "read") return tool.run(args, call);
  for (let attempt = 1; ; attempt++) {
    let plan = await tool.plan(args, call);
    if (plan.settled !== undefined) return plan.settled;
    for (const revision of revisions)
      plan = await revisePlan({ tool: tool as AnyChangingTool, args, call }, plan, revision);
    try {
      return await applyGuarded(guarding as GuardSettings, { tool, args, uses, call }, plan);
    } catch (error) {
      if (attempt === MAX_PLANS_PER_CALL || isGuardRefusal(error) || !isConflict(error)) throw error;
    }
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof FilewrightError && error.code === "CONFLICT";
}
