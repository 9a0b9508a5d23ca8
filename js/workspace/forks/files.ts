/**
 * The files of a fork, in two kinds with the same calls: a fork that the storage itself makes, and a layer in memory
 * over the files of the parent, for a disk and for every backend and storage without forks of its own.
 */
import type { SandboxPolicy } from "../../backends/policy.ts";
import type { Files } from "../../backends/files.ts";
import { forkOverlay } from "../../backends/overlay/overlay.ts";
import { ConfinedSearches } from "../../backends/overlay/overlay-search.ts";
import type { SessionFiles } from "../../pipeline/session.ts";
import { makeOps } from "../../backends/transaction/op.ts";
import { provideShortcuts } from "../../backends/abilities.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { cannotBeReviewedError } from "../../log/index.ts";
import { unreviewedRecord } from "../../log/storage-log.ts";
import type { BeginStage } from "../../storage/backend/to-backend.ts";
import type { MomentSource } from "../../pipeline/moments.ts";
import { planMerge, toPlanned } from "../../storage/merge.ts";
import type { Entry, MergeOfForkOptions, PlannedMerge, Storage } from "../../storage/storage.ts";
import type { Call } from "../../tools/lib/tool.ts";
import type { ForkingStorage, OpenedFork } from "../storage.ts";
import { sidesOf } from "./sides.ts";
import { MERGE } from "../../tools/host-calls.ts";

/** The settings of the plan of a merge. */
export type PlanOptions = Pick<MergeOfForkOptions, "favour" | "signal">;

/** The merge of a fork as it was planned. */
export interface ForkPlan {
  readonly merge: PlannedMerge;
  /** Called when the merge is made and cannot be rolled back any more. */
  merged(): Promise<void>;
}

/** The files of a fork. */
export interface ForkFiles {
  /** The files, confined no further than those of the parent. */
  readonly fs: Files;
  /** The storage of the fork, where it is one of its own. */
  readonly storage?: Storage;
  /** How the fork of a storage is searched at one moment. */
  readonly searches?: MomentSource;
  /** How a call of the fork of a storage begins its stage. */
  readonly beginStage?: BeginStage;
  /** True when a merge is one commit of the storage, which keeps its own history. */
  readonly isCommit: boolean;
  /** Computes the merge into the parent. Nothing is changed. */
  plan(options: PlanOptions): Promise<ForkPlan>;
  /** Makes a planned merge. @throws CONFLICT when one side has changed since it was planned */
  apply(
    plan: PlannedMerge,
    options: PlanOptions,
    call: Pick<Call, "fs" | "about" | "signal" | "settings">,
  ): Promise<void>;
  /** Ends the use of the files. With `drop` the fork is removed. */
  close(drop: boolean): Promise<void>;
}

/** Returns the files of a fork that a storage has made. */
export function storageFiles(
  parent: ForkingStorage,
  fork: Storage,
  { backend: fs, searches, beginStage, merged }: OpenedFork,
): ForkFiles {
  const unmade = (): FilewrightError =>
    new FilewrightError("INTERNAL", "the storage merges without asking for a review");
  return {
    fs,
    storage: fork,
    searches,
    beginStage,
    isCommit: true,
    async plan(options) {
      let planned: PlannedMerge | undefined;
      const review = (found: PlannedMerge): boolean => {
        planned = found;
        return false;
      };
      await parent.merge(fork, { ...options, review });
      if (planned === undefined) throw unmade();
      return { merge: planned, merged: async () => {} };
    },
    async apply(plan, options, { about: { callId, agent, isUnreviewed }, signal }) {
      if (isUnreviewed === true && parent.records === undefined) throw cannotBeReviewedError();
      let isOther = false;
      // What was approved is what is merged: both sides are as they were.
      const review = (found: PlannedMerge): boolean => {
        isOther = !isSamePlan(plan, found);
        return !isOther;
      };
      const actor = { agent, tool: MERGE.name, callId };
      const more = { key: callId, actor, signal, review, planned: plan };
      // Before the merge: a record without its commit is ignored, and a merge without its record is not reviewed.
      const { kind, id, put } = unreviewedRecord(callId);
      if (isUnreviewed === true) await parent.records?.put(kind, id, put);
      try {
        await parent.merge(fork, { ...options, ...more });
      } catch (error) {
        throw error instanceof FilewrightError && error.code === "CONFLICT" ? changedError(error) : error;
      } finally {
        merged();
      }
      if (isOther) throw changedError();
    },
    async close(drop) {
      if (drop && fork.drop !== undefined) await fork.drop();
      else await fork.close();
    },
  };
}

/** Returns the files of a fork in memory over those of its parent, as the parent sees them by its policy. */
export function layerFiles({
  fs: parent,
  resolver: { policy },
  views,
}: Pick<SessionFiles, "fs" | "resolver" | "views">): ForkFiles {
  const { overlay, layer } = forkOverlay(parent);
  // The views of the parent have the index of the disk, and the secrets that were granted there.
  const confine = ({ deny }: SandboxPolicy): Files | undefined =>
    policy.deny.every((glob, at) => glob === deny[at])
      ? views.without(deny.slice(policy.deny.length))
      : undefined;
  provideShortcuts(overlay, {
    searchUnder: new ConfinedSearches(layer, { confine, known: policy }).under,
  });
  return {
    fs: overlay,
    isCommit: false,
    async plan({ favour }) {
      // The state between two changes: what is changed later is no part of this merge.
      const state = await layer.inTurn(async () => layer.draft.snapshot());
      const { paths, sides } = sidesOf(layer, state);
      const merge = toPlanned(await planMerge(paths, sides, favour), sides);
      return { merge, merged: () => layer.inTurn(() => layer.forget(state)) };
    },
    async apply({ states, ops, bodies }, _options, { fs, signal, settings: { durability } }) {
      const ours = new Map(states.map((state) => [state.path, state.ours]));
      const there = (path: string): Entry | null => ours.get(path) ?? null;
      const linked = async (path: string, hash: string): Promise<Uint8Array | undefined> =>
        there(path)?.hash === hash ? undefined : (await bodies("theirs", [path]))[0];
      await makeOps(ops, { fs, signal, durability, there, linked });
    },
    close: async () => layer.inTurn(async () => layer.draft.clear()),
  };
}

/** The error of a merge one side of which changed after it was planned. */
export function changedError(cause?: unknown): FilewrightError {
  return new FilewrightError("CONFLICT", "The fork or its parent has changed since the merge was planned.", {
    complete: true,
    hint: "merge again",
    ...(cause === undefined ? {} : { cause }),
  });
}

function isSamePlan(a: PlannedMerge, b: PlannedMerge): boolean {
  return (
    a.states.length === b.states.length &&
    a.states.every(({ path, ours, theirs }, index) => {
      const other = b.states[index];
      return (
        path === other?.path &&
        ours?.version === other.ours?.version &&
        theirs?.version === other.theirs?.version
      );
    })
  );
}
