/**
 * `filewright/edit` on workerd: the WebAssembly module is imported together with the script, because workerd
 * cannot fetch it; see `index.workerd.ts`.
 */
import compiled from "../wasm/filewright_edit_bg.wasm";
import { setEditModule } from "./wasm/wasm-edit.ts";

setEditModule(compiled);

export * from "./edit-entry.ts";
