/** `filewright` on workerd: as elsewhere outside Node, with the module imported with the script. */
import "./engine/index.workerd.ts";

export * from "./filewright.ts";
