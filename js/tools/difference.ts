/** Unified diffs as tools show them: both sides under the path as typed. */
import { engine } from "../engine/current.ts";

const EMPTY = new Uint8Array(0);

/** The unified diff between two contents of one file; empty where they are equal. Null is a file not there yet. */
export function diffOf(before: Uint8Array | null, after: Uint8Array, path: string): string {
  return engine().diff(before ?? EMPTY, after, { oldName: path }).text;
}
