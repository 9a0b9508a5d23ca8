/**
 * The contract of shared records: small JSON values and counters, each with a name and a revision. Approvals, budgets,
 * grants and what agents have read are kept in them, by every process that shares them.
 *
 * A record is named by its kind and its id, texts of 1 to 1,024 bytes without NUL. Its value has at most 64 KiB of
 * JSON. Each method is one step: no process sees a part of it. A method that cannot be sure rejects; its caller then
 * allows nothing.
 */
import { FilewrightError } from "../engine/errors.ts";
import { callback, instance, type Options, required } from "../schema/option.ts";

/** A shared record: its value, and a revision that changes with each change. */
export interface SharedRecord {
  /** The value of a record, JSON. The value of a counter is its number. */
  readonly value: unknown;
  /** The revision of a record, opaque. A record that was removed and made again has another one. */
  readonly rev: string;
}

/** A record in a list of its kind. */
export interface ListedRecord extends SharedRecord {
  /** The id of the record. */
  readonly id: string;
}

/** An option that every method has. */
export interface RecordCall {
  /** The signal that cancels the call, which then fails with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
}

/** How a record is set. */
export interface PutRecord extends RecordCall {
  /** The revision that the record must have; null for no record. Default: any. */
  readonly expect?: string | null | undefined;
  /** The lifetime of the record in milliseconds, on the clock of the engine. Default: until it is removed. */
  readonly forMs?: number | undefined;
}

/** Which records of a kind are listed. */
export interface ListRecords extends RecordCall {
  /** The last id of the previous page. Default: the list begins with the first record. */
  readonly after?: string | undefined;
  /** The maximum number of records. Fewer are returned only where no more follow. */
  readonly limit: number;
}

/** How a counter is changed. */
export interface AddToRecord extends RecordCall {
  /** The largest number that the counter may reach. Default: any. */
  readonly most?: number | undefined;
  /** The lifetime of the counter in milliseconds, from its first number: a counter can cover a window of time. */
  readonly forMs?: number | undefined;
}

/** The answer of a change of a counter. */
export interface CountedRecord {
  /** False when the counter would have exceeded `most`: it is unchanged then. */
  readonly ok: boolean;
  /** The present number. */
  readonly now: number;
}

/**
 * Records without counters. A file has these, in a form of its own: there the values say when they end, and `forMs` may
 * count for nothing.
 */
export interface KeptRecords {
  /** Returns a record; null when there is none. */
  get(kind: string, id: string, options?: RecordCall): Promise<SharedRecord | null>;
  /**
   * Sets a record and returns its revision.
   * @throws CONFLICT unless `expect` is its revision (null: there is none)
   */
  put(kind: string, id: string, value: unknown, options?: PutRecord): Promise<string>;
  /** Returns the records of a kind, sorted by the code points of their ids. */
  list(kind: string, options: ListRecords): Promise<readonly ListedRecord[]>;
  /** Removes a record. One that does not exist is fine. */
  remove(kind: string, id: string, options?: RecordCall): Promise<void>;
}

/**
 * The records that the processes of a host, or the replicas of a storage, share. A record whose time is over is absent.
 * Those of a storage are no part of its files: forks do not inherit them, and no version changes with them.
 */
export interface Records extends KeptRecords {
  /** Adds to a counter, which begins at 0, unless the result would exceed `most`; in one step. */
  add(kind: string, id: string, amount: number, options?: AddToRecord): Promise<CountedRecord>;
}

/** The description of records without counters: any object with these methods. */
export const KEPT_RECORDS: Options<KeptRecords> = instance<KeptRecords>("KeptRecords", "records", {
  get: required(callback()),
  put: required(callback()),
  list: required(callback()),
  remove: required(callback()),
});

/** The description of shared records: any object with these methods. */
export const RECORDS: Options<Records> = instance<Records>("Records", "shared records", {
  get: required(callback()),
  put: required(callback()),
  add: required(callback()),
  list: required(callback()),
  remove: required(callback()),
});

/**
 * One change of a shared record within a commit of files.
 *
 * - `put` sets the value; with `expect` only if the record has this revision (null: no such record).
 * - `add` adds to a counter, which begins at 0, unless the result would exceed `most`: then the commit fails
 *   with LIMIT_EXCEEDED and `details` `{ record, now, most }`.
 * - `remove` removes the record; with `expect` only that revision.
 *
 * A revision that is not met is one of `details.conflicts` of the error CONFLICT, as
 * `{ record: { kind, id }, expected, found }`.
 */
export type RecordOp =
  | {
      readonly kind: string;
      readonly id: string;
      readonly put: unknown;
      readonly expect?: string | null | undefined;
      readonly forMs?: number | undefined;
    }
  /** A counter whose lifetime begins with its first number is not changed by a commit: `add` of records sets it. */
  | { readonly kind: string; readonly id: string; readonly add: number; readonly most?: number | undefined }
  | {
      readonly kind: string;
      readonly id: string;
      readonly remove: true;
      readonly expect?: string | undefined;
    };

/** The maximum number of attempts to change a record. An attempt fails when another process changes it first. */
const MAX_ATTEMPTS = 20;

/** Replaces the value of a record with what `next` makes of the present one; undefined for a record that is not there. */
export async function changeRecord(
  records: KeptRecords,
  kind: string,
  id: string,
  next: (value: unknown) => { readonly value: unknown; readonly forMs?: number | undefined },
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const found = await records.get(kind, id);
    const { value, forMs } = next(found?.value);
    try {
      await records.put(kind, id, value, { expect: found?.rev ?? null, forMs });
      return;
    } catch (error) {
      const isStale = error instanceof FilewrightError && error.code === "CONFLICT";
      if (!isStale || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** The number of records that {@link listAll} reads in one round trip. */
const RECORDS_PER_PAGE = 1000;

/** Returns all records of a kind, or those after an id while `isWanted` says so. */
export async function listAll(
  records: KeptRecords,
  kind: string,
  from?: string,
  isWanted: (id: string) => boolean = () => true,
): Promise<readonly ListedRecord[]> {
  const found: ListedRecord[] = [];
  for (let after = from; ; after = found.at(-1)?.id) {
    const page = await records.list(kind, { after, limit: RECORDS_PER_PAGE });
    const wanted = page.filter(({ id }) => isWanted(id));
    found.push(...wanted);
    if (wanted.length < RECORDS_PER_PAGE) return found;
  }
}
