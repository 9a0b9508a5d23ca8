/** `filewright` on workerd: as elsewhere outside Node, with the module imported with the script. */
import "./engine/wasm/module.workerd.ts";

export * from "./filewright.ts";
