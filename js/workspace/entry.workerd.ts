/**
 * `filewright/workspace` on workerd: as in other environments without Node, but the script imports the WASM
 * module.
 */
import "../engine/wasm/module.workerd.ts";

export * from "./entry.ts";
