/**
 * The backends whose searches have the cursors and the path order of this library, so that a layer above them can go on
 * with the same cursor. The searches of any other backend may have cursors of their own.
 */
import type { FsBackend } from "../backend.ts";

const backends = new WeakSet<object>();

/** Records that the `grep` and `find` of a backend take and give the cursors of `js/engine/wire/cursor.ts`. */
export function markOwnCursors(backend: FsBackend): void {
  backends.add(backend);
}

/** Returns true for a backend that was recorded. */
export function hasOwnCursors(backend: FsBackend): boolean {
  return backends.has(backend);
}
