/**
 * The used part of the JavaScript of both modules that `npm run build:wasm` writes to dist/wasm;
 * declared here so that the types exist before the build.
 */
declare module "*/wasm/filewright.js" {
  /** The source of the module's bytes. */
  type WasmSource = WebAssembly.Module | BufferSource | Response | Request | URL | string;

  /** Compiles and instantiates the module. */
  // biome-ignore lint/style/noDefaultExport: the generated file's own form
  export default function init(options: {
    module_or_path: WasmSource | Promise<WasmSource>;
  }): Promise<unknown>;

  /** Discards the instance and creates a new one of the same module. */
  export function __wbg_reset_state(): void;
}

declare module "*/wasm/filewright_edit.js" {
  export { default, __wbg_reset_state } from "*/wasm/filewright.js";
}

/** The result of importing a module on edge runtimes: it is compiled already. */
declare module "*.wasm" {
  const compiled: WebAssembly.Module;
  // biome-ignore lint/style/noDefaultExport: the form they have
  export default compiled;
}
