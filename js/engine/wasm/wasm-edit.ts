/**
 * The small WebAssembly engine, a third of the size of the full one: diffs, edits, patches and merges. It
 * knows the encodings UTF-8, UTF-16 and windows-1252.
 */
import init, * as glue from "../../wasm/filewright_edit.js";
import { setTextEngine } from "../current.ts";
import { makeTextEngine, type TextBinding } from "../text/text-engine.ts";
import { type WasmGlue, guardBinding } from "./trap.ts";
import { WASM_ENGINE_INFO, makeWasmLoader, type Ready, type WasmSource } from "./wasm-load.ts";

const editModule = makeWasmLoader(
  init,
  () =>
    setTextEngine(makeTextEngine(guardBinding<TextBinding>(glue as unknown as WasmGlue), WASM_ENGINE_INFO)),
  // Bundlers recognise a URL in this form and include the file.
  () => new URL("../../wasm/filewright_edit_bg.wasm", import.meta.url),
);

/**
 * Loads the small engine. Every further call returns the same promise, unless loading failed: then it is
 * tried again.
 *
 * @param source the module, where the runtime cannot fetch it relative to this script: with
 * `import wasm from "filewright/filewright-edit.wasm"` for instance
 * @example await ready();
 */
export const ready: Ready = editModule.ready;

/** Sets the module that `ready` uses without an argument, instead of fetching the file next to the script. */
export const setEditModule: (module: WasmSource) => void = editModule.beside;
