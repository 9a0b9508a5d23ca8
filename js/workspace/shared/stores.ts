/**
 * Which records a workspace uses for what its replicas share: those of the host, those of its storage, or memory; and
 * the files of its state directory.
 */
import type { StateDirectory } from "../../backends/state-directory.ts";
import { engine } from "../../engine/current.ts";
import type { ApprovalPlace } from "../../hooks/approvals.ts";
import type { SandboxPolicy } from "../../policy/index.ts";
import type { GuardLevel } from "../../presets/index.ts";
import type { ReadPlace } from "../../pipeline/past/reads-records.ts";
import { budgetsIn } from "../../pipeline/scheduling/budget-records.ts";
import type { SharedStores } from "../../pipeline/session.ts";
import { namePart } from "../../records/names.ts";
import type { RecordOp, Records } from "../../records/records.ts";
import type { CheckedOptions } from "../check.ts";
import { requireLocalHost } from "../host.ts";
import { encodeUtf8 } from "../../tools/lib/text.ts";
import type { SharedPlaces } from "../types.ts";

/** The records of a workspace, and the names of their places. */
export interface ChosenStores {
  readonly stores: SharedStores;
  /** The records of what each agent has read; undefined when they are in memory. */
  readonly reads: ReadPlace | undefined;
  readonly places: SharedPlaces;
}

/** The facts of a workspace by which its records are chosen, besides its options. */
interface StoreChoice {
  readonly guard: GuardLevel;
  /** True when its files are on this machine's disk. */
  readonly local: boolean;
  /** The state directory; undefined for a workspace that keeps nothing on the disk. */
  readonly state: StateDirectory | undefined;
}

/** The records that several processes change, and how. */
interface Shared {
  readonly records: Records;
  /** The part of the names by which the records of this workspace differ from those of others. */
  readonly scope: string;
  readonly place: "storage" | "host";
  /** Changes several records in one commit, for those of the storage. */
  readonly commit: ((ops: readonly RecordOp[]) => Promise<unknown>) | undefined;
}

/** Chooses the records of a workspace by its options. */
export function sharedStoresOf(
  given: CheckedOptions,
  policy: SandboxPolicy,
  { guard, local, state }: StoreChoice,
): ChosenStores {
  const shared = sharedOf(given, policy);
  const place = shared?.place ?? "memory";
  const keptApprovals = state === undefined ? undefined : requireLocalHost().approvals;
  const [reads, readsPlace] = readsOf(given, guard, shared ?? (local ? "disk" : undefined));
  return {
    stores: Object.freeze({
      approvals: {
        shared: shared && approvalsOf(shared),
        kept: state && keptApprovals?.(state.path, nameOfApprovalsFile(given, policy)),
      },
      budgets: shared && budgetsIn({ ...shared, commits: shared.commit !== undefined }),
      grants: given.records,
    }),
    reads,
    places: Object.freeze({ approvals: place, budgets: place, reads: readsPlace }),
  };
}

/** Returns the records that other processes change, too: those of the host, else those of the storage. */
function sharedOf({ storage, records: own }: CheckedOptions, policy: SandboxPolicy): Shared | undefined {
  // Read once: a storage may make them anew each time.
  const ofStorage = storage?.records;
  const records = own ?? ofStorage;
  if (records === undefined) return undefined;
  const isOfStorage = storage !== undefined && records === ofStorage;
  return {
    records,
    scope: scopeOf(policy),
    place: isOfStorage ? "storage" : "host",
    commit: isOfStorage ? (ops) => storage.commit([], { records: ops }) : undefined,
  };
}

function approvalsOf({ records, scope }: Shared): ApprovalPlace {
  return { records, kindOf: (agent) => `approvals ${scope} ${namePart(agent)}` };
}

/** Returns the records of reads and their place; undefined when they are kept in memory. */
function readsOf(
  { guard: given, stateDir }: CheckedOptions,
  guard: GuardLevel,
  from: Shared | "disk" | undefined,
): readonly [ReadPlace | undefined, SharedPlaces["reads"]] {
  if (guard === "off") return [undefined, "none"];
  // A warning that the host did not request is not worth a write for each read.
  if (guard === "warn" && given === undefined) return [undefined, "memory"];
  if (typeof from === "object") {
    const { records, scope, commit, place } = from;
    const kindOf = (agent: string): string => `reads ${scope} ${namePart(agent)}`;
    return [{ records, isShared: true, kindOf, commit }, place];
  }
  const onDisk =
    stateDir === undefined || from === undefined ? undefined : requireLocalHost().reads?.(stateDir);
  return onDisk === undefined ? [undefined, "memory"] : [onDisk, "disk"];
}

/**
 * Returns the scope of a workspace: replicas with the same roots share their state, and another workspace on the
 * same records does not. An approval is given for the paths of one workspace.
 */
function scopeOf({ cwd, read, write }: SandboxPolicy): string {
  return engine()
    .sha256(encodeUtf8(JSON.stringify([cwd, read, write])))
    .slice("sha256:".length, "sha256:".length + 16);
}

/** Returns the name of the file of kept approvals: another for each storage, and for other roots. */
function nameOfApprovalsFile({ backendId }: CheckedOptions, policy: SandboxPolicy): string {
  if (backendId === undefined) return scopeOf(policy);
  return `${scopeOf(policy)}-${engine().sha256(encodeUtf8(backendId)).slice("sha256:".length, 24)}`;
}
