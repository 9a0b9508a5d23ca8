/** `filewright/edit` on workerd: the module is imported with the script, see `index.workerd.ts`. */
import compiled from "../wasm/filewright_edit_bg.wasm";
import { beside } from "./wasm/wasm-edit.ts";

beside(compiled);

export * from "./edit-entry.ts";
