/**
 * `filewright/engine` on workerd, which cannot fetch files relative to a script: the module is imported
 * with the script, and `ready()` needs no source.
 */
import compiled from "../wasm/filewright_bg.wasm";
import { beside } from "./wasm/wasm.ts";

beside(compiled);

export * from "./index.ts";
