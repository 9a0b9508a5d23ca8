/** The small module on workerd, see `module.workerd.ts`. */
import compiled from "../../wasm/filewright_edit_bg.wasm";
import { beside } from "./wasm-edit.ts";

beside(compiled);
