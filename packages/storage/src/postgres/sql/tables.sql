-- The tables. Rows of `node` are added and never changed but for `last`: so history, forks and reads of a past
-- version need no copies.

-- What a function reads: a workspace and those it was forked from, each up to a number.
create type fw.view as (ids bigint[], uptos bigint[], head bigint, floor bigint);

create table fw.ws (
  id bigint generated always as identity primary key,
  tenant text not null,
  name text,                                -- null: dropped, kept while a fork reads from it
  parent bigint references fw.ws, parent_seq bigint, depth int not null default 0,
  flat boolean not null default false,      -- it has copies of what it read from its parents
  seq bigint not null default 0,            -- the number of the last commit: without gaps, so changes() skips nothing
  floor bigint not null default 0,          -- the oldest number whose state is kept
  bytes bigint not null default 0, files bigint not null default 0,
  max_bytes bigint, max_files bigint,
  unique (tenant, name));
create index ws_parent on fw.ws (parent) where parent is not null;

-- A body is null when it is in the object store, or not stored yet ("ready" is false).
create table fw.blob (
  tenant text not null, hash bytea not null, size bigint not null, body bytea,
  ready boolean not null default true, stored timestamptz not null default clock_timestamp(),
  primary key (tenant, hash));
alter table fw.blob alter body set storage external;

-- kind: f file, d directory, l symbolic link, x gone.
create table fw.node (
  ws bigint not null references fw.ws on delete cascade,
  path text collate "C" not null, seq bigint not null, kind "char" not null,
  hash bytea, size bigint, mode int, target text,
  at timestamptz not null default clock_timestamp(), last boolean not null default true);
create unique index node_path on fw.node (ws, path, seq desc);
create index node_last on fw.node (ws, path) where last and kind <> 'x';
create index node_seq on fw.node (ws, seq, path);
create index node_hash on fw.node (hash) where hash is not null;

create table fw.change (
  ws bigint not null references fw.ws on delete cascade, seq bigint not null,
  key text, agent text, tool text, call text, undo_of text, count int not null,
  bytes bigint not null, files bigint not null, at timestamptz not null default clock_timestamp(),
  primary key (ws, seq));
create index change_key on fw.change (ws, key) where key is not null;

-- The first answer of each idempotency key: the version, and the paths whose entries it had.
create table fw.answer (
  ws bigint not null references fw.ws on delete cascade, key text not null,
  seq bigint not null, paths text[] not null, at timestamptz not null default clock_timestamp(),
  primary key (ws, key));

create sequence fw.rev;
create table fw.record (
  ws bigint not null references fw.ws on delete cascade, kind text not null, id text collate "C" not null,
  rev bigint not null, value text not null, until timestamptz, primary key (ws, kind, id));

-- Who was given which paths last. A commit with a token that is no longer complete here is refused.
create sequence fw.fence;
create table fw.held (
  ws bigint not null references fw.ws on delete cascade, path text collate "C" not null, tree boolean not null,
  token bigint not null, total int not null, lease boolean not null, until timestamptz not null,
  primary key (ws, token, path, tree));

create table fw.pin (
  id bigint generated always as identity primary key, ws bigint not null references fw.ws on delete cascade,
  seq bigint not null, made timestamptz not null default clock_timestamp());
create index pin_ws on fw.pin (ws, seq);

-- The state of another workspace that was brought in last: the base of the next merge.
create table fw.merged (
  ws bigint not null references fw.ws on delete cascade,
  source bigint not null references fw.ws on delete cascade, seq bigint not null, primary key (ws, source));
create index merged_source on fw.merged (source, seq);

-- Row-level security, also for the owner of the tables. Every function names its tenant, and the workspaces of
-- that tenant that it reads, for the time of its transaction; a function that forgot a condition would see no
-- other rows all the same. The tenant `*` is that of the maintenance functions.
alter table fw.ws enable row level security;
alter table fw.ws force row level security;
create policy tenant on fw.ws
  using ((select nullif(current_setting('filewright.tenant', true), '')) = '*'
    or tenant = (select nullif(current_setting('filewright.tenant', true), '')));
alter table fw.blob enable row level security;
alter table fw.blob force row level security;
create policy tenant on fw.blob
  using ((select nullif(current_setting('filewright.tenant', true), '')) = '*'
    or tenant = (select nullif(current_setting('filewright.tenant', true), '')));
alter table fw.node enable row level security;
alter table fw.node force row level security;
create policy tenant on fw.node
  using ((select nullif(current_setting('filewright.tenant', true), '')) = '*'
    or ws = any (coalesce((select nullif(current_setting('filewright.workspaces', true), '')::bigint[]), '{}')));
alter table fw.change enable row level security;
alter table fw.change force row level security;
create policy tenant on fw.change
  using ((select nullif(current_setting('filewright.tenant', true), '')) = '*'
    or ws = any (coalesce((select nullif(current_setting('filewright.workspaces', true), '')::bigint[]), '{}')));
alter table fw.answer enable row level security;
alter table fw.answer force row level security;
create policy tenant on fw.answer
  using ((select nullif(current_setting('filewright.tenant', true), '')) = '*'
    or ws = any (coalesce((select nullif(current_setting('filewright.workspaces', true), '')::bigint[]), '{}')));
alter table fw.record enable row level security;
alter table fw.record force row level security;
create policy tenant on fw.record
  using ((select nullif(current_setting('filewright.tenant', true), '')) = '*'
    or ws = any (coalesce((select nullif(current_setting('filewright.workspaces', true), '')::bigint[]), '{}')));
alter table fw.held enable row level security;
alter table fw.held force row level security;
create policy tenant on fw.held
  using ((select nullif(current_setting('filewright.tenant', true), '')) = '*'
    or ws = any (coalesce((select nullif(current_setting('filewright.workspaces', true), '')::bigint[]), '{}')));
alter table fw.pin enable row level security;
alter table fw.pin force row level security;
create policy tenant on fw.pin
  using ((select nullif(current_setting('filewright.tenant', true), '')) = '*'
    or ws = any (coalesce((select nullif(current_setting('filewright.workspaces', true), '')::bigint[]), '{}')));
alter table fw.merged enable row level security;
alter table fw.merged force row level security;
create policy tenant on fw.merged
  using ((select nullif(current_setting('filewright.tenant', true), '')) = '*'
    or ws = any (coalesce((select nullif(current_setting('filewright.workspaces', true), '')::bigint[]), '{}')));
