/** workerd cannot fetch files relative to a script, so the modules are imported with it. */
import compiled from "../../wasm/filewright_bg.wasm";
import { beside } from "./wasm.ts";

beside(compiled);
