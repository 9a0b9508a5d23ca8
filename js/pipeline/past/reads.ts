/**
 * The record of the files that each agent has read. Every agent of a workspace has its own, so that
 * answers about outdated content refer to its own reads. With a store the records survive a restart.
 */
import { callback, optionChecker, instance, type Options, required } from "../../schema/option.ts";
import type { RecordOp } from "../../storage/storage.ts";
import { type HeldNote, makeSeenFiles, type SeenFiles, type SeenFile } from "../../tools/lib/seen.ts";

/** A store that keeps records beyond the life of a process. */
export interface ReadStore {
  /** Returns the files that an agent has read, from oldest to newest. */
  load(agent: string): Promise<Iterable<readonly [path: string, file: SeenFile]>>;
  /** Stores one entry; undefined removes it. It may return before the entry is written. */
  note(agent: string, path: string, file: SeenFile | undefined): void;
  /**
   * Returns the present entry of a path, for stores that several processes write at once: asked before a change is
   * refused or reported because of what this process knows. Absent: what was loaded counts.
   */
  recall?(agent: string, path: string): Promise<SeenFile | undefined>;
  /** Returns the present entries at and below a path. Required with `recall`. */
  recallBelow?(agent: string, path: string): Promise<Iterable<readonly [path: string, file: SeenFile]>>;
  /**
   * Returns the changes of records that note what a change has seen, for a store in the records of the storage that
   * commits it: they are part of that commit. Absent: the entries are noted once the change is made.
   */
  inCommit?(agent: string, notes: readonly HeldNote[]): NotesInCommit;
  /** Resolves when other processes can recall all noted entries: a call is answered then. Absent: nothing waits. */
  settled?(): Promise<void> | undefined;
  /** Writes pending entries and closes the store. */
  close(): Promise<void>;
}

/** The description of a store of reads: any object with these methods. */
export const READ_STORE: Options<ReadStore> = instance<ReadStore>(
  "ReadStore",
  "a store of what was read",
  {
    load: required(callback()),
    note: required(callback()),
    recall: callback(),
    recallBelow: callback(),
    inCommit: callback(),
    settled: callback(),
    close: required(callback()),
  },
  {
    test: ({ recall, recallBelow }) =>
      (recall === undefined) === (recallBelow === undefined)
        ? undefined
        : "must have both of recall and recallBelow, or none",
  },
);

const checkStore = optionChecker("makeReads", READ_STORE);

/** The notes of a change about what it has seen, as a part of its commit. */
export interface NotesInCommit {
  readonly ops: readonly RecordOp[];
  /** To be called when the commit is made, and its entries were noted. */
  committed(): void;
}

/** The records of the files that each agent of a workspace has read. */
export interface Reads {
  /** Returns the record of an agent; a promise only when it must be loaded first. */
  of(agent: string | undefined): SeenFiles | Promise<SeenFiles>;
  /** Returns the notes of a change as a part of its commit; undefined where they are no records of its storage. */
  inCommit(agent: string | undefined, notes: readonly HeldNote[]): NotesInCommit | undefined;
  /** True where a store keeps them beyond the process. */
  readonly areKept: boolean;
  /** Resolves when other processes can see what was noted; undefined when there is nothing to wait for. */
  settled(): Promise<void> | undefined;
  close(): Promise<void>;
}

/** The key of callers without a name. */
const NAMELESS_AGENT = "";

/**
 * Creates the records of the agents of a workspace: empty, or loaded from a store. @throws FilewrightError
 * INVALID_ARGUMENT for an invalid store
 */
export function makeReads(store?: ReadStore): Reads {
  if (store !== undefined) checkStore(store);
  const known = new Map<string, SeenFiles>();
  const loading = new Map<string, Promise<SeenFiles>>();
  const load = async (agent: string, from: ReadStore): Promise<SeenFiles> => {
    const { recall, recallBelow } = from;
    const shared =
      recall === undefined || recallBelow === undefined
        ? undefined
        : {
            recall: (path: string) => recall.call(from, agent, path),
            below: (path: string) => recallBelow.call(from, agent, path),
          };
    const noted = (path: string, file: SeenFile | undefined): void => from.note(agent, path, file);
    const seen = makeSeenFiles(await from.load(agent), noted, shared);
    known.set(agent, seen);
    loading.delete(agent);
    return seen;
  };
  return Object.freeze({
    areKept: store !== undefined,
    of(agent: string = NAMELESS_AGENT): SeenFiles | Promise<SeenFiles> {
      const seen = known.get(agent);
      if (seen !== undefined) return seen;
      if (store === undefined) {
        const empty = makeSeenFiles();
        known.set(agent, empty);
        return empty;
      }
      let pending = loading.get(agent);
      if (pending === undefined) {
        pending = load(agent, store);
        loading.set(agent, pending);
        pending.catch(() => loading.delete(agent));
      }
      return pending;
    },
    inCommit: (agent = NAMELESS_AGENT, notes: readonly HeldNote[]) => store?.inCommit?.(agent, notes),
    settled: () => store?.settled?.(),
    close: async () => store?.close(),
  });
}
