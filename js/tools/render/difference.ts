/** Unified diffs as tools show them: both sides under the path as typed. */
import { EMPTY_BYTES } from "../../engine/wire/bytes.ts";
import { engine } from "../../engine/current.ts";

/**
 * Returns the unified diff between two contents of one file; empty when they are equal. Null is a
 * file that does not exist yet.
 */
export function diffOf(before: Uint8Array | null, after: Uint8Array, path: string): string {
  return engine().diff(before ?? EMPTY_BYTES, after, { oldName: path }).text;
}
