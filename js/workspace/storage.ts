/**
 * Opens the storage of a workspace: it is probed once, and every workspace on it shares one backend. Each call of a
 * workspace has a stage of its own over that backend.
 */
import type { RecordLog } from "../log/index.ts";
import { StorageLog } from "../log/storage-log.ts";
import type { Stages } from "../pipeline/session.ts";
import { openBackend, type StorageParts } from "../storage/backend/to-backend.ts";
import { DEFAULT_MIRROR_BYTES } from "../storage/mirror/options.ts";
import type { Storage, StorageFacts } from "../storage/storage.ts";
import { makeMoments, type MomentSource } from "../pipeline/moments.ts";
import type { EnterMoment } from "../pipeline/session.ts";
import type { Views } from "../pipeline/views.ts";
import type { SandboxPolicy } from "../policy/index.ts";
import { debug } from "../engine/debug.ts";
import { messageOf } from "../engine/thrown.ts";
import { FilewrightError } from "../engine/errors.ts";
import { mirrorsOfHost, requireLocalHost } from "./host.ts";
import type { WorkspaceOptions } from "./options.ts";

/** A storage that was probed. */
export interface OpenedStorage extends StorageParts {
  readonly facts: StorageFacts;
}

/** The storages of this process. One backend each, because the queue of its writers is that of the backend. */
const openedStorages = new WeakMap<Storage, Promise<OpenedStorage>>();

/**
 * Returns the backend and the facts of a storage.
 * @throws UNSUPPORTED_OPERATION where two writers can win the same condition
 */
export function openStorage(storage: Storage): Promise<OpenedStorage> {
  const known = openedStorages.get(storage);
  if (known !== undefined) return known;
  const opening = storage.probe().then((facts) => ({ ...openBackend(storage), facts }));
  openedStorages.set(storage, opening);
  // A probe that failed is made again by the next workspace: the engine may have been away.
  opening.catch(() => openedStorages.delete(storage));
  return opening;
}

/** The search of a storage by the calls of one workspace. */
interface WorkspaceSearches {
  /** Returns the function by which a call under a policy enters a moment. */
  momentsFor(policy: SandboxPolicy, views: Views): EnterMoment;
  /** Ends the use of the copy on this machine. */
  release(): Promise<void>;
}

/**
 * Returns the searches of a workspace: with a copy of the files on this machine unless the options say otherwise, or
 * there is no state directory for it.
 * @throws UNSUPPORTED_PLATFORM for a copy that was asked for and that this machine cannot have
 */
export async function openSearches(
  { storage, mirror, stateDir }: Pick<WorkspaceOptions, "storage" | "mirror" | "stateDir">,
  { searches }: Pick<OpenedStorage, "searches">,
): Promise<WorkspaceSearches> {
  const { maxBytes = DEFAULT_MIRROR_BYTES, freshness = {} } = mirror === false ? {} : (mirror ?? {});
  const host = await mirrorsOfHost();
  const problem = host === undefined ? "this platform has no local disk" : host.problem();
  if (mirror !== undefined && mirror !== false && problem !== undefined)
    throw new FilewrightError("UNSUPPORTED_PLATFORM", `there is no mirror of a storage here: ${problem}`, {
      hint: "use mirror: false",
    });
  const isMirrored = mirror !== false && stateDir !== undefined && problem === undefined;
  let held: { release(): Promise<void> } | undefined;
  try {
    if (isMirrored && storage !== undefined)
      held = await host?.open(storage, searches, requireLocalHost().stateDir(stateDir).path, maxBytes);
  } catch (error) {
    // A copy that nobody asked for must not keep a workspace from opening: searches do without it.
    if (mirror !== undefined) throw error;
    debug.search?.(`no copy of the storage: ${messageOf(error)}`);
  }
  const source: MomentSource = {
    moment: (signal) => searches.moment({ signal, maxAgeMs: freshness.maxAgeMs }),
  };
  return {
    momentsFor: (policy, views) => makeMoments(source, policy, views),
    release: async () => held?.release(),
  };
}

/**
 * Returns the stages of the calls over a storage. The history is that of the storage where it keeps one; otherwise, and
 * without a history, `log` keeps it in memory.
 */
export function stagesOf(
  storage: Storage,
  { backend, beginStage }: Omit<StorageParts, "searches">,
  { log, isMine, keepsOwn }: StageLogs,
): Stages {
  const history = keepsOwn ? undefined : storage.history?.bind(storage);
  const readContents = storage.readContents?.bind(storage);
  const isCut = async (): Promise<boolean> => (await storage.changes(null, { limit: 0 })).gap === true;
  return Object.freeze<Stages>({
    storage: backend,
    begin: beginStage,
    log: (stage) =>
      history === undefined
        ? log.on(stage)
        : new StorageLog({ history, readContents, isMine, isCut, records: storage.records }, stage),
  });
}

/** Where the history of a workspace over a storage is. */
interface StageLogs {
  readonly log: RecordLog;
  /** Returns true for a path that the workspace may change. */
  readonly isMine: (path: string) => boolean;
  /** True when `log` has the history, even if the storage has one. */
  readonly keepsOwn: boolean;
}

/** The backend of a fork, and its searches. */
export interface OpenedFork extends Omit<StorageParts, "searches"> {
  readonly searches: MomentSource;
  /** Called after a merge into the parent: the next search there asks the storage, however old its answer may be. */
  merged(): void;
}

/** Opens a fork that an opened storage has made. Its engine is the one that was probed. */
export async function openForkStorage(parent: Storage, fork: Storage): Promise<OpenedFork> {
  const opened = await openedStorages.get(parent);
  const { forkedAt } = fork;
  const origin =
    opened === undefined || forkedAt === undefined ? undefined : { parent: opened.searches, at: forkedAt };
  const own = openBackend(fork, origin);
  if (opened !== undefined) openedStorages.set(fork, Promise.resolve({ ...own, facts: opened.facts }));
  return {
    ...own,
    searches: { moment: (signal) => own.searches.moment({ signal }) },
    merged: () => opened?.searches.trees.changed(),
  };
}

/** A storage that makes and merges forks itself. */
export type ForkingStorage = Storage & Required<Pick<Storage, "fork" | "merge">>;

/** Returns true for a storage that makes and merges forks itself. */
export function isForking(storage: Storage | undefined): storage is ForkingStorage {
  return storage?.fork !== undefined && storage.merge !== undefined;
}
