/** Opens the local disk: through the native addon where it loads, else over `node:fs`. */
import { loadNative, requireAddon } from "../engine/load.node.ts";
import { lazily } from "../engine/lazy.ts";
import { LocalBackend, type LocalOptions } from "./local/local.node.ts";
import { isCheckedDisk } from "./node/made.node.ts";
import type { NodeBackend } from "./node/node.node.ts";

const nodeDisk = lazily("the disk without the addon", () => import("./node/node.node.ts"));

/** The settings of a disk. */
export interface DiskSettings
  extends Pick<LocalOptions, "stateDir" | "durability" | "preserve" | "kernel" | "index"> {
  /** With `native`, a disk without the addon is refused. Default `auto`. */
  readonly engine?: "auto" | "native" | undefined;
}

/**
 * Opens the local disk.
 * @throws UNSUPPORTED_PLATFORM where the addon does not load and the settings, or FILEWRIGHT_ENGINE, need it
 */
export async function openDisk({ engine, ...settings }: DiskSettings): Promise<LocalBackend | NodeBackend> {
  const loaded = loadNative();
  if ("binding" in loaded) return new LocalBackend(settings);
  const needing = settingThatNeedsAddon({ engine, ...settings });
  if (needing !== undefined) requireAddon(needing);
  // A misspelt FILEWRIGHT_ENGINE, or one that names a file which does not load, must not choose another disk than
  // the one that was meant. Only `wasm` means the disk without the addon.
  const wish = process.env["FILEWRIGHT_ENGINE"] ?? "";
  if (wish !== "" && wish !== "wasm") requireAddon("the local disk under this FILEWRIGHT_ENGINE");
  const { stateDir, durability } = settings;
  return new (await nodeDisk()).NodeBackend({ stateDir, durability });
}

/** Returns the setting that only the addon can fulfil, as the beginning of an error; undefined without one. */
function settingThatNeedsAddon({ engine, kernel, preserve }: DiskSettings): string | undefined {
  if (engine === "native") return 'engine: "native"';
  if (process.env["FILEWRIGHT_ENGINE"] === "native") return "FILEWRIGHT_ENGINE=native";
  if (kernel === "require") return 'kernel: "require"';
  // Node cannot read extended attributes, so their loss could not be refused.
  return preserve === "strict" ? 'preserve: "strict"' : undefined;
}

/** Returns true for a backend whose paths name files of this machine. */
export function isDiskBackend(backend: unknown): boolean {
  return backend instanceof LocalBackend || isCheckedDisk(backend);
}
