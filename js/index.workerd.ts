/** The same on workerd, with the module imported with the script. */
import "./engine/wasm/module.workerd.ts";

export * from "./index.ts";
