-- The functions of maintenance: quotas, dropping a workspace, and sweeping what nothing needs any more.

create or replace function fw.set_quota(t text, w bigint, most_bytes bigint, most_files bigint)
returns table (bytes float8, files float8) language plpgsql as $$
#variable_conflict use_column
begin
  perform fw.chain(t, w, null);
  return query update fw.ws q set max_bytes = most_bytes, max_files = most_files where q.id = w
    returning q.bytes::float8, q.files::float8;
end $$;

-- A dropped workspace has no name any more. The sweeper removes it once no fork reads from it; with `now`, it is
-- removed at once when it has none.
create or replace function fw.drop(t text, workspace text, at_once boolean) returns boolean language plpgsql as $$
declare w bigint;
begin
  perform set_config('filewright.tenant', t, true);
  update fw.ws q set name = null where q.tenant = t and q.name = workspace returning q.id into w;
  if w is null then return false; end if;
  if at_once and not exists (select 1 from fw.ws q where q.parent = w) then
    delete from fw.ws q where q.id = w;
  end if;
  return true;
end $$;

-- Sweeps the first workspace after `after`, in a transaction of its own. Answers its number, and how many rows
-- went; no row when there is none. A row goes when the next one of its path is at or below the floor and neither
-- a fork nor a snapshot lies between the two.
create or replace function fw.sweep(after bigint, keep_ms float8, most int)
returns table (ws text, rows int, depth int) language plpgsql as $$
#variable_conflict use_column
declare
  x record; cut timestamptz := clock_timestamp() - make_interval(secs => keep_ms / 1000);
  edge bigint; gone int; more int;
begin
  perform set_config('filewright.tenant', '*', true);
  select q.id, q.name, q.parent, q.flat, q.floor, case when q.flat then 0 else q.depth end depth into x
    from fw.ws q where q.id > after order by q.id limit 1 for no key update;
  if not found then return; end if;
  if x.name is null and not exists (select 1 from fw.ws q where q.parent = x.id) then
    delete from fw.ws q where q.id = x.id;
    return query select x.id::text, 1, 0;
    return;
  end if;
  delete from fw.pin q where q.ws = x.id and q.made < cut and q.made < clock_timestamp() - interval '7 days';
  select max(q.seq) into edge from fw.change q where q.ws = x.id and q.at < cut;
  edge := greatest(x.floor, edge);
  if edge > x.floor then update fw.ws q set floor = edge where q.id = x.id; end if;
  delete from fw.node n where n.ctid = any (array(
    select o.ctid from fw.node o
    cross join lateral (select min(m.seq) seq from fw.node m where m.ws = o.ws and m.path = o.path and m.seq > o.seq) later
    where o.ws = x.id and not o.last and later.seq <= edge
      and not exists (select 1 from fw.kept(x.id) k where k.seq >= o.seq and k.seq < later.seq)
    limit most));
  get diagnostics gone = row_count;
  if x.parent is null or x.flat then
    delete from fw.node n where n.ctid = any (array(
      select o.ctid from fw.node o where o.ws = x.id and o.last and o.kind = 'x' and o.seq <= edge
        and not exists (select 1 from fw.node m where m.ws = o.ws and m.path = o.path and m.seq < o.seq)
      limit most));
    get diagnostics more = row_count;
    gone := gone + more;
  end if;
  delete from fw.change q where q.ws = x.id and q.seq < edge
    and not exists (select 1 from fw.kept(x.id) k where k.seq = q.seq);
  delete from fw.answer q where q.ws = x.id and q.at < cut and q.at < clock_timestamp() - interval '24 hours';
  delete from fw.record q where q.ws = x.id and q.until < clock_timestamp();
  delete from fw.held q where q.ws = x.id and q.until < clock_timestamp() - interval '24 hours';
  return query select x.id::text, gone, x.depth;
end $$;

-- Copies what a deep fork reads from others into it, with its numbers, so that its reads have one level again and
-- its past states stay as they are.
create or replace function fw.flatten(w bigint) returns void language plpgsql as $$
declare c fw.view; x record;
begin
  perform set_config('filewright.tenant', '*', true);
  select q.tenant, q.parent, q.flat into x from fw.ws q where q.id = w for update;
  if not found or x.parent is null or x.flat then return; end if;
  c := fw.chain(x.tenant, w, null);
  perform set_config('filewright.tenant', '*', true);
  insert into fw.node (ws, path, seq, kind, hash, size, mode, target, at, last)
    select w, b.path, b.seq, b.kind, b.hash, b.size, b.mode, b.target, b.at,
      not exists (select 1 from fw.node o where o.ws = w and o.path = b.path)
    from fw.below(c.ids[2:], c.uptos[2:], '', chr(1114111), 9223372036854775807) b
    on conflict (ws, path, seq) do nothing;
  update fw.ws q set flat = true where q.id = w;
end $$;

-- Contents. `reserve` names content that is about to be put into the object store, so that the sweeper sees it;
-- it answers those that are there already. `swept_blobs` removes what no entry names, and answers what has to be
-- removed from the object store before the transaction ends.
create or replace function fw.reserve(t text, w bigint, wanted json) returns table (hash text) language plpgsql as $$
#variable_conflict use_column
begin
  perform fw.chain(t, w, null);
  return query with n as (
    insert into fw.blob as b (tenant, hash, size, ready)
      select t, decode(o.h, 'hex'), o.z, false from json_to_recordset(wanted) o(h text, z bigint) order by o.h
      on conflict (tenant, hash) do update set stored = clock_timestamp() returning b.hash, b.ready)
    select encode(n.hash, 'hex') from n where n.ready;
end $$;
create or replace function fw.sweep_blobs(most int, outside boolean) returns table (tenant text, hash text, remote boolean)
language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('filewright.tenant', '*', true);
  return query delete from fw.blob d where (d.tenant, d.hash) in (
      select b.tenant, b.hash from fw.blob b where b.stored < clock_timestamp() - interval '24 hours'
        and (outside or b.body is not null) and not exists (
          select 1 from fw.node n join fw.ws q on q.id = n.ws where n.hash = b.hash and q.tenant = b.tenant)
      limit most)
    and d.stored < clock_timestamp() - interval '24 hours'
    returning d.tenant, encode(d.hash, 'hex'), d.body is null;
end $$;
