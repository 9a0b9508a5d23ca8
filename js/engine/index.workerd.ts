/**
 * `filewright/engine` on workerd, which cannot fetch files relative to a script: the WebAssembly module is
 * imported together with the script, so `ready()` needs no argument.
 */
import compiled from "../wasm/filewright_bg.wasm";
import { setWasmModule } from "./wasm/wasm.ts";

setWasmModule(compiled);

export * from "./index.ts";
