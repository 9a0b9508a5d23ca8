/**
 * `filewright/wasm` on Node: the same functions as `filewright/engine`, on the
 * WebAssembly engine, beside whichever engine the rest of the process uses.
 */
import { type Engine, type EngineInfo, makeEngine } from "../engine/engine.ts";
import { FilewrightError } from "../engine/errors.ts";
import { loadWasm } from "../engine/wasm.node.ts";

let loaded: Engine | undefined;

/** The WebAssembly engine. @throws FilewrightError UNSUPPORTED_PLATFORM where the module does not load */
export function engine(): Engine {
  if (loaded === undefined) {
    const wasm = loadWasm();
    if ("reason" in wasm) throw new FilewrightError("UNSUPPORTED_PLATFORM", wasm.reason);
    loaded = makeEngine(wasm.binding, { kind: "wasm", reason: "imported as filewright/wasm" });
  }
  return loaded;
}

/** Loads the engine; on Node there is nothing to wait for. */
export async function ready(): Promise<EngineInfo> {
  return engine().info;
}

/** `sha256:` and 64 hexadecimal digits of the bytes. */
export const sha256: Engine["sha256"] = (bytes) => engine().sha256(bytes);

/** Compares two texts, line by line. */
export const diff: Engine["diff"] = (...args) => engine().diff(...args);

/** The same as a promise. */
export const diffAsync: Engine["diffAsync"] = (...args) => engine().diffAsync(...args);

/** Applies edits to a text: all of them, or a refusal that says which one and why. */
export const planEdits: Engine["planEdits"] = (...args) => engine().planEdits(...args);

/** Applies edits to the bytes of a text. */
export const planEditsBytes: Engine["planEditsBytes"] = (...args) => engine().planEditsBytes(...args);

/** The same as a promise. */
export const planEditsBytesAsync: Engine["planEditsBytesAsync"] = (...args) =>
  engine().planEditsBytesAsync(...args);

export * from "../engine/errors.ts";
export * from "../engine/types.ts";
