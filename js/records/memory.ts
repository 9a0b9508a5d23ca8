/** Shared records in memory, for the workspaces of one process: small JSON values and counters, which can expire. */
import { checkAborted } from "../engine/errors.ts";
import { compareCodePoints } from "../backends/paths.ts";
import {
  checkCount,
  checkLimit,
  checkRecordName,
  counterError,
  counterOf,
  jsonOfRecord,
  type UnmetRecord,
  unmetError,
} from "./check.ts";
import type {
  AddToRecord,
  CountedRecord,
  ListedRecord,
  ListRecords,
  PutRecord,
  RecordCall,
  RecordOp,
  Records,
  SharedRecord,
} from "./records.ts";

/** Creates shared records in memory. `now` returns the time by which they end, in milliseconds. */
export function memoryRecords(now: () => number = Date.now): Records {
  const records = new MemoryRecords(now);
  return Object.freeze({
    get: records.get.bind(records),
    put: records.put.bind(records),
    add: records.add.bind(records),
    list: records.list.bind(records),
    remove: records.remove.bind(records),
  });
}

interface StoredRecord {
  readonly json: string;
  readonly rev: string;
  /** The time in milliseconds at which the record expires; infinite for one that does not. */
  readonly until: number;
}

/** Records in memory. Values are stored as JSON text, so that the caller cannot change them through its objects. */
export class MemoryRecords implements Records {
  readonly #byKind = new Map<string, Map<string, StoredRecord>>();
  readonly #now: () => number;
  #revisions = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  async get(kind: string, id: string, { signal }: RecordCall = {}): Promise<SharedRecord | null> {
    checkAborted(signal);
    checkRecordName(kind, id);
    const found = this.#find(kind, id);
    return found === undefined ? null : toRecord(found);
  }

  async put(kind: string, id: string, value: unknown, options: PutRecord = {}): Promise<string> {
    checkAborted(options.signal);
    checkRecordName(kind, id);
    const { expect, forMs } = options;
    this.#applyAll([{ kind, id, put: value, expect, forMs }]);
    return (this.#find(kind, id) as StoredRecord).rev;
  }

  async add(kind: string, id: string, amount: number, options: AddToRecord = {}): Promise<CountedRecord> {
    const { most, forMs, signal } = options;
    checkAborted(signal);
    checkRecordName(kind, id);
    const before = this.#counter(kind, id);
    const sum = before + amount;
    checkCount(sum);
    if (most !== undefined && sum > most) return { ok: false, now: before };
    this.#set(kind, id, sum, this.#untilOfCounter(kind, id, forMs));
    return { ok: true, now: sum };
  }

  async list(kind: string, { after, limit, signal }: ListRecords): Promise<readonly ListedRecord[]> {
    checkAborted(signal);
    checkRecordName(kind, "-");
    checkLimit(limit);
    const ids = [...(this.#byKind.get(kind)?.keys() ?? [])].sort(compareCodePoints);
    const found: ListedRecord[] = [];
    for (const id of ids) {
      if (after !== undefined && compareCodePoints(id, after) <= 0) continue;
      const record = this.#find(kind, id);
      if (record !== undefined) found.push({ id, ...toRecord(record) });
      if (found.length === limit) break;
    }
    return found;
  }

  async remove(kind: string, id: string, { signal }: RecordCall = {}): Promise<void> {
    checkAborted(signal);
    checkRecordName(kind, id);
    this.#byKind.get(kind)?.delete(id);
  }

  /**
   * Returns the conditions on revisions that do not hold. Changes nothing.
   * @throws LIMIT_EXCEEDED if the sum of a counter would exceed the `most` of a change
   */
  unmet(ops: readonly RecordOp[]): readonly UnmetRecord[] {
    const unmet: UnmetRecord[] = [];
    const sums = new Map<string, number>();
    for (const op of ops) {
      const { kind, id } = op;
      if ("add" in op) {
        // One commit may add to the same counter several times, so each change is checked against the sum so far.
        const key = JSON.stringify([kind, id]);
        const sum = (sums.get(key) ?? this.#counter(kind, id)) + op.add;
        if (op.most !== undefined && sum > op.most) throw counterError({ kind, id }, sum - op.add, op.most);
        sums.set(key, sum);
        continue;
      }
      const found = this.#find(kind, id)?.rev ?? null;
      if (op.expect !== undefined && op.expect !== found)
        unmet.push({ record: { kind, id }, expected: op.expect, found });
    }
    return unmet;
  }

  /** Makes all changes without a check of their conditions: the caller has called `unmet`. */
  apply(ops: readonly RecordOp[]): void {
    for (const op of ops) {
      const { kind, id } = op;
      if ("put" in op) this.#set(kind, id, op.put, this.#until(op.forMs));
      else if ("add" in op)
        this.#set(kind, id, this.#counter(kind, id) + op.add, this.#untilOfCounter(kind, id));
      else this.#byKind.get(kind)?.delete(id);
    }
  }

  #applyAll(ops: readonly RecordOp[]): void {
    const unmet = this.unmet(ops);
    if (unmet.length > 0) throw unmetError(unmet);
    this.apply(ops);
  }

  /** Returns a record that has not expired. An expired one is deleted. */
  #find(kind: string, id: string): StoredRecord | undefined {
    const found = this.#byKind.get(kind)?.get(id);
    if (found === undefined || found.until > this.#now()) return found;
    this.#byKind.get(kind)?.delete(id);
    return undefined;
  }

  /** Returns the value of a counter; 0 for one that does not exist. */
  #counter(kind: string, id: string): number {
    return counterOf({ kind, id }, this.#find(kind, id)?.json);
  }

  #until(forMs: number | undefined): number {
    return forMs === undefined ? Number.POSITIVE_INFINITY : this.#now() + forMs;
  }

  /**
   * Returns when a counter expires. The first addition sets the time and later ones do not extend it, so that a counter
   * covers a fixed window of time, such as the requests of one minute.
   */
  #untilOfCounter(kind: string, id: string, forMs?: number): number {
    return this.#find(kind, id)?.until ?? this.#until(forMs);
  }

  #set(kind: string, id: string, value: unknown, until: number): void {
    const json = jsonOfRecord(value);
    let records = this.#byKind.get(kind);
    if (records === undefined) {
      records = new Map();
      this.#byKind.set(kind, records);
    }
    records.set(id, { json, rev: String(++this.#revisions), until });
  }
}

function toRecord({ json, rev }: StoredRecord): SharedRecord {
  return { value: JSON.parse(json) as unknown, rev };
}
