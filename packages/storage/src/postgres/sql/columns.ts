/** Names and column lists that several statements share. */

/** The greatest `bigint`: a level of a chain that is read up to its present. */
export const NO_LIMIT = "9223372036854775807";

/** The columns in which every function answers an entry. */
export const ENTRY_TYPES =
  "path text, kind text, version text, hash text, size float8, mode int, mtime float8, target text";

/** The number of columns of {@link ENTRY_TYPES} as nulls, for rows that carry no entry. */
export const NO_ENTRY =
  "null::text, null::text, null::text, null::text, null::float8, null::int, null::float8, null::text";

/** A row of `node`, or of `look`, as the columns of {@link ENTRY_TYPES}. */
export function entryColumns(row: string): string {
  return `${row}.path, ${row}.kind::text, ${row}.seq::text, encode(${row}.hash, 'hex'), ${row}.size::float8,
    ${row}.mode, floor(extract(epoch from ${row}.at) * 1000)::float8, ${row}.target`;
}

/** Quotes the name of a schema, which {@link checkSchemaName} has accepted. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
