/**
 * Loads the engines of the build on Node: the native addon and the WebAssembly module. No other file knows
 * their paths.
 *
 * An addon built in this checkout precedes an installed platform package. `FILEWRIGHT_ENGINE` overrides this:
 * `wasm`, the path of a `.node` file, or `native`, with which nothing replaces an addon that does not load.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type * as addon from "./generated/binding.ts";
import type { Binding } from "./engine.ts";
import { FilewrightError } from "./errors.ts";
import { VERSION } from "./generated/version.ts";
import {
  type AddonFailure,
  type AddonPlace,
  DISABLED,
  failedToLoad,
  missingAddon,
  otherVersion,
  unknownSetting,
  withoutFolders,
} from "./native/addon-failure.node.ts";
import addonPackages from "./native/addons.cjs";
import { platformTables } from "./wasm/legacy.ts";
import { type WasmGlue, guardBinding } from "./wasm/trap.ts";

/** The URL of this module. In a bundle that is CommonJS, `import.meta.url` is undefined and `__filename` is there. */
const moduleUrl: string =
  (import.meta.url as string | undefined) ??
  pathToFileURL(typeof __filename === "string" ? __filename : resolve("filewright.js")).href;

/**
 * Returns the absolute path of a file in `dist`. It is computed relative to this module, which is always two
 * folders below the package: in `js/engine` during development, in `dist/engine` after a build, or in
 * `dist/bin`, where the bundle of the command contains it.
 */
export function builtFilePath(path: string): string {
  return fileURLToPath(new URL(`../../dist/${path}`, moduleUrl));
}

/** The addon: the binding of the core, and the functions that need an operating system. */
export type NativeBinding = typeof addon;

/** The addon, or why it is not in use. */
export type LoadedNative = { readonly binding: NativeBinding } | { readonly failure: AddonFailure };

const requireFile = createRequire(moduleUrl);

/** Loads the addon. */
export function loadNative(): LoadedNative {
  const wish = process.env["FILEWRIGHT_ENGINE"] ?? "";
  if (wish === "wasm") return { failure: DISABLED };
  const platforms = platformNames();
  const platform = platforms[0] as string;
  if (wish.endsWith(".node")) {
    const file = resolve(wish);
    const place = { platform, kind: "file" } as const;
    return existsSync(file) ? loadFile(file, place) : { failure: missingAddon(place) };
  }
  if (wish !== "" && wish !== "native") return { failure: unknownSetting(wish) };
  let failure: AddonFailure | undefined;
  for (const name of platforms) {
    const file = builtFilePath(`native/filewright.${name}.node`);
    if (!existsSync(file)) continue;
    const loaded = loadFile(file, { platform: name, kind: "checkout" });
    if ("binding" in loaded) return loaded;
    failure ??= loaded.failure;
  }
  for (const name of platforms) {
    const loaded = loadPackage(name);
    if (loaded === undefined) continue;
    if ("binding" in loaded) return loaded;
    failure ??= loaded.failure;
  }
  return { failure: failure ?? missingAddon({ platform, kind: isCheckout() ? "checkout" : "package" }) };
}

/** Loads the addon at an absolute path. */
function loadFile(file: string, place: AddonPlace): LoadedNative {
  let exports: unknown;
  try {
    exports = requireFile(file);
  } catch (error) {
    return { failure: failedToLoad(place, error, glibcVersion()) };
  }
  return checkVersion(exports, place);
}

/** Loads the addon of a package. Returns nothing if it is not installed. */
function loadPackage(platform: string): LoadedNative | undefined {
  const place = { platform, kind: "package" } as const;
  const loaded = addonPackages.requireAddonPackage(platform);
  if (loaded === undefined) return undefined;
  if ("exports" in loaded) return checkVersion(loaded.exports, place);
  const name = `@filewright/native-${platform}`;
  try {
    // The `require` of a bundle can be one that finds no packages.
    return checkVersion(requireFile(name), place);
  } catch (error) {
    return isNotFound(error, name) ? undefined : { failure: failedToLoad(place, error, glibcVersion()) };
  }
}

/** An error that says that this very package is not installed, and not that a file of it is missing. */
function isNotFound(error: unknown, name: string): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return (code === "MODULE_NOT_FOUND" || code === "ERR_MODULE_NOT_FOUND") && message.includes(`'${name}'`);
}

/**
 * Compares the version of an addon with this package's. The build of a checkout is not compared: it was made
 * from the same folder, whose version changes before it is built again.
 */
function checkVersion(exports: unknown, place: AddonPlace): LoadedNative {
  const binding = exports as NativeBinding;
  if (place.kind === "checkout") return { binding };
  const found = typeof binding.version === "function" ? binding.version() : undefined;
  return found === VERSION ? { binding } : { failure: otherVersion(place, found) };
}

/** Returns the names of this platform in the order in which they are tried. */
function platformNames(): readonly string[] {
  const name = `${process.platform}-${process.arch}`;
  if (process.platform === "win32") return [`${name}-msvc`];
  if (process.platform !== "linux") return [name];
  // Both, because the one that is expected may be missing and the other work. The likely one first, because
  // the other can crash the process where a system imitates its C library.
  const libcs = mayBeMusl() && glibcVersion() === undefined ? ["musl", "gnu"] : ["gnu", "musl"];
  return libcs.map((libc) => `${name}-${libc}`);
}

const MUSL_ARCHITECTURES: Readonly<Record<string, string>> = { x64: "x86_64", arm64: "aarch64" };

/** Without the loader of musl this is a system with glibc, and the report, which takes 8 ms, is not needed. */
function mayBeMusl(): boolean {
  try {
    return existsSync(`/lib/ld-musl-${MUSL_ARCHITECTURES[process.arch] ?? process.arch}.so.1`);
  } catch {
    // Node's permissions forbid the question, which Node 20 answers with an error.
    return true;
  }
}

let knownGlibcVersion: { readonly version: string | undefined } | undefined;

/** Returns the version of glibc that this process runs on; undefined on another C library. */
function glibcVersion(): string | undefined {
  if (knownGlibcVersion !== undefined) return knownGlibcVersion.version;
  // Without this, a report asks the network for the names of all its peers.
  const report = process.report as typeof process.report & { excludeNetwork?: boolean };
  const before = report.excludeNetwork;
  report.excludeNetwork = true;
  const { header } = report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  if (before !== undefined) report.excludeNetwork = before;
  knownGlibcVersion = { version: header.glibcVersionRuntime };
  return knownGlibcVersion.version;
}

/** Returns true in a checkout of the repository; false in an installed package. */
const isCheckout = (): boolean => existsSync(builtFilePath("../Cargo.toml"));

/**
 * Returns the WebAssembly binding, or the reason why it cannot be loaded. Synchronous like the loading of the
 * addon, because it replaces the addon where that does not load.
 */
export function loadWasm(): { readonly binding: Binding } | { readonly reason: string } {
  try {
    return {
      binding: guardBinding<Binding>(
        requireFile(builtFilePath("wasm/filewright.cjs")) as WasmGlue,
        platformTables,
      ),
    };
  } catch (error) {
    const message = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    const remedy = isCheckout() ? "run: npm run build:wasm" : `run: npm install filewright@${VERSION}`;
    return { reason: `the WebAssembly module did not load (${withoutFolders(message)}); ${remedy}` };
  }
}

/**
 * Returns the addon. `work` names in the error what needs it. @throws FilewrightError UNSUPPORTED_PLATFORM
 * when it does not load
 */
export function requireAddon(work: string): NativeBinding {
  const loaded = loadNative();
  if ("binding" in loaded) return loaded.binding;
  const { code, message, remedy } = loaded.failure;
  throw new FilewrightError("UNSUPPORTED_PLATFORM", `${work} needs the native addon: ${message}; ${remedy}`, {
    hint: remedy,
    details: { reason: code },
  });
}
