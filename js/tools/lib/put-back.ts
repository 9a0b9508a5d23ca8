/** The uses and effects of a call that puts paths back, for its rules and locks. */
import type { PastState } from "../../backends/transaction/pre-image.ts";
import type { PathEffect, PathUse } from "./tool.ts";

/** Returns the use of a path that is put back, with everything below it. */
export function putBackUse(argument: string, typed: string): PathUse {
  return { argument, typed, intent: "write", entry: true, tree: true, missing: "accept" };
}

/**
 * Returns what putting paths back does to each of them, by the path as callers see it, as calls of other tools, so that
 * rules for those tools apply: created entries are deleted, and moved ones are moved back.
 */
export function effectsOfPutBack(
  states: readonly PastState[],
  display: (path: string) => string,
): ReadonlyMap<string, readonly PathEffect[]> {
  const effects = new Map<string, readonly PathEffect[]>();
  for (const { path, image } of states) {
    const args = { path: display(path), recursive: true, missing_ok: false };
    if (image === null) effects.set(args.path, [{ tool: "delete", args }]);
  }
  // The move that brings an entry to a path says more about the path than one that takes another entry away.
  for (const end of ["source", "destination"] as const)
    for (const { path, from } of states) {
      if (from === undefined) continue;
      const args = {
        source: display(from),
        destination: display(path),
        overwrite: false,
        create_dirs: true,
      };
      effects.set(args[end], [{ tool: "move", args }]);
    }
  return effects;
}
