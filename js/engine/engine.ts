/**
 * The engine: the functions of the Rust core for TypeScript, whether they run as native code or as
 * WebAssembly.
 *
 * Each area (reading, searching, diffs and so on) has a file that wraps its part of the binding. The addon and the WebAssembly module export the same names, so one wrapper serves both.
 */
import { type AccessEngine, makeAccessEngine } from "./native/access.ts";
import { type RankEngine, makeRankEngine } from "./rank.ts";
import { type ReadEngine, makeReadEngine } from "./read.ts";
import { type SearchBinding, type SearchEngine, makeSearchEngine } from "./search.ts";
import { type EngineInfo, makeTextEngine, type TextBinding, type TextEngine } from "./text/text-engine.ts";

export type { EngineInfo };

/** The exports of both bindings, and those that only some have. */
export interface Binding extends TextBinding, SearchBinding {}

/** The functions of the core. They are pure: they compute values from bytes and text, and access no file. */
export interface Engine extends TextEngine, AccessEngine, RankEngine, ReadEngine, SearchEngine {}

/** Wraps a binding as an engine. `info` says which of the two bindings it is. */
export function makeEngine(binding: Binding, info: EngineInfo): Engine {
  return Object.freeze({
    ...makeTextEngine(binding, info),
    ...makeAccessEngine(binding),
    ...makeRankEngine(binding),
    ...makeReadEngine(binding),
    ...makeSearchEngine(binding),
  });
}
