/**
 * Which stores a workspace uses for what its replicas share: that of an option, the records of its storage, or
 * memory.
 */
import type { SandboxPolicy } from "../../policy/index.ts";
import type { GuardLevel } from "../../presets/index.ts";
import type { ReadStore } from "../../pipeline/past/reads.ts";
import type { SharedStores } from "../../pipeline/session.ts";
import type { CheckedOptions } from "../check.ts";
import { requireLocalHost } from "../host.ts";
import type { SharedPlaces } from "../types.ts";
import { recordApprovals } from "./approvals.ts";
import { recordBudgets } from "./budgets.ts";
import { scopeOf } from "./names.ts";
import { recordReads, type RecordStorage } from "./reads.ts";

/** The stores of a workspace, and the names of their places. */
interface ChosenStores {
  readonly stores: SharedStores;
  /** The store of the record of reads; undefined when it is in memory. */
  readonly reads: ReadStore | undefined;
  readonly places: SharedPlaces;
}

/** Chooses the stores of a workspace by its options. `local`: its files are on this machine's disk. */
export function sharedStoresOf(
  given: CheckedOptions,
  policy: SandboxPolicy,
  { guard, local }: { readonly guard: GuardLevel; readonly local: boolean },
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
