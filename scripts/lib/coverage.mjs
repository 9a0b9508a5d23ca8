// How much of js/ the fast tests must run.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.mjs";

/** Percent of lines; half a thousand only run where the WebAssembly module is built. */
export function leastLines() {
  return existsSync(join(root, "dist/wasm/filewright_bg.wasm")) ? 95 : 93;
}
