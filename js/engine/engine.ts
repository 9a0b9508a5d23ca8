/**
 * The engine: the Rust core as TypeScript sees it, whichever way it was loaded.
 *
 * Each area has a file here that names what it needs of a binding and wraps it;
 * native addon and WebAssembly module export the same names, so one wrapper
 * serves both.
 */
import { type AccessBinding, type AccessEngine, accessEngine } from "./access.ts";
import { type DiffBinding, type DiffEngine, diffEngine } from "./diff.ts";
import { type EditBinding, type EditEngine, editEngine } from "./edit.ts";
import { type PatchBinding, type PatchEngine, patchEngine } from "./patch.ts";
import { type RankBinding, type RankEngine, rankEngine } from "./rank.ts";
import { type ReadBinding, type ReadEngine, readEngine } from "./read.ts";
import { type SearchBinding, type SearchEngine, searchEngine } from "./search.ts";

/** What both bindings export. Each area's file declares its own part. */
export interface Binding
  extends AccessBinding,
    DiffBinding,
    EditBinding,
    PatchBinding,
    RankBinding,
    ReadBinding,
    SearchBinding {
  sha256(bytes: Uint8Array): string;
}

/** Which engine runs, and why it is not the native one if it is not. */
export interface EngineInfo {
  readonly kind: "native" | "wasm";
  /** Why the native addon is not in use; absent where it is. */
  readonly reason?: string;
}

/** The core's functions. Pure: bytes and text in, values out. */
export interface Engine
  extends AccessEngine,
    DiffEngine,
    EditEngine,
    PatchEngine,
    RankEngine,
    ReadEngine,
    SearchEngine {
  readonly info: EngineInfo;
  /** `sha256:` and 64 hexadecimal digits of the bytes. */
  sha256(bytes: Uint8Array): string;
}

/** Builds the engine over a binding. */
export function makeEngine(binding: Binding, info: EngineInfo): Engine {
  return Object.freeze({
    info: Object.freeze(info),
    sha256: (bytes: Uint8Array) => binding.sha256(bytes),
    ...accessEngine(binding),
    ...diffEngine(binding),
    ...editEngine(binding),
    ...patchEngine(binding),
    ...rankEngine(binding),
    ...readEngine(binding),
    ...searchEngine(binding),
  });
}
