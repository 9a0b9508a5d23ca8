/**
 * The part of the engine that compares and changes texts in memory. The small WebAssembly module contains
 * nothing else; every other engine contains it, too.
 */
import { onThread } from "../threads.ts";
import { concatBytes } from "../wire/bytes.ts";
import { type DiffEngine, makeDiffEngine } from "./diff.ts";
import { type EditBinding, type EditEngine, makeEditEngine } from "./edit.ts";
import { type HunkEngine, type HunkThreads, makeHunkEngine, makeHunkThreads } from "./hunks.ts";
import { makePatchEngine, makePatchThreads, type PatchEngine, type PatchThreads } from "./patch.ts";

/** The exports of a binding that this part needs. */
export interface TextBinding extends EditBinding {
  /** Concatenates in memory that the binding allocates. Without it, JavaScript concatenates. */
  concat?(a: Uint8Array, b: Uint8Array): Uint8Array;
}

/** The engine in use, and the reason when it is not the native one. */
export interface EngineInfo {
  /** Machine code (`native`) or WebAssembly (`wasm`). */
  readonly kind: "native" | "wasm";
  /** The reason why the native addon is not in use; absent when it is. */
  readonly reason?: string;
}

/** Functions for texts whose large inputs are worked on by another thread, where there are threads. */
export interface TextThreads extends HunkThreads, PatchThreads {
  /** Does the same as {@link TextEngine.sha256}. */
  sha256(bytes: Uint8Array): Promise<string>;
}

/**
 * Diffs, edits, patches and merges. They are pure: they compute values from bytes and text, and access no
 * file.
 */
export interface TextEngine extends DiffEngine, EditEngine, HunkEngine, PatchEngine {
  readonly info: EngineInfo;
  /** Returns `sha256:` and 64 hexadecimal digits of the bytes. */
  sha256(bytes: Uint8Array): string;
  /** Functions whose large inputs are worked on by another thread where threads exist. */
  readonly onThreads: TextThreads;
  /**
   * Concatenates `a` and `b`. The native engine allocates the result outside Node's heap: its memory goes
   * back to the system when the buffer is freed, whereas Node's heap keeps its peak size.
   */
  joined(a: Uint8Array, b: Uint8Array): Uint8Array;
}

/** Returns the engine for texts, which calls the given binding. `info` says which binding it is. */
export function makeTextEngine(binding: TextBinding, info: EngineInfo): TextEngine {
  return Object.freeze({
    info: Object.freeze(info),
    sha256: (bytes: Uint8Array) => binding.sha256(bytes),
    onThreads: Object.freeze({
      sha256: (bytes: Uint8Array) =>
        onThread(
          { size: bytes.length },
          () => binding.sha256(bytes),
          binding.sha256Async && (() => binding.sha256Async?.(bytes)),
        ),
      ...makeHunkThreads(binding),
      ...makePatchThreads(binding),
    }),
    joined: (a: Uint8Array, b: Uint8Array) => binding.concat?.(a, b) ?? concatBytes([a, b]),
    ...makeDiffEngine(binding),
    ...makeEditEngine(binding),
    ...makeHunkEngine(binding),
    ...makePatchEngine(binding),
  });
}
