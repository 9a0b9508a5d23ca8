/** `filewright/diff` on workerd: the module is imported with the script. */
import "../engine/edit-entry.workerd.ts";

export * from "./index.ts";
