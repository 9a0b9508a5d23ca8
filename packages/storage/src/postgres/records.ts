/** The shared records of a workspace on Postgres. */
import {
  checkCount,
  checkLimit,
  checkRecordName,
  FilewrightError,
  jsonOfRecord,
  type Records,
  type SharedRecord,
  unmetError,
} from "filewright/files";
import type { Row } from "./client.ts";
import type { Database } from "./database.ts";

/** Makes the records of a workspace. `open` returns the first two values of each call, or throws. */
export function postgresRecords(database: Database, open: () => readonly [string, string]): Records {
  const change = async (
    [kind, id, op, value, guarded, expect, most, forMs]: readonly unknown[],
    signal: AbortSignal | undefined,
  ): Promise<Row> => {
    const values = [...open(), kind, id, op, value, guarded, expect, most, forMs];
    const [row] = await database.change("record_change", values, signal);
    if (row === undefined) throw new FilewrightError("INTERNAL", "the database gave no answer");
    return row;
  };
  return {
    async get(kind, id, options = {}) {
      checkRecordName(kind, id);
      const [row] = await database.read("record_get", [...open(), kind, id], options.signal);
      return row === undefined ? null : toRecord(row);
    },
    async put(kind, id, value, options = {}) {
      checkRecordName(kind, id);
      const { expect, forMs = null, signal } = options;
      const json = jsonOfRecord(value);
      const row = await change(
        [kind, id, "put", json, expect !== undefined, expect ?? null, null, forMs],
        signal,
      );
      const rev = row["now_rev"] === null ? null : String(row["now_rev"]);
      if (row["met"] !== true)
        throw unmetError([{ record: { kind, id }, expected: expect ?? null, found: rev }]);
      return String(rev);
    },
    async add(kind, id, amount, { most = null, forMs = null, signal } = {}) {
      checkRecordName(kind, id);
      checkCount(amount);
      const row = await change([kind, id, "add", String(amount), false, null, most, forMs], signal);
      return { ok: row["met"] === true, now: Number(row["now_value"]) };
    },
    async list(kind, { after, limit, signal }) {
      checkRecordName(kind, "-");
      checkLimit(limit);
      const rows = await database.read("record_list", [...open(), kind, after ?? null, limit], signal);
      return rows.map((row) => ({ id: String(row["id"]), ...toRecord(row) }));
    },
    async remove(kind, id, options = {}) {
      checkRecordName(kind, id);
      await change([kind, id, "remove", null, false, null, null, null], options.signal);
    },
  };
}

function toRecord(row: Row): SharedRecord {
  return { value: JSON.parse(String(row["value"])) as unknown, rev: String(row["rev"]) };
}
