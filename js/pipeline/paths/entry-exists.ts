/** Whether there is an entry at a path, for checks of names; the call itself reports why it cannot be looked at. */
import type { Files } from "../../backends/files.ts";
import { lstatOrNull } from "../../backends/fallback/fallback.ts";

/** Returns true when an entry exists; returns `refused` when the storage does not allow the look-up. */
export async function entryExists(fs: Files, path: string, refused: boolean): Promise<boolean> {
  try {
    return (await lstatOrNull(fs, path)) !== null;
  } catch {
    return refused;
  }
}
