/**
 * The tables. Rows of `node` are added and never changed but for `last`: so history, forks and reads of a past
 * version need no copies.
 */

/** Creates the tables, indexes and policies in the schema `s`, a quoted identifier. */
export function tables(s: string): string {
  return `
-- What a function reads: a workspace and those it was forked from, each up to a number.
create type ${s}.view as (ids bigint[], uptos bigint[], head bigint, floor bigint);

create table ${s}.ws (
  id bigint generated always as identity primary key,
  tenant text not null,
  name text,                                -- null: dropped, kept while a fork reads from it
  parent bigint references ${s}.ws, parent_seq bigint, depth int not null default 0,
  flat boolean not null default false,      -- it has copies of what it read from its parents
  seq bigint not null default 0,            -- the number of the last commit: without gaps, so changes() skips nothing
  floor bigint not null default 0,          -- the oldest number whose state is kept
  bytes bigint not null default 0, files bigint not null default 0,
  max_bytes bigint, max_files bigint,
  unique (tenant, name));
create index ws_parent on ${s}.ws (parent) where parent is not null;

-- A body is null when it is in the object store, or not stored yet ("ready" is false).
create table ${s}.blob (
  tenant text not null, hash bytea not null, size bigint not null, body bytea,
  ready boolean not null default true, stored timestamptz not null default clock_timestamp(),
  primary key (tenant, hash));
alter table ${s}.blob alter body set storage external;

-- kind: f file, d directory, l symbolic link, x gone.
create table ${s}.node (
  ws bigint not null references ${s}.ws on delete cascade,
  path text collate "C" not null, seq bigint not null, kind "char" not null,
  hash bytea, size bigint, mode int, target text,
  at timestamptz not null default clock_timestamp(), last boolean not null default true);
create unique index node_path on ${s}.node (ws, path, seq desc);
create index node_last on ${s}.node (ws, path) where last and kind <> 'x';
create index node_seq on ${s}.node (ws, seq, path);
create index node_hash on ${s}.node (hash) where hash is not null;

create table ${s}.change (
  ws bigint not null references ${s}.ws on delete cascade, seq bigint not null,
  key text, agent text, tool text, call text, undo_of text, count int not null,
  bytes bigint not null, files bigint not null, at timestamptz not null default clock_timestamp(),
  primary key (ws, seq));
create index change_key on ${s}.change (ws, key) where key is not null;

-- The first answer of each idempotency key: the version, and the paths whose entries it had.
create table ${s}.answer (
  ws bigint not null references ${s}.ws on delete cascade, key text not null,
  seq bigint not null, paths text[] not null, at timestamptz not null default clock_timestamp(),
  primary key (ws, key));

create sequence ${s}.rev;
create table ${s}.record (
  ws bigint not null references ${s}.ws on delete cascade, kind text not null, id text collate "C" not null,
  rev bigint not null, value text not null, until timestamptz, primary key (ws, kind, id));

-- Who was given which paths last. A commit with a token that is no longer complete here is refused.
create sequence ${s}.fence;
create table ${s}.held (
  ws bigint not null references ${s}.ws on delete cascade, path text collate "C" not null, tree boolean not null,
  token bigint not null, total int not null, lease boolean not null, until timestamptz not null,
  primary key (ws, token, path, tree));

create table ${s}.pin (
  id bigint generated always as identity primary key, ws bigint not null references ${s}.ws on delete cascade,
  seq bigint not null, made timestamptz not null default clock_timestamp());
create index pin_ws on ${s}.pin (ws, seq);

-- The state of another workspace that was brought in last: the base of the next merge.
create table ${s}.merged (
  ws bigint not null references ${s}.ws on delete cascade,
  source bigint not null references ${s}.ws on delete cascade, seq bigint not null, primary key (ws, source));
create index merged_source on ${s}.merged (source, seq);
${policies(s)}`;
}

/**
 * Row-level security, also for the owner of the tables. Every function names its tenant, and the workspaces of
 * that tenant that it reads, for the time of its transaction; a function that forgot a condition would see no
 * other rows all the same. The tenant `*` is that of the maintenance functions.
 */
function policies(s: string): string {
  const tenant = `(select nullif(current_setting('filewright.tenant', true), ''))`;
  const workspaces = `coalesce((select nullif(current_setting('filewright.workspaces', true), '')::bigint[]), '{}')`;
  const secure = (table: string, condition: string) => `
alter table ${s}.${table} enable row level security;
alter table ${s}.${table} force row level security;
create policy tenant on ${s}.${table} using (${tenant} = '*' or ${condition});`;
  return [
    ...["ws", "blob"].map((table) => secure(table, `tenant = ${tenant}`)),
    ...["node", "change", "answer", "record", "held", "pin", "merged"].map((table) =>
      secure(table, `ws = any (${workspaces})`),
    ),
  ].join("");
}
