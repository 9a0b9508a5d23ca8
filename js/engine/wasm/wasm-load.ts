/**
 * Loads a WebAssembly module outside Node: once, and by streaming from an address or a response.
 *
 * Nothing is fetched until it is requested.
 */
import { FilewrightError } from "../errors.ts";
import type { EngineInfo } from "../text/text-engine.ts";

/** The source of the module: compiled, as bytes, as a response, or an address. */
export type WasmSource = WebAssembly.Module | BufferSource | Response | Request | URL | string;

/** Loads an engine once; every further call returns the same promise. */
export type Ready = (source?: WasmSource | Promise<WasmSource>) => Promise<EngineInfo>;

/** A loader, and its default module. */
export interface Loader {
  readonly ready: Ready;
  /** Sets the module to use instead of the file next to the script. */
  beside(module: WasmSource): void;
}

type Init = (options: { module_or_path: WasmSource | Promise<WasmSource> }) => Promise<unknown>;

/** A function of one SIMD instruction: a runtime that does not validate it cannot run these modules. */
const SIMD_PROBE = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0],
  ...[1, 5, 1, 96, 0, 1, 123],
  ...[3, 2, 1, 0],
  ...[10, 8, 1, 6, 0, 65, 0, 253, 15, 11],
);

/** The info of an engine that was loaded this way. */
export const INFO: EngineInfo = Object.freeze({ kind: "wasm", reason: "not on Node" });

/**
 * Creates a loader. A failed load may be tried again.
 *
 * @param init the generated function that compiles and instantiates
 * @param use sets the loaded engine in use
 * @param file the address of the file next to the script
 */
export function loader(init: Init, use: () => void, file: () => URL): Loader {
  let loading: Promise<EngineInfo> | undefined;
  let own: WasmSource | undefined;
  const load = async (source: WasmSource | Promise<WasmSource> = own ?? file()): Promise<EngineInfo> => {
    try {
      await init({ module_or_path: source });
    } catch (error) {
      if (WebAssembly.validate(SIMD_PROBE)) throw error;
      throw new FilewrightError("UNSUPPORTED_PLATFORM", "the WebAssembly of this runtime has no SIMD", {
        hint: "use Chrome 91, Firefox 89, Safari 16.4, Node 20 or later",
        cause: error,
      });
    }
    use();
    return INFO;
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
