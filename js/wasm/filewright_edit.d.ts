/**
 * The used part of the JavaScript of the small module that `npm run build:wasm` writes to
 * dist/wasm; declared here so that the types exist before the build.
 */

/** Compiles and instantiates the module. */
// biome-ignore lint/style/noDefaultExport: the generated file's own form
export default function init(options: { module_or_path: WasmSource | Promise<WasmSource> }): Promise<unknown>;

/** Discards the instance and creates a new one of the same module. */
export function __wbg_reset_state(): void;

/** The source of the module's bytes. */
export type WasmSource = WebAssembly.Module | BufferSource | Response | Request | URL | string;
