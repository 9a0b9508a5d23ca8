/** Opens the storage of a workspace: it is probed once, and every workspace on it shares one backend. */
import type { FsBackend } from "../backends/backend.ts";
import { toBackend } from "../storage/backend/to-backend.ts";
import type { Storage, StorageFacts } from "../storage/storage.ts";

/** A storage that was probed. */
interface OpenedStorage {
  readonly backend: FsBackend;
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
  const opening = storage.probe().then((facts) => ({ backend: toBackend(storage), facts }));
  openedStorages.set(storage, opening);
  // A probe that failed is made again by the next workspace: the engine may have been away.
  opening.catch(() => openedStorages.delete(storage));
  return opening;
}
