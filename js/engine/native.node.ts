/**
 * Loads the native addon. The only file that knows where it lies.
 */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Binding } from "./engine.ts";

/** The addon: the core's binding and what needs an operating system. */
export interface NativeBinding extends Binding {
  readonly Cancel: new () => { cancel(): void };
}

const require = createRequire(import.meta.url);
// From js/engine while developing and from dist/engine once built.
const places = ["../../dist/native/filewright.node", "../native/filewright.node"];

/** The addon, or the reasons why it cannot be loaded. */
export function loadNative(): { readonly binding: NativeBinding } | { readonly reason: string } {
  if (process.env["FILEWRIGHT_ENGINE"] === "wasm") return { reason: "FILEWRIGHT_ENGINE=wasm" };
  const reasons: string[] = [];
  for (const place of places) {
    const file = fileURLToPath(new URL(place, import.meta.url));
    try {
      return { binding: require(file) as NativeBinding };
    } catch (error) {
      reasons.push(error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error));
    }
  }
  return { reason: `the native addon did not load (${reasons.join("; ")}); run: npm run build` };
}
