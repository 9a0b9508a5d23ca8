/** The parts of a test case for storages: the storage under test, and short forms of calls. */
import type { MaybePromise } from "../../backends/backend.ts";
import { type Code, FilewrightError } from "../../engine/errors.ts";
import type { Committed, CommitOptions, Entry, Op, Storage, StorageFacts } from "../../storage/storage.ts";
import { assertFails } from "../case.ts";

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

/** The needs of a case of a storage: an optional method, a fact, or an answer of `changes` without `gap`. */
export type CaseNeed = StorageCapability | "atomic" | "links" | "modes" | "empty_dirs" | "changes";

/** The facts of a storage that a case can need. */
export const NEEDED_FACTS: readonly Exclude<CaseNeed, StorageCapability | "changes">[] = Object.freeze([
  "atomic",
  "links",
  "modes",
  "empty_dirs",
]);

/** The context of a case. */
export interface StorageContext {
  readonly storage: Storage;
  readonly second: Storage;
  readonly facts: StorageFacts;
  /** Creates or replaces files with these contents, in one commit. */
  write(files: Readonly<Record<string, string>>, options?: CommitOptions): Promise<Committed>;
  /** Makes a commit that has to fail with a code, and returns its error. */
  refuse(code: Code, ops: readonly Op[], options?: CommitOptions): Promise<FilewrightError>;
  /** Returns the text of a file of a storage, by default the first; null when there is none. */
  text(path: string, storage?: Storage): Promise<string | null>;
  /** Returns the texts of files of the first storage. */
  texts(...paths: readonly string[]): Promise<readonly (string | null)[]>;
  /** Returns the entry of a path; null when there is none. */
  entry(path: string, storage?: Storage): Promise<Entry | null>;
  /** Returns the paths of all entries of a storage, by default the first. */
  paths(storage?: Storage): Promise<readonly string[]>;
}

/** One test case of the contract of storages. */
export interface StorageCase {
  readonly name: string;
  /** A storage without one of these skips the case. */
  readonly needs: readonly CaseNeed[];
  run(context: StorageContext): Promise<void>;
}

/** Returns cases by their names. All need the same of a storage. */
export function casesOf(
  needs: readonly CaseNeed[],
  runs: Readonly<Record<string, StorageCase["run"]>>,
): readonly StorageCase[] {
  return Object.entries(runs).map(([name, run]) => ({ name, needs, run }));
}

/** Returns the change that writes a text. */
export function put(path: string, text: string): Op {
  return { op: "put", path, body: new TextEncoder().encode(text) };
}

/** Returns the change that removes a file or an empty directory, or with `tree` whatever is there. */
export function remove(path: string, tree = false): Op {
  return tree ? { op: "remove", path, tree } : { op: "remove", path };
}

/** Returns the paths of entries. */
export function pathsOf(entries: readonly { readonly path: string }[]): readonly string[] {
  return entries.map(({ path }) => path);
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
  const text = async (path: string, of = storage): Promise<string | null> => {
    const body = (await found(path, of))?.body;
    return body === undefined ? null : new TextDecoder().decode(body);
  };
  return {
    storage,
    second,
    facts,
    text,
    write: (files, options) =>
      storage.commit(
        Object.entries(files).map(([path, content]) => put(path, content)),
        options,
      ),
    refuse: (code, ops, options) =>
      assertFails(
        () => storage.commit(ops, options),
        code,
        JSON.stringify([ops, options?.expect]).slice(0, 300),
      ),
    texts: (...paths) => Promise.all(paths.map((path) => text(path))),
    entry: async (path, of = storage) => (await found(path, of))?.entry ?? null,
    paths: async (of = storage) => pathsOf((await of.list({ limit: 1000 })).entries),
  };
}
