/**
 * Keeps track of commands that run at the same time in one tree. An entry that one of them makes does not count as
 * existing before the others began. Otherwise one command could make a protected place, and the cleanup of another
 * would keep it.
 */
import type { NativeBinding } from "../../engine/load.node.ts";
import { isWithin } from "../paths.ts";
import {
  type Cleanup,
  cleanUpAfterCommand,
  type ExistingEntries,
  existingEntriesIn,
  writableTree,
} from "./sandbox-cleanup.node.ts";
import { type ScannedEntry, scanMade, type ScanResult } from "./sandbox-native.node.ts";
import type { CommandPolicy, SandboxOutcome } from "./sandbox.ts";

interface RunningCommand {
  readonly roots: readonly string[];
  /** The other commands that ran at any time since the first scan of this one. */
  readonly others: Set<RunningCommand>;
  /** The entries that existed before the command; undefined during the first scan. */
  known?: ExistingEntries;
}

const runningCommands = new Set<RunningCommand>();

/** The trees that commands may change, and how they are scanned. */
export interface ScannedTrees {
  readonly native: NativeBinding;
  readonly policy: CommandPolicy;
  readonly roots: readonly string[];
  /** Scans the trees before the command. */
  readonly look: () => Promise<ScanResult>;
}

/**
 * Runs a command between two scans of the tree, and removes the protected entries it made.
 * @throws as `run`, and where an entry cannot be removed
 */
export async function runWithCleanup(
  { native, policy, roots, look }: ScannedTrees,
  run: (before: ScanResult) => Promise<SandboxOutcome>,
): Promise<SandboxOutcome> {
  const own: RunningCommand = { roots, others: new Set(runningCommands) };
  for (const other of runningCommands) other.others.add(own);
  runningCommands.add(own);
  try {
    const before = await look();
    const base = withoutPlacesMadeBy(own.others, before);
    own.others.clear();
    const known = existingEntriesIn(base);
    own.known = known;
    const cleaned = async (): Promise<Cleanup> =>
      cleanUpAfterCommand(known, await scanMade(native, policy, roots, before), writableTree(native, roots));
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

/** Returns the result of a scan without the entries that commands at the same time may have made. */
function withoutPlacesMadeBy(others: ReadonlySet<RunningCommand>, found: ScanResult): ScanResult {
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
