/**
 * Observers of a storage: they are told of each call of it, which is one round trip on an engine like Postgres. They
 * cannot change anything, their errors are ignored, and they learn neither paths nor contents.
 */
import { FilewrightError } from "../engine/errors.ts";
import { callback, instance, optionChecker, required } from "../schema/option.ts";
import type { Committed, CommitOptions, Op } from "./commit.ts";
import type { ReadMany } from "./entry.ts";
import type { Merged } from "./merged.ts";
import type { Records } from "../records/records.ts";
import type { Storage } from "./storage.ts";

/** The beginning of a call of a storage. */
export interface StorageTrip {
  /** The method, such as `commit` or `records.add`. */
  readonly operation: string;
  /** The number of paths that the call names: read, locked or changed. */
  readonly paths: number;
  /** The number of bytes of content that the call sends. */
  readonly sent_bytes: number;
}

/** The end of a call of a storage. */
export interface StorageTripEnd extends StorageTrip {
  readonly ok: boolean;
  /** The error code of a failure. */
  readonly code?: string;
  readonly duration_ms: number;
  /** The number of bytes of content in the answer. */
  readonly received_bytes: number;
}

/** Watches the calls of a storage. */
export interface StorageObserver {
  /** Called when a call begins. The function that it returns is called when the call has ended. */
  trip(trip: StorageTrip): ((end: StorageTripEnd) => void) | undefined;
}

const checkObserver = optionChecker(
  "observeStorage",
  instance<StorageObserver>("StorageObserver", "an observer of a storage", { trip: required(callback()) }),
);

/** The key of the storage behind an observed one, because an engine merges only storages that it made itself. */
const OBSERVED = Symbol("the observed storage");

/** Returns the storage behind an observed one; any other is returned unchanged. */
function innerOf(storage: Storage): Storage {
  return (storage as { readonly [OBSERVED]?: Storage })[OBSERVED] ?? storage;
}

/**
 * Returns the same storage, whose calls the observers are told of. Forks of it are observed as well. Methods that only
 * one engine has are those of the storage itself.
 *
 * @example
 * const ws = await openWorkspace({ storage: observeStorage(storage, meters(meter)), root: "/" });
 */
export function observeStorage(storage: Storage, ...observers: readonly StorageObserver[]): Storage {
  for (const observer of observers) checkObserver(observer);
  if (observers.length === 0) return storage;
  const run = <T>(
    operation: string,
    about: Omit<StorageTrip, "operation">,
    call: () => Promise<T>,
    received: (result: T) => number = () => 0,
  ): Promise<T> => runTrip(observers, { operation, ...about }, call, received);
  const { statMany, lockAll, snapshot, fork, drop, merge, history, readContents, search, records, forkedAt } =
    storage;
  const observed: Storage = {
    probe: (options) => run("probe", none, () => storage.probe(options)),
    readMany: (paths, options) =>
      run("readMany", named(paths.length), () => storage.readMany(paths, options), bytesRead),
    list: (request) => run("list", named(1), () => storage.list(request)),
    changes: (since, options) => run("changes", none, () => storage.changes(since, options)),
    commit: (ops: readonly Op[], options?: CommitOptions): Promise<Committed> =>
      run("commit", { paths: ops.length, sent_bytes: bytesOf(ops) }, () => storage.commit(ops, options)),
    close: () => storage.close(),
    ...(statMany === undefined
      ? {}
      : {
          statMany: (paths, options) =>
            run("statMany", named(paths.length), () => statMany.call(storage, paths, options)),
        }),
    ...(lockAll === undefined
      ? {}
      : {
          lockAll: (paths, options) =>
            run("lockAll", named(paths.length), () => lockAll.call(storage, paths, options)),
        }),
    ...(snapshot === undefined
      ? {}
      : { snapshot: (options) => run("snapshot", none, () => snapshot.call(storage, options)) }),
    ...(fork === undefined
      ? {}
      : {
          fork: async (name, options) => {
            const made = await run("fork", none, () => fork.call(storage, name, options));
            return observeStorage(made, ...observers);
          },
        }),
    ...(drop === undefined
      ? {}
      : { drop: (options) => run("drop", none, () => drop.call(storage, options)) }),
    ...(merge === undefined
      ? {}
      : {
          merge: (from, options): Promise<Merged> =>
            run("merge", none, () => merge.call(storage, innerOf(from), options)),
        }),
    ...(readContents === undefined
      ? {}
      : {
          readContents: (contents, options) =>
            run(
              "readContents",
              named(contents.length),
              () => readContents.call(storage, contents, options),
              (found) => found.reduce((sum, body) => sum + (body?.length ?? 0), 0),
            ),
        }),
    ...(history === undefined
      ? {}
      : { history: (request) => run("history", none, () => history.call(storage, request)) }),
    ...(search === undefined
      ? {}
      : { search: (query) => run("search", named(1), () => search.call(storage, query)) }),
    ...(records === undefined ? {} : { records: observeRecords(records, run) }),
    ...(forkedAt === undefined ? {} : { forkedAt }),
  };
  return Object.defineProperty(observed, OBSERVED, { value: storage });
}

type RunTrip = <T>(
  operation: string,
  about: Omit<StorageTrip, "operation">,
  call: () => Promise<T>,
) => Promise<T>;

function observeRecords(records: Records, run: RunTrip): Records {
  return {
    get: (kind, id, options) => run("records.get", none, () => records.get(kind, id, options)),
    put: (kind, id, value, options) => run("records.put", none, () => records.put(kind, id, value, options)),
    add: (kind, id, amount, options) =>
      run("records.add", none, () => records.add(kind, id, amount, options)),
    list: (kind, options) => run("records.list", none, () => records.list(kind, options)),
    remove: (kind, id, options) => run("records.remove", none, () => records.remove(kind, id, options)),
  };
}

const none: Omit<StorageTrip, "operation"> = Object.freeze({ paths: 0, sent_bytes: 0 });
const named = (paths: number): Omit<StorageTrip, "operation"> => ({ paths, sent_bytes: 0 });

function bytesOf(ops: readonly Op[]): number {
  let bytes = 0;
  for (const op of ops) if (op.op === "put") bytes += op.body.length;
  return bytes;
}

function bytesRead({ results }: ReadMany): number {
  let bytes = 0;
  for (const result of results) if (result !== null && "body" in result) bytes += result.body?.length ?? 0;
  return bytes;
}

async function runTrip<T>(
  observers: readonly StorageObserver[],
  begin: StorageTrip,
  call: () => Promise<T>,
  received: (result: T) => number,
): Promise<T> {
  const trip = Object.freeze(begin);
  const ends = observers.map((observer) => ignoringErrors(() => observer.trip(trip)));
  const started = performance.now();
  const end = (more: Pick<StorageTripEnd, "ok" | "received_bytes"> & { readonly code?: string }): void => {
    const told: StorageTripEnd = Object.freeze({
      ...trip,
      duration_ms: performance.now() - started,
      ...more,
    });
    for (const tell of ends) ignoringErrors(() => tell?.(told));
  };
  try {
    const result = await call();
    end({ ok: true, received_bytes: received(result) });
    return result;
  } catch (error) {
    end({ ok: false, received_bytes: 0, code: error instanceof FilewrightError ? error.code : "INTERNAL" });
    throw error;
  }
}

/** Runs a function of an observer. Its errors are ignored, so that it cannot affect the call. */
function ignoringErrors<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}
