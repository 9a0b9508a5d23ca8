/**
 * The small WebAssembly engine, a third of the whole one: diffs, edits, patches
 * and merges. Of encodings it knows UTF-8, UTF-16 and windows-1252.
 */
import init, * as glue from "../wasm/filewright_edit.js";
import { setTextEngine } from "./current.ts";
import { makeTextEngine, type TextBinding } from "./text-engine.ts";
import { type Glue, guarded } from "./trap.ts";
import { INFO, loader, type Ready, type WasmSource } from "./wasm-load.ts";

const module = loader(
  init,
  () => setTextEngine(makeTextEngine(guarded<TextBinding>(glue as unknown as Glue), INFO)),
  // In this form bundlers find the file and take it along.
  () => new URL("../wasm/filewright_edit_bg.wasm", import.meta.url),
);

/**
 * Loads the small engine once; every further call gives the same promise. A
 * failed load may be tried again.
 *
 * @param source the module, where the runtime cannot fetch it from beside this
 * script: with `import wasm from "filewright/filewright-edit.wasm"` for instance
 * @example await ready();
 */
export const ready: Ready = module.ready;

/** Names the module to take instead of the file beside the script. */
export const beside: (module: WasmSource) => void = module.beside;
