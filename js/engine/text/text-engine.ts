/**
 * The part of the engine that compares and changes texts in memory: the whole of the small
 * WebAssembly module, and a part of every other engine.
 */
import { type DiffBinding, type DiffEngine, diffEngine } from "./diff.ts";
import { type EditBinding, type EditEngine, editEngine } from "./edit.ts";
import { type PatchBinding, type PatchEngine, patchEngine } from "./patch.ts";

/** The exports of a binding for it. */
export interface TextBinding extends DiffBinding, EditBinding, PatchBinding {
  sha256(bytes: Uint8Array): string;
  /** On another thread; only in bindings with threads. */
  sha256Async?(bytes: Uint8Array): Promise<string>;
  /** Concatenates in memory of the binding; without it JavaScript concatenates. */
  concat?(a: Uint8Array, b: Uint8Array): Uint8Array;
}

/** The engine in use, and the reason when it is not the native one. */
export interface EngineInfo {
  /** Machine code (`native`) or WebAssembly (`wasm`). */
  readonly kind: "native" | "wasm";
  /** The reason why the native addon is not in use; absent when it is. */
  readonly reason?: string;
}

/** Diffs, edits, patches and merges. Pure: bytes and text in, values out. */
export interface TextEngine extends DiffEngine, EditEngine, PatchEngine {
  readonly info: EngineInfo;
  /** Returns `sha256:` and 64 hexadecimal digits of the bytes. */
  sha256(bytes: Uint8Array): string;
  /** The same on another thread, where threads exist: for large contents. */
  sha256Async(bytes: Uint8Array): Promise<string>;
  /**
   * Concatenates `a` and `b`. On Node the memory is returned to the system with the buffer,
   * whereas Node's own heap stays at its peak size.
   */
  joined(a: Uint8Array, b: Uint8Array): Uint8Array;
}

/** Builds the engine over a binding. */
export function makeTextEngine(binding: TextBinding, info: EngineInfo): TextEngine {
  return Object.freeze({
    info: Object.freeze(info),
    sha256: (bytes: Uint8Array) => binding.sha256(bytes),
    sha256Async: async (bytes: Uint8Array) => binding.sha256Async?.(bytes) ?? binding.sha256(bytes),
    joined: (a: Uint8Array, b: Uint8Array) => binding.concat?.(a, b) ?? joined(a, b),
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
