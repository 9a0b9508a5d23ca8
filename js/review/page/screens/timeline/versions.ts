/** The versions of a file that calls have made: pure functions of the history. */
import type { PastCall } from "../../../past/history-protocol.ts";

/** A version of a file. */
export interface FileVersion {
  /** The name of the version in requests: a call, `before:` and a call, or `now`. */
  readonly id: string;
  /** The call that made it; undefined for the one before all calls, and for the one that is there now. */
  readonly by: PastCall | undefined;
  /** The call that changed it next, to which a rewind restores it; undefined for the last one. */
  readonly next: PastCall | undefined;
}

/** The version that is there now. */
export const NOW = "now";

/** Returns the versions of a file, the newest first: the one that is there now, those of calls, and the first one. */
export function versionsOf(entries: readonly PastCall[], path: string): readonly FileVersion[] {
  const calls = entries.filter(({ paths, unrecorded }) => unrecorded !== true && paths.includes(path));
  const first = calls.at(-1);
  if (first === undefined) return [];
  return [
    { id: NOW, by: undefined, next: undefined },
    ...calls.map((by, index) => ({ id: by.callId, by, next: calls[index - 1] })),
    { id: `before:${first.callId}`, by: undefined, next: first },
  ];
}

/** Returns the versions to compare: those that are chosen, or the version before the newest call and the present one. */
export function comparedVersions(
  versions: readonly FileVersion[],
  chosen: { readonly before?: string | undefined; readonly after?: string | undefined },
): { readonly before: string | undefined; readonly after: string | undefined } {
  const known = (id: string | undefined): string | undefined =>
    versions.some((version) => version.id === id) ? id : undefined;
  return { before: known(chosen.before) ?? versions[2]?.id, after: known(chosen.after) ?? versions[0]?.id };
}
