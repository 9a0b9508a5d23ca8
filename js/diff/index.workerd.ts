/** `filewright/diff` on workerd: the WebAssembly module is imported together with the script. */
import "../engine/edit-entry.workerd.ts";

export * from "./index.ts";
