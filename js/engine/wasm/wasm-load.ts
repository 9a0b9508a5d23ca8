/**
 * Loads a WebAssembly module outside Node: once, compiling it while it is fetched where the runtime can.
 *
 * Nothing is fetched until it is requested.
 */
import { FilewrightError } from "../errors.ts";
import type { EngineInfo } from "../text/text-engine.ts";

/** The WebAssembly module: compiled, as bytes, as a response or request, or its address. */
export type WasmSource = WebAssembly.Module | BufferSource | Response | Request | URL | string;

/** Loads an engine and returns a promise of its kind. Every further call returns the same promise. */
export type Ready = (source?: WasmSource | Promise<WasmSource>) => Promise<EngineInfo>;

/** Loads one of the two WebAssembly engines. */
export interface WasmLoader {
  readonly ready: Ready;
  /** Sets the module that `ready` uses without an argument, instead of fetching the file next to the script. */
  beside(module: WasmSource): void;
}

type InitWasm = (options: { module_or_path: WasmSource | Promise<WasmSource> }) => Promise<unknown>;

/**
 * A module with one SIMD instruction. A runtime that does not accept it cannot run the engine, which uses
 * SIMD.
 */
const SIMD_PROBE_MODULE = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0],
  ...[1, 5, 1, 96, 0, 1, 123],
  ...[3, 2, 1, 0],
  ...[10, 8, 1, 6, 0, 65, 0, 253, 15, 11],
);

/** The {@link EngineInfo} of every engine that is loaded by this file. */
export const WASM_ENGINE_INFO: EngineInfo = Object.freeze({ kind: "wasm", reason: "not on Node" });

/**
 * Creates a loader. After a failed load, the next call tries again.
 *
 * @param init the generated function that compiles and instantiates
 * @param use sets the loaded engine in use
 * @param file the address of the file next to the script
 */
export function makeWasmLoader(init: InitWasm, use: () => void, file: () => URL): WasmLoader {
  let loading: Promise<EngineInfo> | undefined;
  let own: WasmSource | undefined;
  const load = async (source: WasmSource | Promise<WasmSource> = own ?? file()): Promise<EngineInfo> => {
    try {
      await init({ module_or_path: source });
    } catch (error) {
      if (WebAssembly.validate(SIMD_PROBE_MODULE)) throw error;
      throw new FilewrightError("UNSUPPORTED_PLATFORM", "the WebAssembly of this runtime has no SIMD", {
        hint: "use Chrome 91, Firefox 89, Safari 16.4, Node 20 or later",
        cause: error,
      });
    }
    use();
    return WASM_ENGINE_INFO;
  };
  return {
    ready(source) {
      loading ??= load(source).catch((error: unknown) => {
        loading = undefined;
        throw error;
      });
      return loading;
    },
    beside(module) {
      own = module;
    },
  };
}
