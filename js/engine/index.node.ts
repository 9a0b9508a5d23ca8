/**
 * `filewright/engine` on Node: native where the addon loads, else WebAssembly.
 *
 * @module filewright/engine
 */
import "./debug.node.ts";
import { debug } from "./debug.ts";
import { engine, setEngine, setNoEngine } from "./current.ts";
import { type EngineInfo, makeEngine } from "./engine.ts";
import { loadNative } from "./native/native.node.ts";
import { loadWasm } from "./wasm/wasm.node.ts";

const native = loadNative();
if ("binding" in native) {
  debug.engine?.("native");
  setEngine(makeEngine(native.binding, { kind: "native" }));
} else {
  const wasm = loadWasm();
  debug.engine?.(`${"binding" in wasm ? "wasm" : `none: ${wasm.reason}`}; ${native.reason}`);
  if ("binding" in wasm) setEngine(makeEngine(wasm.binding, { kind: "wasm", reason: native.reason }));
  else setNoEngine(`${native.reason}; ${wasm.reason}`);
}

/** Returns at once on Node; it exists so that the same code runs everywhere. */
export async function ready(): Promise<EngineInfo> {
  return engine().info;
}

export { engine } from "./current.ts";
export * from "./errors.ts";
export * from "./functions.ts";
export * from "./types.ts";
