/**
 * Loads the WebAssembly engine on Node, synchronously: there the module is a file, and a fallback
 * must be as synchronous as the addon it replaces.
 */
import { createRequire } from "node:module";
import { builtFile } from "../built-file.node.ts";
import type { Binding } from "../engine.ts";
import { platformTables } from "./legacy.ts";
import { type Glue, guarded } from "./trap.ts";

const require = createRequire(import.meta.url);

/** Returns the WebAssembly binding, or the reason why it cannot be loaded. */
export function loadWasm(): { readonly binding: Binding } | { readonly reason: string } {
  try {
    return { binding: guarded<Binding>(require(builtFile("wasm/filewright.cjs")) as Glue, platformTables) };
  } catch (error) {
    const message = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    return {
      reason: `the WebAssembly module did not load (${message}); in a checkout run: npm run build:wasm`,
    };
  }
}
