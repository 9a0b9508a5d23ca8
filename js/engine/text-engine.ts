/**
 * The part of the engine that compares and changes texts the caller holds: what
 * the small WebAssembly module is made of, and a part of every other engine.
 */
import { type DiffBinding, type DiffEngine, diffEngine } from "./diff.ts";
import { type EditBinding, type EditEngine, editEngine } from "./edit.ts";
import { type PatchBinding, type PatchEngine, patchEngine } from "./patch.ts";

/** What a binding exports for it. */
export interface TextBinding extends DiffBinding, EditBinding, PatchBinding {
  sha256(bytes: Uint8Array): string;
  /** Off the event loop; only where there are threads. */
  sha256Async?(bytes: Uint8Array): Promise<string>;
  /** In memory of the binding's own; without it JavaScript joins them. */
  joined?(a: Uint8Array, b: Uint8Array): Uint8Array;
}

/** Which engine runs, and why it is not the native one if it is not. */
export interface EngineInfo {
  /** Machine code (`native`) or WebAssembly (`wasm`). */
  readonly kind: "native" | "wasm";
  /** Why the native addon is not in use; absent where it is. */
  readonly reason?: string;
}

/** Diffs, edits, patches and merges. Pure: bytes and text in, values out. */
export interface TextEngine extends DiffEngine, EditEngine, PatchEngine {
  readonly info: EngineInfo;
  /** `sha256:` and 64 hexadecimal digits of the bytes. */
  sha256(bytes: Uint8Array): string;
  /** The same off the event loop where there are threads: for large contents. */
  sha256Async(bytes: Uint8Array): Promise<string>;
  /**
   * The bytes of `a` and then of `b`. In Node in memory that goes back to the system with the
   * buffer: the heap that Node takes it from keeps the most that was ever in use at once.
   */
  joined(a: Uint8Array, b: Uint8Array): Uint8Array;
}

/** Builds it over a binding. */
export function makeTextEngine(binding: TextBinding, info: EngineInfo): TextEngine {
  return Object.freeze({
    info: Object.freeze(info),
    sha256: (bytes: Uint8Array) => binding.sha256(bytes),
    sha256Async: async (bytes: Uint8Array) => binding.sha256Async?.(bytes) ?? binding.sha256(bytes),
    joined: (a: Uint8Array, b: Uint8Array) => binding.joined?.(a, b) ?? joined(a, b),
    ...diffEngine(binding),
    ...editEngine(binding),
    ...patchEngine(binding),
  });
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
