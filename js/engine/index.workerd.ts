/** `filewright/engine` on workerd: the module is imported with the script, `ready()` needs no source. */
import "./wasm/module.workerd.ts";

export * from "./index.ts";
