/** Past commits out of their rows. */
import type { Actor, Past, PastChange } from "filewright/files";
import type { Row } from "./client.ts";
import { fromColumns } from "./rows.ts";

/** Returns the past commit of a row. */
export function toPast(row: Row): Past {
  const actor: Record<string, string> = {};
  for (const [column, name] of ACTOR_COLUMNS) if (typeof row[column] === "string") actor[name] = row[column];
  return Object.freeze({
    version: String(row["seq"]),
    at: Number(row["at"]),
    ...(typeof row["key"] === "string" ? { key: row["key"] } : {}),
    ...(Object.keys(actor).length > 0 ? { actor: actor as Actor } : {}),
    count: Number(row["count"]),
    ...(typeof row["changes"] === "string" ? { changes: toChanges(row["changes"]) } : {}),
  });
}

const ACTOR_COLUMNS = [
  ["agent", "agent"],
  ["tool", "tool"],
  ["call", "callId"],
  ["undo_of", "undoOf"],
] as const;

type Columns = readonly unknown[] | null;

function toChanges(json: string): readonly PastChange[] {
  const changes = JSON.parse(json) as readonly (readonly [string, Columns, Columns])[];
  return changes.map(([path, before, after]) => ({
    path,
    before: fromColumns(before),
    after: fromColumns(after),
  }));
}
