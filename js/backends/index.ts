/**
 * Backends: the contract between tools and storage, and the implementations that run everywhere.
 * Those that need an operating system are in `*.node.ts`.
 */
export * from "./backend.ts";
export type { FileAbilities, FileHash, Files } from "./files.ts";
export { HttpBackend, type HttpOptions } from "./http.ts";
export type { HttpFile, HttpManifest } from "./http-manifest.ts";
export { MemoryBackend, type MemoryOptions, type MemorySnapshot } from "./memory/memory.ts";
export type { Dump, DumpEntry, MemorySeed } from "./memory/memory-seed.ts";
export { MountBackend, type MountOptions } from "./mounts.ts";
export { OverlayBackend } from "./overlay/overlay.ts";
export type { OverlayChange, OverlayCommit } from "./overlay/overlay-commit.ts";
export type {
  CommandLimits,
  CommandPolicy,
  SandboxCommand,
  SandboxOutcome,
  SandboxProbe,
  SandboxProvider,
  SandboxStatus,
} from "./sandbox/sandbox.ts";
export type { CommandOptions } from "./option-schema.ts";
export { type GrepEachEnd, type GrepEachQuery, grepEach } from "./search/search-stream.ts";
export { SandboxedBackend } from "./confined/sandboxed.ts";
export type { TreePage, TreeRequest } from "./entry.ts";
export type { ListPage } from "./fallback/fallback.ts";
export {
  FileSystemAccessBackend,
  type PickedMode,
  type PickedPermission,
  OpfsBackend,
  type OpfsOptions,
} from "./web/stores.ts";
export type { DirectoryHandle } from "./web/handles.ts";
// Helpers for authors of backends: the contract's rules for paths, order and encodings.
export { sortEntries } from "./fallback/fallback.ts";
export { checkPath, compareCodePoints, isLongName } from "./paths.ts";
export { decodeText as textOfBytes, encodeText as bytesOfText } from "./text.ts";
