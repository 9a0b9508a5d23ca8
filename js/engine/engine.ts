/**
 * The engine: the Rust core for TypeScript, however it was loaded.
 *
 * Each area has a file here that declares its part of a binding and wraps it; native addon and
 * WebAssembly module export the same names, so one wrapper serves both.
 */
import { type AccessBinding, type AccessEngine, accessEngine } from "./native/access.ts";
import { type RankBinding, type RankEngine, rankEngine } from "./rank.ts";
import { type ReadBinding, type ReadEngine, readEngine } from "./read.ts";
import { type SearchBinding, type SearchEngine, searchEngine } from "./search.ts";
import { type EngineInfo, makeTextEngine, type TextBinding, type TextEngine } from "./text/text-engine.ts";

export type { EngineInfo };

/** The exports of both bindings. Each area's file declares its own part. */
export interface Binding extends TextBinding, AccessBinding, RankBinding, ReadBinding, SearchBinding {}

/** The core's functions. Pure: bytes and text in, values out. */
export interface Engine extends TextEngine, AccessEngine, RankEngine, ReadEngine, SearchEngine {}

/** Builds the engine over a binding. */
export function makeEngine(binding: Binding, info: EngineInfo): Engine {
  return Object.freeze({
    ...makeTextEngine(binding, info),
    ...accessEngine(binding),
    ...rankEngine(binding),
    ...readEngine(binding),
    ...searchEngine(binding),
  });
}
