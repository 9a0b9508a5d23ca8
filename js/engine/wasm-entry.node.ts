/**
 * `filewright/wasm` on Node: the functions of `filewright/engine` on the WebAssembly engine, even if the rest
 * of the process uses the native one.
 *
 * @module filewright/wasm
 */
import { type Engine, type EngineInfo, makeEngine } from "./engine.ts";
import { FilewrightError } from "./errors.ts";
import { loadWasm } from "./load.node.ts";

let loadedEngine: Engine | undefined;

/** The WebAssembly engine. @throws FilewrightError UNSUPPORTED_PLATFORM where the module does not load */
export function engine(): Engine {
  if (loadedEngine === undefined) {
    const wasm = loadWasm();
    if ("reason" in wasm) throw new FilewrightError("UNSUPPORTED_PLATFORM", wasm.reason);
    loadedEngine = makeEngine(wasm.binding, { kind: "wasm", reason: "imported as filewright/wasm" });
  }
  return loadedEngine;
}

/** Resolves to the facts about the WebAssembly engine, which Node loads synchronously at the first use. */
export async function ready(): Promise<EngineInfo> {
  return engine().info;
}

// The same names as in filewright/engine; a test compares both lists.
/** See `sha256` of `filewright/engine`. */
export const sha256: Engine["sha256"] = (...args) => engine().sha256(...args);
/** See `sha256Async` of `filewright/engine`. */
export const sha256Async: Engine["onThreads"]["sha256"] = (...args) => engine().onThreads.sha256(...args);
/** See `diff` of `filewright/engine`. */
export const diff: Engine["diff"] = (...args) => engine().diff(...args);
/** See `diffAsync` of `filewright/engine`. */
export const diffAsync: Engine["diffAsync"] = (...args) => engine().diffAsync(...args);
/** See `diffParts` of `filewright/engine`. */
export const diffParts: Engine["diffParts"] = (...args) => engine().diffParts(...args);
/** See `hunksBetween` of `filewright/engine`. */
export const hunksBetween: Engine["hunksBetween"] = (...args) => engine().hunksBetween(...args);
/** See `composeHunks` of `filewright/engine`. */
export const composeHunks: Engine["composeHunks"] = (...args) => engine().composeHunks(...args);
/** See `composeHunksAsync` of `filewright/engine`. */
export const composeHunksAsync: Engine["onThreads"]["composeHunks"] = (...args) =>
  engine().onThreads.composeHunks(...args);
/** See `planEdits` of `filewright/engine`. */
export const planEdits: Engine["planEdits"] = (...args) => engine().planEdits(...args);
/** See `planEditsBytes` of `filewright/engine`. */
export const planEditsBytes: Engine["planEditsBytes"] = (...args) => engine().planEditsBytes(...args);
/** See `planEditsBytesAsync` of `filewright/engine`. */
export const planEditsBytesAsync: Engine["planEditsBytesAsync"] = (...args) =>
  engine().planEditsBytesAsync(...args);
/** See `inspect` of `filewright/engine`. */
export const inspect: Engine["inspect"] = (...args) => engine().inspect(...args);
/** See `readPage` of `filewright/engine`. */
export const readPage: Engine["readPage"] = (...args) => engine().readPage(...args);
/** See `inspectAsync` of `filewright/engine`. */
export const inspectAsync: Engine["reading"]["inspect"] = (...args) => engine().reading.inspect(...args);
/** See `readPageAsync` of `filewright/engine`. */
export const readPageAsync: Engine["reading"]["readPage"] = (...args) => engine().reading.readPage(...args);
/** See `decodeText` of `filewright/engine`. */
export const decodeText: Engine["decodeText"] = (...args) => engine().decodeText(...args);
/** See `decodeTextAsync` of `filewright/engine`. */
export const decodeTextAsync: Engine["reading"]["decodeText"] = (...args) =>
  engine().reading.decodeText(...args);
/** See `encodeText` of `filewright/engine`. */
export const encodeText: Engine["encodeText"] = (...args) => engine().encodeText(...args);
/** See `encodeTextAsync` of `filewright/engine`. */
export const encodeTextAsync: Engine["reading"]["encodeText"] = (...args) =>
  engine().reading.encodeText(...args);
/** See `lineAnchors` of `filewright/engine`. */
export const lineAnchors: Engine["lineAnchors"] = (...args) => engine().lineAnchors(...args);
/** See `glob` of `filewright/engine`. */
export const glob: Engine["glob"] = (...args) => engine().glob(...args);
/** See `rankPaths` of `filewright/engine`. */
export const rankPaths: Engine["ranking"]["paths"] = (...args) => engine().ranking.paths(...args);
/** See `grepText` of `filewright/engine`. */
export const grepText: Engine["grepText"] = (...args) => engine().grepText(...args);
/** See `grepTextAsync` of `filewright/engine`. */
export const grepTextAsync: Engine["grepTextAsync"] = (...args) => engine().grepTextAsync(...args);
/** See `compileQuery` of `filewright/engine`. */
export const compileQuery: Engine["compileQuery"] = (...args) => engine().compileQuery(...args);
/** See `ignoreRules` of `filewright/engine`. */
export const ignoreRules: Engine["ignoreRules"] = () => engine().ignoreRules();

/**
 * Reads a patch: a unified diff, git's extended form, or a `*** Begin Patch` envelope.
 *
 * @example parsePatch("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n").paths; // ["f"]
 */
export const parsePatch: Engine["parsePatch"] = (...args) => engine().parsePatch(...args);

/**
 * Computes the result of a patch: all files, or an error and nothing.
 *
 * @example applyPatch({ f: "a\n" }, "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n")[0]?.bytes; // "b\n" in UTF-8
 */
export const applyPatch: Engine["applyPatch"] = (...args) => engine().applyPatch(...args);

/**
 * Like {@link applyPatch}, but on another thread where threads exist, so that large files do not block the
 * caller.
 */
export const applyPatchAsync: Engine["applyPatchAsync"] = (...args) => engine().applyPatchAsync(...args);

/**
 * Merges two changed versions of a text, given their common origin. Conflicts are returned as objects, and
 * marked in the text.
 */
export const merge3: Engine["merge3"] = (...args) => engine().merge3(...args);
/** See `merge3Async` of `filewright/engine`. */
export const merge3Async: Engine["onThreads"]["merge3"] = (...args) => engine().onThreads.merge3(...args);

export * from "./errors.ts";
export type * from "./functions.ts";
