/** The engine on Node: native where the addon loads, else WebAssembly. */
import { setEngine } from "./current.ts";
import { makeEngine } from "./engine.ts";
import { loadNative } from "./native.node.ts";

const native = loadNative();
if ("binding" in native) setEngine(makeEngine(native.binding, { kind: "native" }));

export { engine } from "./current.ts";
export type { Engine, EngineInfo } from "./engine.ts";
export * from "./errors.ts";
