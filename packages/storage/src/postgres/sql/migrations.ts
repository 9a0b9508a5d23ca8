/**
 * The versions of the schema, and the one statement that brings a database up to the last of them. The tables and the
 * functions are in the SQL files beside this one, in a schema with the name `fw`; `npm run wire`, and the build, write
 * their texts into a module, because a browser or a worker reads no files.
 */
import { COMMITTING, MAINTAINING, READING, SHARING, TABLES } from "../generated/sql.ts";

/** The statements that each version adds to those of the one before. A released one never changes. */
const MIGRATIONS: readonly string[] = [TABLES];

/** Returns the text of a SQL file for a schema, a quoted identifier. */
const inSchema = (text: string, s: string): string => text.replaceAll(/\bfw\./gu, () => `${s}.`);

/** Quotes the name of a schema. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The version of the schema that this package uses. */
export const SCHEMA_VERSION: number = MIGRATIONS.length;

/**
 * One statement, so one transaction: whoever comes second waits, and finds everything made. A database of a
 * newer package is refused, because its functions may need other arguments.
 */
export function migration(schema: string, s: string): string {
  const steps = MIGRATIONS.map(
    (text, index) => `if had < ${index + 1} then execute ${quote("step", inSchema(text, s))}; end if;`,
  );
  const functions = inSchema([READING, COMMITTING, SHARING, MAINTAINING].join("\n"), s);
  return `do ${quote(
    "migration",
    `
declare had int;
begin
  perform pg_advisory_xact_lock(hashtextextended(${quote("name", `filewright ${schema}`)}, 0));
  if to_regnamespace(${quote("name", s)}) is null then create schema ${s}; end if;
  create table if not exists ${s}.meta (one boolean primary key default true check (one), version int not null);
  select version into had from ${s}.meta;
  had := coalesce(had, 0);
  if had > ${SCHEMA_VERSION} then
    raise exception 'schema version % is newer', had using errcode = 'FW020', detail = had::text;
  end if;
  ${steps.join("\n  ")}
  execute ${quote("functions", functions)};
  insert into ${s}.meta (version) values (${SCHEMA_VERSION}) on conflict (one) do update set version = excluded.version;
end `,
  )}`;
}

/** A text constant of SQL that needs no escapes. The tags differ, because one is inside another. */
function quote(tag: string, text: string): string {
  return `$${tag}$${text}$${tag}$`;
}
