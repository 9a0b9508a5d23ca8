/**
 * Commands that run at the same time in one tree. What one of them has made is no part of
 * what was there before another: else one could make a place, and the other keep it.
 */
import type { NativeBinding } from "../engine/native.node.ts";
import { isWithin } from "./paths.ts";
import { type Cleanup, cleanUp, type Known, knownIn, placesBelow } from "./sandbox-cleanup.node.ts";
import { type ScannedEntry, scanMade, type ScanResult } from "./sandbox-native.node.ts";
import type { CommandPolicy, SandboxOutcome } from "./sandbox.ts";

interface Running {
  readonly roots: readonly string[];
  /** The commands that ran at any time since this one began to look. */
  readonly others: Set<Running>;
  /** What was there before; undefined while that is being looked for, and nothing runs yet. */
  known?: Known;
}

const running = new Set<Running>();

/**
 * Runs a command between a look at the tree and another one, and removes what it made and may not stay.
 * @throws as `run`, and where something cannot be removed
 */
export async function runCleaned(
  native: NativeBinding,
  policy: CommandPolicy,
  roots: readonly string[],
  look: () => Promise<ScanResult>,
  run: (before: ScanResult) => Promise<SandboxOutcome>,
): Promise<SandboxOutcome> {
  const own: Running = { roots, others: new Set(running) };
  for (const other of running) other.others.add(own);
  running.add(own);
  try {
    const before = await look();
    const base = withoutMadeBy(own.others, before);
    own.others.clear();
    const known = knownIn(base);
    own.known = known;
    const cleaned = async (): Promise<Cleanup> =>
      cleanUp(known, await scanMade(native, policy, roots, before), placesBelow(native, roots));
    try {
      const outcome = await run(before);
      return { ...outcome, ...(await cleaned()) };
    } catch (error) {
      // A command that was cancelled has made things too.
      await cleaned();
      throw error;
    }
  } finally {
    running.delete(own);
  }
}

/** What a look found, without what the commands that ran meanwhile may have made. */
function withoutMadeBy(others: ReadonlySet<Running>, found: ScanResult): ScanResult {
  const wasThere =
    <E extends ScannedEntry>(isKnown: (other: Known, entry: E) => boolean) =>
    (entry: E): boolean =>
      [...others].every(
        ({ known, roots }) =>
          known === undefined || !roots.some((root) => isWithin(entry.path, root)) || isKnown(known, entry),
      );
  return {
    ...found,
    protected: found.protected.filter(wasThere((known, place) => known.place(place))),
    repositories: found.repositories.filter(wasThere((known, repository) => known.repository(repository))),
  };
}
