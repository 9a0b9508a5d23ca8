/**
 * What we use of the JavaScript that `npm run build:wasm` writes to dist/wasm;
 * here so that the types hold before it has been built.
 */

/** Compiles and instantiates the module. */
// biome-ignore lint/style/noDefaultExport: the generated file's own form
export default function init(options: { module_or_path: WasmSource | Promise<WasmSource> }): Promise<unknown>;

/** Throws the instance away and makes a new one of the same module. */
export function __wbg_reset_state(): void;

/** Where the module's bytes may come from. */
export type WasmSource = WebAssembly.Module | BufferSource | Response | Request | URL | string;
