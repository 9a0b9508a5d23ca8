/** Writes rows as text for other programs: CSV and JSON Lines. */

/** One cell of a row. */
type Cell = string | number | boolean | null;

/**
 * Returns rows as CSV (RFC 4180) with a head. A cell that a spreadsheet would take for a formula, because it begins with
 * `=`, `+`, `-`, `@`, a tab or a carriage return, begins with an apostrophe instead.
 */
export function csvOf(columns: readonly string[], rows: readonly Readonly<Record<string, Cell>>[]): string {
  const lines = [
    columns.map(csvCell),
    ...rows.map((row) => columns.map((name) => csvCell(row[name] ?? null))),
  ];
  return lines.map((cells) => `${cells.join(",")}\r\n`).join("");
}

function csvCell(value: Cell): string {
  if (value === null) return "";
  if (typeof value !== "string") return String(value);
  const safe = /^[=+\-@\t\r]/u.test(value) ? `'${value}` : value;
  return /[",\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Returns rows as JSON Lines. */
export function jsonLinesOf(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}
