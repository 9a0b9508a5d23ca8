/** `filewright/edit` on workerd: the module is imported with the script. */
import "./wasm/edit-module.workerd.ts";

export * from "./edit-entry.ts";
