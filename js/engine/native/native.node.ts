/**
 * Loads the native addon. Only this file knows its path.
 *
 * A checkout's own build takes precedence over an installed platform package. On Linux the names
 * for both C libraries are tried: the wrong one does not load. `FILEWRIGHT_ENGINE` overrides:
 * `wasm`, or the path of a `.node` file.
 */
import { createRequire } from "node:module";
import { builtFile } from "../built-file.node.ts";
import type * as addon from "../generated/binding.ts";

/** The addon: the core's binding and the functions that need an operating system. */
export type NativeBinding = typeof addon;

const require = createRequire(import.meta.url);
const ABIS: Readonly<Record<string, readonly string[]>> = { linux: ["-gnu", "-musl"], win32: ["-msvc"] };

/** Returns the possible paths of the addon, in order of precedence. */
function places(): readonly string[] {
  const wish = process.env["FILEWRIGHT_ENGINE"];
  if (wish?.endsWith(".node")) return [wish];
  const names = (ABIS[process.platform] ?? [""]).map((abi) => `${process.platform}-${process.arch}${abi}`);
  return [
    ...names.map((name) => builtFile(`native/filewright.${name}.node`)),
    ...names.map((name) => `@filewright/native-${name}`),
  ];
}

/** Returns the addon, or the reasons why it cannot be loaded. */
export function loadNative(): { readonly binding: NativeBinding } | { readonly reason: string } {
  if (process.env["FILEWRIGHT_ENGINE"] === "wasm") return { reason: "FILEWRIGHT_ENGINE=wasm" };
  const tried: string[] = [];
  for (const place of places()) {
    try {
      return { binding: require(place) as NativeBinding };
    } catch (error) {
      tried.push(error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error));
    }
  }
  return { reason: `the native addon did not load (${tried.join("; ")}); in a checkout run: npm run build` };
}
