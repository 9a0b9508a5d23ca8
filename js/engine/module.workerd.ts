/** On workerd nothing can be fetched from beside a script: the modules are imported with it. */
import compiled from "../wasm/filewright_bg.wasm";
import { beside } from "./wasm.ts";

beside(compiled);
