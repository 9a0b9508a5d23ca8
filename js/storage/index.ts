/**
 * Storages: the files of a workspace in an engine that several machines share. {@link Storage} is the contract.
 */
export * from "./storage.ts";
export { memoryStorage, type MemoryStorage, type MemoryStorageOptions } from "./memory/memory.ts";
export { probeStorage, type ProbeStorageOptions } from "./probe.ts";
export { toBackend } from "./backend/to-backend.ts";
export { filesOf, type FilesOptions } from "./files/files-of.ts";
export type { Driver, DriverEntry, DriverWrite } from "./files/driver.ts";
export {
  observeStorage,
  type StorageObserver,
  type StorageTrip,
  type StorageTripEnd,
} from "./observe.ts";
