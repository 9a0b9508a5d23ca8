/** `filewright/diff` on workerd: the module is imported with the script. */
import "../engine/wasm/edit-module.workerd.ts";

export * from "./index.ts";
