/**
 * Loads the engines of the build on Node: the native addon and the WebAssembly module. No other file knows
 * their paths.
 *
 * An addon built in this checkout precedes an installed platform package. On Linux the packages for both C
 * libraries are tried, because the wrong one fails to load. `FILEWRIGHT_ENGINE` overrides this: `wasm`, or
 * the path of a `.node` file.
 */
import { fileURLToPath } from "node:url";
import { createRequire } from "node:module";
import type * as addon from "./generated/binding.ts";
import type { Binding } from "./engine.ts";
import { FilewrightError } from "./errors.ts";
import { platformTables } from "./wasm/legacy.ts";
import { type WasmGlue, guardBinding } from "./wasm/trap.ts";

/**
 * Returns the absolute path of a file in `dist`. It is computed relative to this module, which is always two
 * folders below the package: in `js/engine` during development, in `dist/engine` after a build, or in
 * `dist/bin`, where the bundle of the command contains it.
 */
export function builtFilePath(path: string): string {
  return fileURLToPath(new URL(`../../dist/${path}`, import.meta.url));
}

/** The addon: the binding of the core, and the functions that need an operating system. */
export type NativeBinding = typeof addon;

const require = createRequire(import.meta.url);
const ABI_SUFFIXES_BY_OS: Readonly<Record<string, readonly string[]>> = {
  linux: ["-gnu", "-musl"],
  win32: ["-msvc"],
};

/** Returns the paths at which the addon may be, in the order in which they are tried. */
function possibleAddonPaths(): readonly string[] {
  const wish = process.env["FILEWRIGHT_ENGINE"];
  if (wish?.endsWith(".node")) return [wish];
  const names = (ABI_SUFFIXES_BY_OS[process.platform] ?? [""]).map(
    (abi) => `${process.platform}-${process.arch}${abi}`,
  );
  return [
    ...names.map((name) => builtFilePath(`native/filewright.${name}.node`)),
    ...names.map((name) => `@filewright/native-${name}`),
  ];
}

/** Loads the addon. Returns its exports, or the reasons why it cannot be loaded. */
export function loadNative(): { readonly binding: NativeBinding } | { readonly reason: string } {
  if (process.env["FILEWRIGHT_ENGINE"] === "wasm") return { reason: "FILEWRIGHT_ENGINE=wasm" };
  const tried: string[] = [];
  for (const place of possibleAddonPaths()) {
    try {
      return { binding: require(place) as NativeBinding };
    } catch (error) {
      tried.push(error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error));
    }
  }
  return { reason: `the native addon did not load (${tried.join("; ")}); in a checkout run: npm run build` };
}

/**
 * Returns the WebAssembly binding, or the reason why it cannot be loaded. Synchronous like the loading of the
 * addon, because it replaces the addon where that does not load.
 */
export function loadWasm(): { readonly binding: Binding } | { readonly reason: string } {
  try {
    return {
      binding: guardBinding<Binding>(
        require(builtFilePath("wasm/filewright.cjs")) as WasmGlue,
        platformTables,
      ),
    };
  } catch (error) {
    const message = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    return {
      reason: `the WebAssembly module did not load (${message}); in a checkout run: npm run build:wasm`,
    };
  }
}

/**
 * Returns the addon. `work` names in the error what needs it. @throws FilewrightError UNSUPPORTED_PLATFORM
 * when it does not load
 */
export function requireAddon(work: string): NativeBinding {
  const loaded = loadNative();
  if ("binding" in loaded) return loaded.binding;
  throw new FilewrightError("UNSUPPORTED_PLATFORM", `${work} needs the native addon: ${loaded.reason}`, {
    hint: "run: npm run build",
  });
}
