/**
 * `filewright/workspace` on workerd: as in other environments without Node, but the script imports the WASM
 * module.
 */
import "../engine/index.workerd.ts";

export * from "./index.ts";
