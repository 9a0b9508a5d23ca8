/**
 * Commands that run at the same time in one tree. Entries that one of them made do not count as
 * existing before another; otherwise one command could make a protected place for another to keep.
 */
import type { NativeBinding } from "../../engine/load.node.ts";
import { isWithin } from "../paths.ts";
import {
  type Cleanup,
  cleanUp,
  type ExistingEntries,
  existingIn,
  writableTree,
} from "./sandbox-cleanup.node.ts";
import { type ScannedEntry, scanMade, type ScanResult } from "./sandbox-native.node.ts";
import type { CommandPolicy, SandboxOutcome } from "./sandbox.ts";

interface RunningCommand {
  readonly roots: readonly string[];
  /** The commands that ran at any time since this one began its first scan. */
  readonly others: Set<RunningCommand>;
  /** The entries that existed before; undefined while the first scan runs, before the command starts. */
  known?: ExistingEntries;
}

const runningCommands = new Set<RunningCommand>();

/**
 * Runs a command between two scans of the tree, and removes the protected entries it made.
 * @throws as `run`, and where an entry cannot be removed
 */
export async function runCleaned(
  native: NativeBinding,
  policy: CommandPolicy,
  roots: readonly string[],
  look: () => Promise<ScanResult>,
  run: (before: ScanResult) => Promise<SandboxOutcome>,
): Promise<SandboxOutcome> {
  const own: RunningCommand = { roots, others: new Set(runningCommands) };
  for (const other of runningCommands) other.others.add(own);
  runningCommands.add(own);
  try {
    const before = await look();
    const base = withoutMadeBy(own.others, before);
    own.others.clear();
    const known = existingIn(base);
    own.known = known;
    const cleaned = async (): Promise<Cleanup> =>
      cleanUp(known, await scanMade(native, policy, roots, before), writableTree(native, roots));
    try {
      const outcome = await run(before);
      return { ...outcome, ...(await cleaned()) };
    } catch (error) {
      // A cancelled command has made entries too.
      await cleaned();
      throw error;
    }
  } finally {
    runningCommands.delete(own);
  }
}

/** Returns the result of a scan without the entries that concurrent commands may have made. */
function withoutMadeBy(others: ReadonlySet<RunningCommand>, found: ScanResult): ScanResult {
  const wasThere =
    <E extends ScannedEntry>(isKnown: (other: ExistingEntries, entry: E) => boolean) =>
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
