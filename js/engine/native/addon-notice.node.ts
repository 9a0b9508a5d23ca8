/** The notice that a disk is used without the native addon. */
import { loadNative } from "../load.node.ts";

/** The sentence for a model and for a person. */
const NOTICE = "running without the native addon: slower searches, weaker protection against races";

/**
 * Returns what a program tells its user once when the addon does not load, with the reason and the remedy; undefined
 * where it loads.
 */
export function missingAddonNotice(): string | undefined {
  const loaded = loadNative();
  if ("binding" in loaded) return undefined;
  const { code, message, remedy } = loaded.failure;
  // No disk opens then, and the error of the setting says why.
  if (code === "setting") return undefined;
  return `${NOTICE} (${message}; ${remedy})`;
}

/** Returns what a model is told about a server without the addon; undefined where it loads. */
export function missingAddonInstruction(): string | undefined {
  return "binding" in loadNative() ? undefined : `${NOTICE[0]?.toUpperCase()}${NOTICE.slice(1)}.`;
}
