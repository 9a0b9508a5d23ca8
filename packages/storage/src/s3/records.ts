/**
 * The shared records of a workspace: a second table in its root, so that they change in the same moment as files do.
 * A change of a record is a change of the root, also of one that no commit carries.
 */
import {
  type AddToRecord,
  checkCount,
  checkLimit,
  checkRecordName,
  type CountedRecord,
  counterError,
  counterOf,
  jsonOfRecord,
  type ListedRecord,
  type ListRecords,
  type PutRecord,
  type RecordCall,
  type RecordOp,
  type Records,
  type SharedRecord,
  unmetError,
  type UnmetRecord,
} from "filewright/files";
import { randomId } from "./codec.ts";
import type { Row, Table, TableView } from "./manifest.ts";
import type { NewObject } from "./objects.ts";
import type { Root } from "./root.ts";
import type { Plan } from "./state.ts";

/** The row of a record: its key, `r`, its revision, the end of its time or 0, and its value as JSON. */
type RecordRow = readonly [key: string, kind: string, rev: string, until: number, json: string];

/** The parts of the storage that the records need. */
export interface RecordsHost {
  /** Returns the time of the store in milliseconds since 1970. */
  now(): number;
  /** Returns the present table of records. */
  read(signal: AbortSignal | undefined): Promise<TableView>;
  /** Returns a view of a root's table of records. */
  view(root: Root, signal: AbortSignal | undefined): TableView;
  /** Changes the root. */
  change<T>(plan: (root: Root) => Promise<Plan<T>>, signal: AbortSignal | undefined): Promise<T>;
  /** Stores objects that a root names. */
  store(objects: readonly NewObject[], signal: AbortSignal | undefined): Promise<unknown>;
}

const rowKey = (kind: string, id: string): string => `${kind}\0${id}`;

/** The changes of records in one commit, applied beside the table. */
export class RecordDraft {
  readonly #view: TableView;
  readonly #now: number;
  readonly #changed = new Map<string, RecordRow | null>();
  readonly #revision: string;
  #changes = 0;

  constructor(view: TableView, now: number, revision: string) {
    this.#view = view;
    this.#now = now;
    this.#revision = revision;
  }

  async find(kind: string, id: string): Promise<RecordRow | undefined> {
    const key = rowKey(kind, id);
    const changed = this.#changed.get(key);
    if (changed !== undefined) return changed ?? undefined;
    const row = (await this.#view.get(key)) as RecordRow | undefined;
    return row === undefined || isOver(row, this.#now) ? undefined : row;
  }

  /** Returns the number of a counter; 0 for one that is not there. */
  async counter(kind: string, id: string): Promise<number> {
    return counterOf({ kind, id }, (await this.find(kind, id))?.[4]);
  }

  /** Returns the revisions that changes expect and that are not there. @throws LIMIT_EXCEEDED for a counter */
  async unmet(ops: readonly RecordOp[]): Promise<readonly UnmetRecord[]> {
    const unmet: UnmetRecord[] = [];
    const sums = new Map<string, number>();
    for (const op of ops) {
      const { kind, id } = op;
      if ("add" in op) {
        const key = rowKey(kind, id);
        const now = sums.get(key) ?? (await this.counter(kind, id));
        if (op.most !== undefined && now + op.add > op.most) throw counterError({ kind, id }, now, op.most);
        sums.set(key, now + op.add);
        continue;
      }
      const found = (await this.find(kind, id))?.[2] ?? null;
      if (op.expect !== undefined && op.expect !== found)
        unmet.push({ record: { kind, id }, expected: op.expect, found });
    }
    return unmet;
  }

  /** Makes changes whose revisions were compared before. */
  async apply(ops: readonly RecordOp[]): Promise<void> {
    for (const op of ops) {
      const { kind, id } = op;
      if ("put" in op) this.set(kind, id, op.put, this.#until(op.forMs));
      else if ("add" in op) await this.add(kind, id, op.add);
      else this.#changed.set(rowKey(kind, id), null);
    }
  }

  /** Adds to a counter, whose time begins with its first number, and returns the sum. */
  async add(kind: string, id: string, amount: number, forMs?: number): Promise<number> {
    const sum = (await this.counter(kind, id)) + amount;
    checkCount(sum);
    const until = (await this.find(kind, id))?.[3] ?? this.#until(forMs);
    this.set(kind, id, sum, until);
    return sum;
  }

  #until(forMs: number | undefined): number {
    return forMs === undefined ? 0 : this.#now + forMs;
  }

  set(kind: string, id: string, value: unknown, until: number): void {
    const key = rowKey(kind, id);
    // A record that one commit changes twice has another revision each time.
    const rev = `${this.#revision}.${this.#changes++}`;
    this.#changed.set(key, [key, "r", rev, until, jsonOfRecord(value)]);
  }

  /** Returns the table with the changes, and the pages to store first. */
  async table(): Promise<{ readonly table: Table; readonly pages: readonly NewObject[] }> {
    const rows = [...this.#changed].map(([key, row]): Row => row ?? [key, "x"]);
    if (rows.length === 0) return { table: this.#view.table, pages: [] };
    return this.#view.change(rows, (row) => !isOver(row as RecordRow, this.#now));
  }
}

/** Returns true for a record whose time is over. */
function isOver([, , , until]: RecordRow, now: number): boolean {
  return until > 0 && until <= now;
}

const toRecord = ([, , rev, , json]: RecordRow): SharedRecord => ({
  value: JSON.parse(json) as unknown,
  rev,
});

/** The shared records of a workspace. */
export class S3Records implements Records {
  readonly #host: RecordsHost;

  constructor(host: RecordsHost) {
    this.#host = host;
  }

  async get(kind: string, id: string, { signal }: RecordCall = {}): Promise<SharedRecord | null> {
    checkRecordName(kind, id);
    const view = await this.#host.read(signal);
    const row = await new RecordDraft(view, this.#host.now(), "").find(kind, id);
    return row === undefined ? null : toRecord(row);
  }

  put(kind: string, id: string, value: unknown, options: PutRecord = {}): Promise<string> {
    const { expect, forMs, signal } = options;
    return this.#change(signal, async (draft) => {
      checkRecordName(kind, id);
      const ops: readonly RecordOp[] = [{ kind, id, put: value, expect, forMs }];
      const unmet = await draft.unmet(ops);
      if (unmet.length > 0) throw unmetError(unmet);
      await draft.apply(ops);
      return ((await draft.find(kind, id)) as RecordRow)[2];
    });
  }

  add(kind: string, id: string, amount: number, options: AddToRecord = {}): Promise<CountedRecord> {
    const { most, forMs, signal } = options;
    return this.#change(signal, async (draft) => {
      checkRecordName(kind, id);
      const now = await draft.counter(kind, id);
      if (most !== undefined && now + amount > most) return { ok: false, now };
      return { ok: true, now: await draft.add(kind, id, amount, forMs) };
    });
  }

  async list(kind: string, { after, limit, signal }: ListRecords): Promise<readonly ListedRecord[]> {
    checkRecordName(kind, "-");
    checkLimit(limit);
    const view = await this.#host.read(signal);
    const now = this.#host.now();
    const begin = rowKey(kind, "");
    const found: ListedRecord[] = [];
    let from = after === undefined ? begin : `${rowKey(kind, after)}\0`;
    while (found.length < limit) {
      const rows = (await view.range(
        from,
        `${kind}\x01`,
        limit,
      )) as readonly unknown[] as readonly RecordRow[];
      for (const row of rows)
        if (!isOver(row, now) && found.length < limit)
          found.push({ id: row[0].slice(begin.length), ...toRecord(row) });
      if (rows.length < limit) break;
      from = `${(rows.at(-1) as RecordRow)[0]}\0`;
    }
    return found;
  }

  async remove(kind: string, id: string, { signal }: RecordCall = {}): Promise<void> {
    await this.#change(signal, async (draft) => {
      checkRecordName(kind, id);
      if ((await draft.find(kind, id)) !== undefined) await draft.apply([{ kind, id, remove: true }]);
    });
  }

  /** Changes records in a write of their own. */
  #change<T>(signal: AbortSignal | undefined, make: (draft: RecordDraft) => Promise<T>): Promise<T> {
    const revision = randomId();
    return this.#host.change(async (root): Promise<Plan<T>> => {
      const view = this.#host.view(root, signal);
      const draft = new RecordDraft(view, this.#host.now(), revision);
      const answer = await make(draft);
      const { table, pages } = await draft.table();
      if (table === root.records) return { answer };
      return { answer, root: { ...root, records: table }, store: () => this.#host.store(pages, signal) };
    }, signal);
  }
}
