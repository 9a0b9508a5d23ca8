/**
 * Loads the engine on Node: the native addon or the WebAssembly module. Other files ask this one; the names of
 * the addon's packages are in `native/addons.node.ts`.
 *
 * An addon built in this checkout precedes an installed platform package. `FILEWRIGHT_ENGINE` overrides this:
 * `wasm`, the path of a `.node` file, or `native`. `native` changes nothing here: `index.node.ts` and
 * `backends/disk.node.ts` then refuse to replace an addon that does not load.
 */
import { existsSync } from "node:fs";
import module from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type * as addon from "./generated/binding.ts";
import type { Binding } from "./engine.ts";
import { messageOf } from "./thrown.ts";
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
import { moduleUrlOf, requireAddonPackage } from "./native/addons.node.ts";
import { platformTables } from "./wasm/legacy.ts";
import { type WasmGlue, guardBinding } from "./wasm/trap.ts";

const moduleUrl = moduleUrlOf(import.meta.url);

/** Its spelling and the literal names in its calls matter to tracers of files: see addons.node.ts. */
const requireFile = module.createRequire(moduleUrl);

/**
 * Returns the absolute path of a file in `dist`. It is computed relative to this module, which is always two
 * folders below the package: in `js/engine` during development, in `dist/engine` after a build, or in
 * `dist/bin`, where the bundle of the command contains it. In the bundle of another program it is the path in
 * the installed package.
 */
export function builtFilePath(path: string): string {
  const near = fileURLToPath(new URL(`../../dist/${path}`, moduleUrl));
  if (fileExists(near) || isInOwnPackage()) return near;
  try {
    return join(requireFile.resolve("filewright/package.json"), "../dist", path);
  } catch {
    return near;
  }
}

let isInOwn: boolean | undefined;

/**
 * Returns true where this module is a file of its own package and not a part of another program's bundle. Then the
 * package need not be looked for, which would take 2 ms of each start.
 */
function isInOwnPackage(): boolean {
  isInOwn ??= fileExists(fileURLToPath(new URL("../../dist/bin/filewright.js", moduleUrl)));
  return isInOwn;
}

/** False also where Node's permission model forbids to look. */
function fileExists(path: string): boolean {
  try {
    return existsSync(path);
  } catch {
    return false;
  }
}

/** The addon: the binding of the core, and the functions that need an operating system. */
export type NativeBinding = typeof addon;

/** The addon, or why it is not in use. */
export type LoadedNative = { readonly binding: NativeBinding } | { readonly failure: AddonFailure };

/** The addon that was loaded, by the setting under which it was found. */
const loadedByWish = new Map<string, LoadedNative>();

/** Loads the addon. One that was loaded is not looked for again: a change must not fail half-way where the disk does. */
export function loadNative(): LoadedNative {
  const wish = process.env["FILEWRIGHT_ENGINE"] ?? "";
  const known = loadedByWish.get(wish);
  if (known !== undefined) return known;
  const loaded = findNative(wish);
  if ("binding" in loaded) loadedByWish.set(wish, loaded);
  return loaded;
}

function findNative(wish: string): LoadedNative {
  if (wish === "wasm") return { failure: DISABLED };
  const platforms = platformNames();
  const platform = platforms[0] as string;
  if (wish.endsWith(".node")) return loadNamed(resolve(wish), platform);
  if (wish !== "" && wish !== "native") return { failure: unknownSetting(wish) };
  let failure: AddonFailure | undefined;
  for (const load of [loadBuilt, loadPackage])
    for (const name of platforms) {
      const loaded = load(name);
      if (loaded !== undefined && "binding" in loaded) return loaded;
      failure ??= loaded?.failure;
    }
  return { failure: failure ?? missingAddon({ platform, kind: isCheckout() ? "checkout" : "package" }) };
}

/** Loads the addon that was built in this checkout. Returns nothing if none was. */
function loadBuilt(platform: string): LoadedNative | undefined {
  const file = builtFilePath(`native/filewright.${platform}.node`);
  return fileExists(file) ? loadFile(file, { platform, kind: "checkout" }) : undefined;
}

/** Loads the addon that a person has named. */
function loadNamed(file: string, platform: string): LoadedNative {
  const place = { platform, kind: "file" } as const;
  return fileExists(file) ? loadFile(file, place) : { failure: missingAddon(place) };
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
  try {
    const exports = requireAddonPackage(platform);
    return exports === undefined ? undefined : checkVersion(exports, place);
  } catch (error) {
    return { failure: failedToLoad(place, error, glibcVersion()) };
  }
}

/**
 * Compares the version of an addon with this package's. The build of a checkout is not compared: it was made
 * from the same folder, whose version changes before it is built again.
 */
function checkVersion(exports: unknown, place: AddonPlace): LoadedNative {
  // A copy: the exports of an addon are a dictionary, from which each load of a name takes a microsecond.
  const binding = { ...(exports as NativeBinding) };
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

/** Returns true if the loader of musl exists or cannot be looked for. Only then is Node's report made, which takes 8 ms. */
function mayBeMusl(): boolean {
  try {
    return existsSync(`/lib/ld-musl-${MUSL_ARCHITECTURES[process.arch] ?? process.arch}.so.1`);
  } catch {
    // Node's permissions forbid the question, which Node 20 answers with an error.
    return true;
  }
}

let knownGlibcVersion: { readonly version: string | undefined } | undefined;

/** Returns the version of glibc that this process runs on; undefined on another C library, or if nothing tells. */
function glibcVersion(): string | undefined {
  knownGlibcVersion ??= { version: reportedGlibcVersion() };
  return knownGlibcVersion.version;
}

function reportedGlibcVersion(): string | undefined {
  // Without this, a report asks the network for the names of all its peers.
  const report = process.report as typeof process.report & { excludeNetwork?: boolean };
  const before = report.excludeNetwork;
  try {
    report.excludeNetwork = true;
    const { header } = report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
    return header.glibcVersionRuntime;
  } catch {
    // Deno without the permission to ask for facts of the system.
    return undefined;
  } finally {
    if (before !== undefined) report.excludeNetwork = before;
  }
}

/** Returns true in a checkout of the repository; false in an installed package. */
const isCheckout = (): boolean => fileExists(builtFilePath("../Cargo.toml"));

/** Returns the exports of the code around the WebAssembly module. */
function requireGlue(): WasmGlue {
  try {
    return requireFile("../../dist/wasm/filewright.cjs") as WasmGlue;
  } catch (error) {
    const installed = builtFilePath("wasm/filewright.cjs");
    if (!fileExists(installed)) throw error;
    return requireFile(installed) as WasmGlue;
  }
}

/**
 * Returns the WebAssembly binding, or the reason why it cannot be loaded. Synchronous like the loading of the
 * addon, because it replaces the addon where that does not load.
 */
export function loadWasm(): { readonly binding: Binding } | { readonly reason: string } {
  try {
    return {
      binding: guardBinding<Binding>(requireGlue(), platformTables),
    };
  } catch (error) {
    const [message = ""] = messageOf(error).split("\n");
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
