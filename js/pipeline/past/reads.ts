/**
 * The record of the files that each agent has read. Every agent of a workspace has its own, so that
 * answers about outdated content refer to its own reads. In records it survives a restart.
 */
import { namePart } from "../../records/names.ts";
import { listAll } from "../../records/records.ts";
import { type HeldNote, makeSeenFiles, type SeenFile, type SeenFiles } from "../../tools/lib/seen.ts";
import { type NotesInCommit, type ReadPlace, readOf, SharedReads, toStored } from "./reads-records.ts";

export type { NotesInCommit } from "./reads-records.ts";

/** The records of the files that each agent of a workspace has read. */
export interface Reads {
  /** Returns the record of an agent; a promise only when it must be loaded first. */
  of(agent: string | undefined): SeenFiles | Promise<SeenFiles>;
  /** Returns the notes of a change as a part of its commit; undefined where they are no records of its storage. */
  inCommit(agent: string | undefined, notes: readonly HeldNote[]): NotesInCommit | undefined;
  /** True where other processes read them while this one runs. */
  readonly areShared: boolean;
  /** Resolves when other processes can see what was noted; undefined when there is nothing to wait for. */
  settled(): Promise<void> | undefined;
  close(): Promise<void>;
}

/** The key of callers without a name. */
const NAMELESS_AGENT = "";

/** Creates the records of the agents of a workspace: empty, or those of a place. */
export function makeReads(place?: ReadPlace): Reads {
  if (place === undefined)
    return unsharedReads(
      () => makeSeenFiles(),
      async () => undefined,
    );
  if (!place.isShared)
    return unsharedReads(
      (agent) => loadReads(place, agent),
      async () => place.close?.(),
    );
  const shared = new SharedReads(place);
  const made = unsharedReads(
    (agent) => {
      const noted = (path: string, file: SeenFile | undefined): void => shared.note(agent, path, file);
      return makeSeenFiles([], noted, {
        recall: (path) => shared.recall(agent, path),
        below: (path) => shared.recallBelow(agent, path),
      });
    },
    async () => {
      await shared.settled();
      await place.close?.();
    },
  );
  return Object.freeze({
    ...made,
    areShared: true,
    inCommit: (agent = NAMELESS_AGENT, notes: readonly HeldNote[]) => shared.inCommit(agent, notes),
    settled: () => shared.settled(),
  });
}

/** Returns records that no other process reads while this one runs. `make` returns that of an agent, once. */
function unsharedReads(
  make: (agent: string) => SeenFiles | Promise<SeenFiles>,
  close: () => Promise<void>,
): Reads {
  const known = new Map<string, SeenFiles | Promise<SeenFiles>>();
  const keep = (agent: string, loading: Promise<SeenFiles>): void =>
    void loading.then(
      (seen) => known.set(agent, seen),
      () => known.delete(agent),
    );
  return Object.freeze({
    of(agent = NAMELESS_AGENT) {
      const before = known.get(agent);
      if (before !== undefined) return before;
      const seen = make(agent);
      known.set(agent, seen);
      if (seen instanceof Promise) keep(agent, seen);
      return seen;
    },
    areShared: false,
    inCommit: () => undefined,
    settled: () => undefined,
    close,
  });
}

/** Loads what an agent has read from the records of this process. What cannot be written only counts as unread. */
async function loadReads({ records, kindOf }: ReadPlace, agent: string): Promise<SeenFiles> {
  const kind = kindOf(agent);
  const reads = (await listAll(records, kind)).flatMap(({ value }) => readOf(value) ?? []);
  const before = reads.map(({ path, file }) => [path, file] as const);
  return makeSeenFiles(before, (path, file) => {
    const id = namePart(path);
    const written =
      file === undefined ? records.remove(kind, id) : records.put(kind, id, toStored(path, file));
    written.catch(() => undefined);
  });
}
