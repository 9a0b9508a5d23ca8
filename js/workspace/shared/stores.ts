/**
 * Which stores a workspace uses for what its replicas share: that of an option, the records of its storage, or
 * memory.
 */
import type { StateDirectory } from "../../backends/state-directory.ts";
import { engine } from "../../engine/current.ts";
import type { SandboxPolicy } from "../../policy/index.ts";
import type { GuardLevel } from "../../presets/index.ts";
import type { ReadStore } from "../../pipeline/past/reads.ts";
import type { SharedStores } from "../../pipeline/session.ts";
import type { CheckedOptions } from "../check.ts";
import { requireLocalHost } from "../host.ts";
import { encodeUtf8 } from "../../tools/lib/text.ts";
import type { SharedPlaces } from "../types.ts";
import { recordApprovals } from "./approvals.ts";
import { recordBudgets } from "./budgets.ts";
import { scopeOf } from "./names.ts";
import { recordReads, type RecordStorage } from "./reads.ts";

/** The stores of a workspace, and the names of their places. */
export interface ChosenStores {
  readonly stores: SharedStores;
  /** The store of the record of reads; undefined when it is in memory. */
  readonly reads: ReadStore | undefined;
  readonly places: SharedPlaces;
}

/** The facts of a workspace by which its stores are chosen, besides its options. */
interface StoreChoice {
  readonly guard: GuardLevel;
  /** True when its files are on this machine's disk. */
  readonly local: boolean;
  /** The state directory; undefined for a workspace that keeps nothing on the disk. */
  readonly state: StateDirectory | undefined;
}

/** Chooses the stores of a workspace by its options. */
export function sharedStoresOf(
  given: CheckedOptions,
  policy: SandboxPolicy,
  { guard, local, state }: StoreChoice,
): ChosenStores {
  const { storage, approvals, budgets } = given;
  const records = storage?.records;
  const shared =
    storage === undefined || records === undefined ? undefined : recordStorageOf(storage, records);
  const scope = shared === undefined ? "" : scopeOf(policy);
  const [reads, readsPlace] = readStoreOf(given, guard, local, shared, scope);
  const placeOf = (store: unknown): "memory" | "storage" | "host" =>
    store !== undefined ? "host" : shared === undefined ? "memory" : "storage";
  return {
    stores: Object.freeze({
      approvals: approvals ?? (shared && recordApprovals(shared.records, scope)),
      kept:
        state === undefined
          ? undefined
          : requireLocalHost().approvals?.(state.path, nameOfApprovalsFile(given, policy)),
      budgets: budgets ?? (shared && recordBudgets(shared.records, scope)),
    }),
    reads,
    places: Object.freeze({
      approvals: placeOf(approvals),
      budgets: placeOf(budgets),
      reads: readsPlace,
    }),
  };
}

/** Returns the name of the file of kept approvals: another for each storage, and for other roots. */
function nameOfApprovalsFile({ backendId }: CheckedOptions, policy: SandboxPolicy): string {
  if (backendId === undefined) return scopeOf(policy);
  return `${scopeOf(policy)}-${engine().sha256(encodeUtf8(backendId)).slice("sha256:".length, 24)}`;
}

/** Returns the part of a storage in which records change. */
function recordStorageOf(
  storage: NonNullable<CheckedOptions["storage"]>,
  records: RecordStorage["records"],
): RecordStorage {
  return { records, commit: storage.commit.bind(storage) };
}

/** Returns the store of the record of reads and its place; undefined when it is kept in memory. */
function readStoreOf(
  { guard: given, stateDir, reads }: CheckedOptions,
  guard: GuardLevel,
  local: boolean,
  shared: RecordStorage | undefined,
  scope: string,
): readonly [ReadStore | undefined, SharedPlaces["reads"]] {
  if (guard === "off") return [undefined, "none"];
  if (reads !== undefined) return [reads, "host"];
  if (typeof given === "object" && given.store !== undefined) return [given.store, "host"];
  // A warning that the host did not request is not worth a write for each read.
  if (guard === "warn" && given === undefined) return [undefined, "memory"];
  if (shared !== undefined) return [recordReads(shared, scope), "storage"];
  const onDisk = stateDir === undefined || !local ? undefined : requireLocalHost().reads?.(stateDir);
  return onDisk === undefined ? [undefined, "memory"] : [onDisk, "disk"];
}
