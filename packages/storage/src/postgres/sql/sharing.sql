-- The functions beside the files: workspaces, forks, snapshots, records and locks.

-- Finds or makes a workspace. Answers its number, or that the schema is of another version.
create or replace function fw.open(t text, workspace text, known int, out id bigint, out version int)
language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('filewright.tenant', t, true);
  select m.version into version from fw.meta m;
  if version <> known then return; end if;
  select q.id into id from fw.ws q where q.tenant = t and q.name = workspace;
  if found then return; end if;
  insert into fw.ws (tenant, name) values (t, workspace) on conflict do nothing returning ws.id into id;
  if id is null then
    select q.id into id from fw.ws q where q.tenant = t and q.name = workspace;
    return;
  end if;
  perform set_config('filewright.workspaces', array[id]::text, true);
  insert into fw.node (ws, path, seq, kind, mode) values (id, '/', 0, 'd', 493);
end $$;

-- Makes a workspace that begins as another one is, or was. Nothing is copied.
create or replace function fw.fork(t text, w bigint, workspace text, past bigint)
returns table (id bigint, base text) language plpgsql as $$
#variable_conflict use_column
declare c fw.view; x record; start bigint; made bigint;
begin
  -- With a past number, the row is locked against a sweeper that forgets it in the meantime.
  if past is not null then perform 1 from fw.ws q where q.id = w and q.tenant = t for share; end if;
  c := fw.chain(t, w, past);
  start := coalesce(past, c.head);
  select q.depth, q.bytes, q.files, q.max_bytes, q.max_files into x from fw.ws q where q.id = w;
  if past is not null and past < c.head then
    x.bytes := 0; x.files := 0;
    select h.bytes, h.files into x.bytes, x.files from unnest(c.ids, c.uptos) l(id, upto)
      join fw.change h on h.ws = l.id and h.seq <= l.upto order by h.seq desc limit 1;
  end if;
  insert into fw.ws (tenant, name, parent, parent_seq, depth, seq, floor, bytes, files, max_bytes, max_files)
    values (t, workspace, w, start, x.depth + 1, start, start, coalesce(x.bytes, 0), coalesce(x.files, 0),
      x.max_bytes, x.max_files)
    on conflict do nothing returning ws.id into made;
  if made is null then raise exception 'there' using errcode = 'FW014', detail = workspace; end if;
  return query select made, start::text;
end $$;

-- Snapshots: a number that is kept until it is released.
create or replace function fw.pin(t text, w bigint) returns table (id text, at text) language plpgsql as $$
#variable_conflict use_column
declare c fw.view; made bigint;
begin
  c := fw.chain(t, w, null);
  insert into fw.pin (ws, seq) values (w, c.head) returning pin.id into made;
  return query select made::text, c.head::text;
end $$;
create or replace function fw.unpin(t text, w bigint, pin_id bigint) returns void language plpgsql as $$
begin
  perform fw.chain(t, w, null);
  delete from fw.pin q where q.ws = w and q.id = pin_id;
end $$;

-- Everything that a merge reads, in one moment. Rows: `head` with the version of the workspace, the number that both
-- have in common (`hash`) and that of the source now (`target`); `path` for each path that the source changed; its
-- states as `base`, `ours` and `theirs`, with contents where both sides changed a file; `up` for the directories
-- above them here. `key` alone when the key is known; nothing when the two are not parent and fork.
create or replace function fw.merge_read(t text, w bigint, source_id bigint, k text, max_bytes float8)
returns table (side text, i int,
  path text, kind text, version text, hash text, size float8, mode int, mtime float8, target text,
  body bytea) language plpgsql stable as $$
#variable_conflict use_column
declare o fw.view; f fw.view; past bigint[]; start bigint; changed text[]; ups text[];
begin
  o := fw.chain(t, w, null);
  if k is not null and exists (select 1 from fw.answer a where a.ws = w and a.key = k) then
    return query select 'key', 0,
      null::text, null::text, null::text, null::text, null::float8, null::int, null::float8, null::text, null::bytea;
    return;
  end if;
  f := fw.chain(t, source_id, null);
  perform set_config('filewright.workspaces', (o.ids || f.ids)::text, true);
  select m.seq into start from fw.merged m where m.ws = w and m.source = source_id;
  if start is null then
    select q.parent_seq into start from fw.ws q
      where (q.id = source_id and q.parent = w) or (q.id = w and q.parent = source_id);
  end if;
  if start is null then return; end if;
  past := array(select least(u, start) from unnest(f.uptos) u);
  changed := array(select distinct n.path from fw.node n where n.ws = source_id and n.seq > start and n.path <> '/');
  ups := array(select distinct array_to_string(a.names[1:g.n], '/')
    from unnest(changed) p(path) cross join lateral (select string_to_array(p.path, '/') names) a
    cross join lateral generate_series(2, array_length(a.names, 1) - 1) g(n));
  return query select 'head', 0, null::text, null::text, o.head::text, start::text, null::float8, null::int,
    null::float8, f.head::text, null::bytea;
  return query select 'path', 0, p.path, null::text, null::text, null::text, null::float8, null::int,
    null::float8, null::text, null::bytea from unnest(changed) p(path);
  return query select 'up', 0, l.path, l.kind::text, l.seq::text, encode(l.hash, 'hex'), l.size::float8,
    l.mode, floor(extract(epoch from l.at) * 1000)::float8, l.target, null::bytea
    from fw.look(o.ids, o.uptos, ups) l where l.kind <> 'x';
  return query
    with was as materialized (select * from fw.look(f.ids, past, changed)),
    here as materialized (select * from fw.look(o.ids, o.uptos, changed)),
    there as materialized (select * from fw.look(f.ids, f.uptos, changed)),
    merging as (select h.i, sum(h.size + r.size + coalesce(b.size, 0)) over (order by h.i) total
      from here h join there r on r.i = h.i left join was b on b.i = h.i and b.kind = 'f'
      where h.kind = 'f' and r.kind = 'f' and h.hash <> r.hash
        and (b.hash is null or (b.hash <> h.hash and b.hash <> r.hash))),
    x as (select 'base' side, b.* from was b union all select 'ours', h.* from here h
      union all select 'theirs', r.* from there r)
    select x.side, x.i, x.path, x.kind::text, x.seq::text, encode(x.hash, 'hex'), x.size::float8,
    x.mode, floor(extract(epoch from x.at) * 1000)::float8, x.target, q.body
    from x left join merging g on g.i = x.i and g.total <= max_bytes
    left join fw.blob q on g.i is not null and x.kind = 'f' and q.tenant = t and q.hash = x.hash
    where x.kind <> 'x';
end $$;
create or replace function fw.merge_commit(t text, w bigint, source_id bigint, number bigint, k text, who text,
  tool_name text, call_id text, undo text, tok bigint, expects json, groups json, named text[], bodies bytea,
  records json)
returns table (what text, i int, got text,
  path text, kind text, version text, hash text, size float8, mode int, mtime float8, target text)
language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('filewright.committed', '', true);
  return query select * from fw.commit(t, w, k, who, tool_name, call_id, undo, tok, expects, groups, named, bodies,
    records);
  if current_setting('filewright.committed', true) = '' then return; end if;
  insert into fw.merged (ws, source, seq) values (w, source_id, number)
    on conflict (ws, source) do update set seq = greatest(merged.seq, excluded.seq);
end $$;
create or replace function fw.drop_workspace(t text, w bigint) returns void language plpgsql as $$
begin
  perform fw.chain(t, w, null);
  update fw.ws q set name = null where q.id = w;
  -- A fork is small. A workspace of its own, and one from which a fork reads, is left to the sweeper.
  delete from fw.ws q where q.id = w and q.parent is not null
    and not exists (select 1 from fw.ws p where p.parent = w);
exception when foreign_key_violation then null;
end $$;

create or replace function fw.record_get(t text, w bigint, record_kind text, record_id text)
returns table (value text, rev text) language plpgsql stable as $$
begin
  perform fw.chain(t, w, null);
  return query select q.value, q.rev::text from fw.record q where q.ws = w and q.kind = record_kind
    and q.id = record_id and (q.until is null or q.until > clock_timestamp());
end $$;
create or replace function fw.record_list(t text, w bigint, record_kind text, after text, most int)
returns table (id text, value text, rev text) language plpgsql stable as $$
begin
  perform fw.chain(t, w, null);
  return query select q.id, q.value, q.rev::text from fw.record q where q.ws = w and q.kind = record_kind
    and (after is null or q.id > after) and (q.until is null or q.until > clock_timestamp()) order by q.id limit most;
end $$;
create or replace function fw.record_change(t text, w bigint, kind text, id text, op text, value text,
  guarded boolean, expect text, most float8, for_ms float8) returns table (met boolean, now_value text, now_rev text)
language plpgsql as $$
begin
  perform fw.chain(t, w, null);
  return query select q.* from fw.change_record(w, kind, id, op, value, guarded, expect, most, for_ms) q;
end $$;

-- Locks. A plain path takes its own key alone, and the tree keys of the path and of every directory above it
-- together with others; a tree takes its tree key alone. Keys are taken in their order, so nobody waits in a
-- circle, and each has Postgres' own line of waiters. `held` has who was given what last: that is the fence, and
-- the lock itself where sessions cannot hold one.
--
-- Locks are not flushed to the disk. A crash of the engine ends the locks of sessions, and a token whose row was lost
-- is refused; a later commit flushes the rows before it. Tokens begin with the time, so that none is given twice when
-- the last numbers of the sequence were lost as well.
create or replace function fw.overlapping(w bigint, wanted json) returns setof fw.held language sql stable as $$
  select h.* from fw.held h where h.ws = w and exists (
    select 1 from json_to_recordset(wanted) l(p text, tree boolean) where h.path = l.p
      or (l.tree and (l.p = '/' or starts_with(h.path, l.p || '/')))
      or (h.tree and (h.path = '/' or starts_with(l.p, h.path || '/')))) $$;
create or replace function fw.lock_keys(w bigint, wanted json) returns table (key bigint, alone boolean)
language sql stable as $$
  select q.key, bool_or(q.alone) from (
    select hashtextextended('p' || l.p, w) key, true alone from json_to_recordset(wanted) l(p text, tree boolean)
      where not coalesce(l.tree, false)
    union all
    select hashtextextended('t' || a.up, w), coalesce(l.tree, false) and a.up = l.p
      from json_to_recordset(wanted) l(p text, tree boolean, ups text[]) cross join lateral unnest(l.ups) a(up)) q
  group by q.key order by q.key $$;
create or replace function fw.give(w bigint, wanted json, by_lease boolean, for_ms float8) returns bigint
language plpgsql as $$
declare
  tok bigint := floor(extract(epoch from clock_timestamp()) * 1000)::bigint * 1000000 + nextval('fw.fence') % 1000000;
begin
  tok := greatest(tok, (select max(o.token) + 1 from fw.overlapping(w, wanted) o));
  delete from fw.held h using fw.overlapping(w, wanted) o
    where h.ws = w and h.token = o.token and h.path = o.path and h.tree = o.tree;
  insert into fw.held (ws, path, tree, token, total, lease, until)
    select w, l.p, coalesce(l.tree, false), tok, json_array_length(wanted), by_lease,
      clock_timestamp() + make_interval(secs => for_ms / 1000)
    from json_to_recordset(wanted) l(p text, tree boolean);
  return tok;
end $$;
create or replace function fw.take(t text, w bigint, wanted json, wait_ms float8, for_ms float8) returns bigint
language plpgsql as $$
declare
  x record; rest float8;
  ends timestamptz := clock_timestamp() + make_interval(secs => wait_ms / 1000);
begin
  perform fw.chain(t, w, null);
  perform set_config('synchronous_commit', 'off', true);
  for x in select * from fw.lock_keys(w, wanted) loop
    rest := extract(epoch from ends - clock_timestamp()) * 1000;
    perform set_config('lock_timeout', greatest(1, ceil(rest))::bigint || 'ms', true);
    if x.alone then perform pg_advisory_lock(x.key); else perform pg_advisory_lock_shared(x.key); end if;
  end loop;
  perform set_config('lock_timeout', '0', true);
  -- Holders by lease, of replicas behind a pooler, are waited for as well.
  while exists (select 1 from fw.overlapping(w, wanted) o where o.lease and o.until > clock_timestamp()) loop
    if clock_timestamp() > ends then raise exception 'timeout' using errcode = '55P03'; end if;
    perform pg_sleep(0.02);
  end loop;
  return fw.give(w, wanted, false, for_ms);
end $$;
create or replace function fw.take_read(t text, w bigint, wanted json, wait_ms float8, for_ms float8, paths text,
  max_bytes float8) returns table (i int,
    path text, kind text, version text, hash text, size float8, mode int, mtime float8, target text,
    body bytea, place int) language plpgsql as $$
begin
  return query select -1, null::text, 'token', fw.take(t, w, wanted, wait_ms, for_ms)::text, null::text, null::float8,
    null::int, null::float8, null::text, null::bytea, 0;
  return query select * from fw.read_many(t, w, paths, true, max_bytes, null);
end $$;
create or replace function fw.commit_release(t text, w bigint, k text, who text, tool_name text, call_id text,
  undo text, tok bigint, expects json, groups json, named text[], bodies bytea, records json, wanted json)
returns table (what text, i int, got text,
  path text, kind text, version text, hash text, size float8, mode int, mtime float8, target text)
language plpgsql as $$
#variable_conflict use_column
declare x record;
begin
  perform set_config('filewright.committed', '', true);
  return query select * from fw.commit(t, w, k, who, tool_name, call_id, undo, tok, expects, groups, named, bodies,
    records);
  if current_setting('filewright.committed', true) = '' then return; end if;
  update fw.held h set until = clock_timestamp() where h.ws = w and h.token = tok;
  -- The transaction holds the paths until the commit is seen: the next holder reads what it made.
  for x in select * from fw.lock_keys(w, wanted) loop
    -- A session that holds them gets them at once. In another one nothing is waited for: its holder may be idle for ever.
    if not (case when x.alone then pg_try_advisory_xact_lock(x.key) else pg_try_advisory_xact_lock_shared(x.key) end) then
      raise exception 'not the session of the locks' using errcode = '55P03';
    end if;
  end loop;
  perform pg_advisory_unlock_all();
end $$;
create or replace function fw.take_lease(t text, w bigint, wanted json, for_ms float8) returns bigint
language plpgsql as $$
begin
  perform fw.chain(t, w, null);
  perform set_config('synchronous_commit', 'off', true);
  perform pg_advisory_xact_lock(hashtextextended('lease', w));
  if exists (select 1 from fw.overlapping(w, wanted) o where o.until > clock_timestamp()) then return null; end if;
  return fw.give(w, wanted, true, for_ms);
end $$;
create or replace function fw.end_hold(t text, w bigint, tok bigint) returns void language plpgsql as $$
begin
  perform fw.chain(t, w, null);
  perform set_config('synchronous_commit', 'off', true);
  -- Kept as a fence: the token is good until another holder is given the paths.
  update fw.held h set until = clock_timestamp() where h.ws = w and h.token = tok;
  perform pg_advisory_unlock_all();
end $$;
