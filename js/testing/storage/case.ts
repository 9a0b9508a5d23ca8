/** The parts of a test case for storages: the storage under test, and short forms of calls. */
import type { MaybePromise } from "../../backends/backend.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { Committed, CommitOptions, Entry, Op, Storage, StorageFacts } from "../../storage/storage.ts";

/** A storage under test. A new, empty one is created for each case. */
export interface StorageSubject {
  readonly storage: Storage;
  /** The same workspace through a connection of its own, as another replica has it. Default: `storage`. */
  readonly second?: Storage | undefined;
  /** Called after the case, to clean up. */
  dispose?(): MaybePromise<void>;
}

/** The name of an optional method of a storage. */
export type StorageCapability =
  | "statMany"
  | "lockAll"
  | "snapshot"
  | "fork"
  | "merge"
  | "drop"
  | "history"
  | "readContents"
  | "records";

/** A fact that a case needs. */
export type NeededFact = "atomic" | "links" | "modes" | "empty_dirs" | "changes";

/** The context of a case. */
export interface StorageContext {
  readonly storage: Storage;
  readonly second: Storage;
  readonly facts: StorageFacts;
  /** Creates or replaces files with these contents, in one commit. */
  write(files: Readonly<Record<string, string>>, options?: CommitOptions): Promise<Committed>;
  /** Returns the text of a file of a storage, by default the first; null when there is none. */
  text(path: string, storage?: Storage): Promise<string | null>;
  /** Returns the entry of a path; null when there is none. */
  entry(path: string, storage?: Storage): Promise<Entry | null>;
}

/** One test case of the contract of storages. */
export interface StorageCase {
  readonly name: string;
  /** The optional methods that the case tests. It is skipped on a storage without them. */
  readonly needs?: readonly StorageCapability[];
  /** The facts without which the case is skipped. `changes` is an answer without `gap`. */
  readonly facts?: readonly NeededFact[];
  run(context: StorageContext): Promise<void>;
}

const encoder = new TextEncoder();

/** Returns the change that writes a text. */
export function put(path: string, text: string): Op {
  return { op: "put", path, body: encoder.encode(text) };
}

/** Makes the context of a case. */
export function contextOf(
  { storage, second = storage }: StorageSubject,
  facts: StorageFacts,
): StorageContext {
  const found = async (path: string, of: Storage) => {
    const [result] = (await of.readMany([path])).results;
    if (result instanceof FilewrightError) throw result;
    return result ?? null;
  };
  return {
    storage,
    second,
    facts,
    write: (files, options) =>
      storage.commit(
        Object.entries(files).map(([path, text]) => put(path, text)),
        options,
      ),
    text: async (path, of = storage) => {
      const body = (await found(path, of))?.body;
      return body === undefined ? null : new TextDecoder().decode(body);
    },
    entry: async (path, of = storage) => (await found(path, of))?.entry ?? null,
  };
}
