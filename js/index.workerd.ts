/** The same on workerd, with the module imported with the script. */
import "./engine/module.workerd.ts";

export * from "./index.ts";
