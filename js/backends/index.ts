/**
 * Backends: the contract between tools and storage, and the implementations
 * that run everywhere. What needs an operating system is in `*.node.ts`.
 */
export * from "./backend.ts";
export { MemoryBackend, type MemoryOptions, type MemorySnapshot } from "./memory.ts";
export type { Dump, DumpEntry, MemorySeed } from "./memory-seed.ts";
export type {
  SandboxCommand,
  SandboxOutcome,
  SandboxProbe,
  SandboxProvider,
  SandboxStatus,
} from "./sandbox.ts";
export { SandboxedBackend } from "./sandboxed.ts";
