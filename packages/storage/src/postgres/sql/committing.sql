-- The function `commit`: conditions, changes, records and the answer in one call, so in one round trip and one
-- transaction. Arguments that are lists are JSON, which every client sends in the same way; the bodies are one
-- value after the other in `bodies`, which `pg` sends as bytes where a list would be text.

-- The conditions of a commit that do not hold, by their positions. Kinds: v the version of a path, k its kind,
-- t nothing at or below it has changed since a version, r the revision of a record.
create or replace function fw.unmet(w bigint, c fw.view, expects json, records json)
returns table (what text, i int, got text) language plpgsql stable as $$
begin
  return query
    select 'unmet', e.i, q.found from json_to_recordset(expects) e(i int, k text, p text, v text) cross join lateral (
      select case when e.k = 'k' then coalesce(l.kind::text, 'x') when l.kind = 'x' then null else l.seq::text end found
      from (select 1) one left join fw.look(c.ids, c.uptos, array[e.p]) l on true) q
    where e.k <> 't' and q.found is distinct from e.v
    union all
    select 'unmet', e.i, coalesce(q.found, c.head)::text
    from (select o.i, o.p, o.v::bigint v from json_to_recordset(expects) o(i int, k text, p text, v text)
      where o.k = 't' offset 0) e cross join lateral (
      select max(n.seq) found from unnest(c.ids, c.uptos) l(id, upto) join fw.node n on n.ws = l.id and n.seq <= l.upto
      where n.seq > e.v and (n.path = e.p collate "C" or e.p = '/' or (n.path > e.p || '/' and n.path < e.p || '0'))) q
    where (q.found is not null or e.v is null or e.v < c.floor or e.v > c.head)
    order by 2;
  if records is null then return; end if;
  return query
    select 'record', o.i, q.rev::text
    from json_to_recordset(records) o(i int, kind text, id text, expect text, guarded boolean)
    left join fw.record q on q.ws = w and q.kind = o.kind and q.id = o.id
      and (q.until is null or q.until > clock_timestamp())
    where o.guarded and q.rev::text is distinct from o.expect order by o.i;
end $$;

-- One change of a record. Answers its value and revision; `met` is false when another revision is there, or when
-- a counter would exceed `most`. A counter keeps the time at which it ends.
create or replace function fw.change_record(w bigint, kind text, id text, op text, value text, guarded boolean,
  expect text, most float8, for_ms float8, out met boolean, out now_value text, out now_rev text)
language plpgsql as $$
#variable_conflict use_column
declare
  q record; sum float8;
  ends timestamptz := clock_timestamp() + make_interval(secs => for_ms / 1000);
begin
  -- The row is made first, so that there is one to lock; it is over at once.
  insert into fw.record as r (ws, kind, id, rev, value, until)
    values (w, change_record.kind, change_record.id, 0, 'null', '-infinity') on conflict do nothing;
  select r.rev::text rev, r.value, r.until, r.until is null or r.until > clock_timestamp() there into q
    from fw.record r where r.ws = w and r.kind = change_record.kind and r.id = change_record.id for update;
  met := not guarded or (case when q.there then q.rev end) is not distinct from expect;
  if op = 'add' then
    sum := case when not q.there then 0
      when json_typeof(q.value::json) = 'number' then q.value::float8 end;
    if sum is null then raise exception 'no counter' using errcode = 'FW015'; end if;
    now_value := to_json(sum)::text;
    if met and (most is null or sum + value::float8 <= most) then
      if abs(sum + value::float8) > 9007199254740991 then
        raise exception 'a counter is a whole number' using errcode = 'FW016';
      end if;
      now_value := (sum + value::float8)::bigint::text;
      if q.there then ends := q.until; end if;
    else
      met := false;
    end if;
  else
    now_value := value;
  end if;
  now_rev := case when q.there then q.rev end;
  if not met or op = 'remove' then
    if not q.there or met then
      delete from fw.record r where r.ws = w and r.kind = change_record.kind and r.id = change_record.id;
    end if;
    return;
  end if;
  now_rev := nextval('fw.rev')::text;
  update fw.record r set rev = now_rev::bigint, value = now_value, until = ends
    where r.ws = w and r.kind = change_record.kind and r.id = change_record.id;
end $$;

-- Makes the missing directories among `ups`, the parents of what is written.
create or replace function fw.parents(w bigint, s bigint, c fw.view, ups text[], paths text[]) returns void
language plpgsql as $$
declare x record; missing text[] := '{}';
begin
  for x in select u.path, coalesce(l.kind, 'x') kind from unnest(ups) with ordinality u(path, i)
    left join fw.look(c.ids, c.uptos, ups) l on l.i = u.i loop
    if x.kind in ('f', 'l') or x.path = any (paths) then
      raise exception 'not a directory' using errcode = 'FW006', detail = x.path;
    end if;
    if x.kind = 'x' then missing := missing || x.path; end if;
  end loop;
  if missing = '{}' then return; end if;
  update fw.node q set last = false where q.ws = w and q.last and q.seq < s and q.path = any (missing);
  insert into fw.node (ws, path, seq, kind, mode) select w, m, s, 'd', 493 from unnest(missing) m
    on conflict (ws, path, seq) do update set kind = excluded.kind, hash = excluded.hash,
    size = excluded.size, mode = excluded.mode, target = excluded.target, at = excluded.at;
end $$;

-- Writes one row.
create or replace function fw.write(w bigint, s bigint, p text, k "char", h bytea, z bigint, m int, t text,
  stamp timestamptz) returns void language plpgsql as $$
begin
  update fw.node q set last = false where q.ws = w and q.last and q.seq < s and q.path = any (array[p]);
  insert into fw.node (ws, path, seq, kind, hash, size, mode, target, at)
    values (w, p, s, k, h, z, m, t, coalesce(stamp, clock_timestamp()))
      on conflict (ws, path, seq) do update set kind = excluded.kind, hash = excluded.hash,
    size = excluded.size, mode = excluded.mode, target = excluded.target, at = excluded.at;
end $$;

-- Files of several puts and links, each path once. at: the place of the content in `bodies`; null for content
-- that is in the object store (`out`), or that is there already.
create or replace function fw.put(owner text, w bigint, s bigint, c fw.view, ops json, ups text[], bodies bytea)
returns void language plpgsql as $$
declare x record; names text[];
begin
  names := array(select o.p from json_to_recordset(ops) o(p text));
  perform fw.parents(w, s, c, ups, names);
  select l.path into x from fw.look(c.ids, c.uptos, names) l where l.kind = 'd' limit 1;
  if found then raise exception 'is a directory' using errcode = 'FW008', detail = x.path; end if;
  -- In the order of the hashes, so that two commits wait for each other in one direction.
  insert into fw.blob as b (tenant, hash, size, body)
    select owner, a.h, a.z, case when a.at is not null then substring(bodies from a.at + 1 for a.z::int) end
    from (select distinct on (o.h) decode(o.h, 'hex') h, o.z, o.at from
      json_to_recordset(ops) o(h text, z bigint, at int, out boolean) where o.at is not null or o.out order by o.h) a
    order by a.h
    on conflict (tenant, hash) do update set stored = clock_timestamp(), ready = true,
      body = case when b.ready then b.body else excluded.body end
    where not b.ready or b.stored < clock_timestamp() - interval '12 hours';
  update fw.blob b set stored = clock_timestamp() from json_to_recordset(ops) o(h text, at int)
    where o.at is null and b.tenant = owner and b.hash = decode(o.h, 'hex')
    and b.stored < clock_timestamp() - interval '12 hours';
  select o.p into x from json_to_recordset(ops) o(p text, h text, z bigint, at int) where o.at is null and not exists (
    select 1 from fw.blob b where b.tenant = owner and b.hash = decode(o.h, 'hex') and b.size = o.z and b.ready) limit 1;
  if found then raise exception 'no such content' using errcode = 'FW013', detail = x.p; end if;
  insert into fw.node (ws, path, seq, kind, hash, size, mode)
    select w, o.p, s, 'f', decode(o.h, 'hex'), o.z, coalesce(o.m, case when l.kind = 'f' then l.mode end, 420)
    from json_to_recordset(ops) o(p text, h text, z bigint, m int)
    left join fw.look(c.ids, c.uptos, names) l on l.path = o.p
      on conflict (ws, path, seq) do update set kind = excluded.kind, hash = excluded.hash,
    size = excluded.size, mode = excluded.mode, target = excluded.target, at = excluded.at;
  update fw.node q set last = false where q.ws = w and q.last and q.seq < s and q.path = any (names);
end $$;

-- Every other operation, one at a time.
create or replace function fw.change_path(w bigint, s bigint, c fw.view, op text, p text, goal text, ups text[],
  m int, whole boolean) returns void language plpgsql as $$
declare
  x record; y record;
  lo text := p || '/'; hi text := p || '0';
begin
  select l.* into x from fw.look(c.ids, c.uptos, array[p]) l where l.kind <> 'x';
  if op in ('chmod', 'remove', 'move') and x.path is null then
    raise exception 'not found' using errcode = 'FW017', detail = p;
  end if;
  if op = 'chmod' then
    if x.kind = 'l' then raise exception 'a link has no mode' using errcode = 'FW018', detail = p; end if;
    perform fw.write(w, s, p, x.kind, x.hash, x.size, m, null, x.at);
    return;
  end if;
  if op in ('mkdir', 'symlink') then
    if x.kind = 'd' and op = 'mkdir' then return; end if;
    if x.path is not null then raise exception 'there' using errcode = 'FW019', detail = p; end if;
    perform fw.parents(w, s, c, ups, '{}');
    perform fw.write(w, s, p, (case op when 'mkdir' then 'd' else 'l' end)::"char", null, null,
      case op when 'mkdir' then coalesce(m, 493) end, case op when 'symlink' then goal end, null);
    return;
  end if;
  if op = 'remove' and x.kind = 'd' and not whole
    and exists (select 1 from fw.below(c.ids, c.uptos, lo, hi, 1)) then
    raise exception 'not empty' using errcode = 'FW003', detail = p;
  end if;
  if op = 'move' then
    select l.path into y from fw.look(c.ids, c.uptos, array[goal]) l where l.kind <> 'x';
    if y.path is not null then raise exception 'there' using errcode = 'FW019', detail = goal; end if;
    perform fw.parents(w, s, c, ups, '{}');
    perform fw.write(w, s, goal, x.kind, x.hash, x.size, x.mode, x.target, x.at);
  end if;
  if x.kind = 'd' then
    for y in select b.* from fw.below(c.ids, c.uptos, lo, hi, 9223372036854775807) b loop
      if op = 'move' then
        if octet_length(goal) + octet_length(y.path) - octet_length(p) > 4096 then
          raise exception 'too long' using errcode = 'FW009', detail = y.path;
        end if;
        perform fw.write(w, s, goal || substr(y.path, length(p) + 1), y.kind, y.hash, y.size, y.mode, y.target, y.at);
      end if;
      perform fw.write(w, s, y.path, 'x', null, null, null, null, null);
    end loop;
  end if;
  perform fw.write(w, s, p, 'x', null, null, null, null, null);
end $$;

-- Rows: what = head with the version (i = 1: repeated), entry, or unmet, record and fenced when nothing was
-- changed. The workspace's row is locked only after the conditions held once, so a loser waits for nobody; they
-- are compared again unless nobody committed in between.
create or replace function fw.commit(t text, w bigint, k text, who text, tool_name text, call_id text, undo text,
  tok bigint, expects json, groups json, named text[], bodies bytea, records json)
returns table (what text, i int, got text,
  path text, kind text, version text, hash text, size float8, mode int, mtime float8, target text)
language plpgsql as $$
#variable_conflict use_column
declare c fw.view; x record; s bigint; n int; more_bytes bigint; more_files bigint; own record; g json; kept text[];
begin
  for n in 1..2 loop
    select * into c from fw.chain(t, w, null);
    if k is not null then
      select a.seq, a.paths into x from fw.answer a where a.ws = w and a.key = k;
      if found then
        return query select 'head', 1, null::text, null::text, null::text, x.seq::text, null::text, null::float8,
          null::int, null::float8, null::text;
        c.uptos[1] := x.seq;
        return query select 'entry', p.i::int, null::text, p.path, coalesce(l.kind, 'x')::text,
          coalesce(l.seq, x.seq)::text, encode(l.hash, 'hex'), l.size::float8, l.mode,
          floor(extract(epoch from l.at) * 1000)::float8, l.target
          from unnest(x.paths) with ordinality p(path, i)
          left join fw.look(c.ids, array(select least(u, x.seq) from unnest(c.uptos) u), x.paths) l on l.i = p.i order by 2;
        return;
      end if;
    end if;
    if tok is not null and not coalesce((select count(*) = min(h.total) from (
      select h.total from fw.held h where h.ws = w and h.token = tok for key share) h), false) then
      return query select 'fenced', 0, null::text,
        null::text, null::text, null::text, null::text, null::float8, null::int, null::float8, null::text;
      return;
    end if;
    return query select u.*,
      null::text, null::text, null::text, null::text, null::float8, null::int, null::float8, null::text
      from fw.unmet(w, c, expects, records) u;
    if found then return; end if;
    if n = 2 then exit; end if;
    select q.seq, q.bytes, q.files, q.max_bytes, q.max_files into own from fw.ws q where q.id = w for no key update;
    exit when own.seq = c.head and tok is null;
  end loop;
  s := own.seq + 1;
  for g in select e.value from json_array_elements(groups) e loop
    if g->>'o' = 'put' then
      perform fw.put(t, w, s, c, g->'ops', array(select json_array_elements_text(g->'u')), bodies);
    else
      perform fw.change_path(w, s, c, g->>'o', g->>'p', g->>'t', array(select json_array_elements_text(g->'u')),
        (g->>'m')::int, coalesce((g->>'whole')::boolean, false));
    end if;
  end loop;
  for x in select o.i, o.kind, o.id, o.op, q.* from json_to_recordset(records)
    o(i int, kind text, id text, op text, value text, guarded boolean, expect text, most float8, for_ms float8)
    cross join lateral fw.change_record(w, o.kind, o.id, o.op, o.value, o.guarded, o.expect, o.most, o.for_ms) q loop
    if not x.met then
      raise exception 'record' using errcode = 'FW005',
        detail = json_build_object('i', x.i, 'op', x.op, 'found', x.now_rev, 'now', x.now_value)::text;
    end if;
  end loop;
  -- What came and went within the commit is no change.
  delete from fw.node q where q.ws = w and q.seq = s and q.kind = 'x' and not exists (
    select 1 from fw.look(c.ids, array(select least(u, s - 1) from unnest(c.uptos) u), array[q.path]) l where l.kind <> 'x');
  select count(*), coalesce(sum(coalesce(q.size, 0) - coalesce(l.size, 0)), 0),
    coalesce(sum((q.kind = 'f')::int - coalesce((l.kind = 'f')::int, 0)), 0) into n, more_bytes, more_files
    from fw.node q left join lateral fw.look(c.ids,
      array(select least(u, s - 1) from unnest(c.uptos) u), array[q.path]) l on true
    where q.ws = w and q.seq = s;
  if n = 0 then
    s := own.seq;
  else
    own.bytes := own.bytes + more_bytes; own.files := own.files + more_files;
    if (more_bytes > 0 and own.bytes > own.max_bytes) or (more_files > 0 and own.files > own.max_files) then
      raise exception 'quota' using errcode = 'FW007', detail = json_build_object('bytes', own.bytes,
        'max_bytes', own.max_bytes, 'files', own.files, 'max_files', own.max_files)::text;
    end if;
    update fw.ws q set seq = s, bytes = own.bytes, files = own.files where q.id = w;
    insert into fw.change (ws, seq, key, agent, tool, call, undo_of, count, bytes, files)
      values (w, s, k, who, tool_name, call_id, undo, n, own.bytes, own.files);
  end if;
  -- Of the parents, those that this commit made.
  kept := array(select distinct p collate "C" from (select unnest(named) p union all
    select u.path from (select distinct json_array_elements_text(e.value->'u') path from json_array_elements(groups) e) u
    join fw.node q on q.ws = w and q.path = u.path and q.seq = s and q.kind = 'd') a order by 1);
  if k is not null then insert into fw.answer (ws, key, seq, paths) values (w, k, s, kept); end if;
  -- A merge asks for it.
  perform set_config('filewright.committed', s::text, true);
  return query select 'head', 0, null::text, null::text, null::text, s::text, null::text, null::float8, null::int,
    null::float8, null::text;
  return query select 'entry', p.i::int, null::text, p.path, coalesce(l.kind, 'x')::text, coalesce(l.seq, s)::text,
    encode(l.hash, 'hex'), l.size::float8, l.mode, floor(extract(epoch from l.at) * 1000)::float8, l.target
    from unnest(kept) with ordinality p(path, i) left join fw.look(c.ids, c.uptos, kept) l on l.i = p.i order by 2;
end $$;
