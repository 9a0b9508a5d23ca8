/**
 * Loads the two engines of the build on Node: the addon and the WebAssembly module. Only this file
 * knows their paths.
 *
 * A checkout's own addon takes precedence over an installed platform package. On Linux the names for
 * both C libraries are tried: the wrong one does not load. `FILEWRIGHT_ENGINE` overrides: `wasm`, or
 * the path of a `.node` file.
 */
import { fileURLToPath } from "node:url";
import { createRequire } from "node:module";
import type * as addon from "./generated/binding.ts";
import type { Binding } from "./engine.ts";
import { FilewrightError } from "./errors.ts";
import { platformTables } from "./wasm/legacy.ts";
import { type Glue, guarded } from "./wasm/trap.ts";

/**
 * Returns the path of a file in dist. This module stays two folders below the package: its address is
 * as deep in js/engine during development, in dist/engine after a build, and in dist/bin, where the
 * bundle of the command holds it.
 */
export function builtFile(path: string): string {
  return fileURLToPath(new URL(`../../dist/${path}`, import.meta.url));
}

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

/**
 * Returns the WebAssembly binding, or the reason why it cannot be loaded. Synchronous, because a
 * fallback must be as synchronous as the addon it replaces.
 */
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

/** Returns the addon for work that needs it. @throws FilewrightError UNSUPPORTED_PLATFORM where it does not load */
export function requireNative(work: string): NativeBinding {
  const loaded = loadNative();
  if ("binding" in loaded) return loaded.binding;
  throw new FilewrightError("UNSUPPORTED_PLATFORM", `${work} needs the native addon: ${loaded.reason}`, {
    hint: "run: npm run build",
  });
}
