-- The functions that read: entries, contents, listings, changes and the history.

-- The past numbers of a workspace that snapshots, forks and merges read, however old they are.
create or replace function fw.kept(w bigint) returns table (seq bigint) language sql stable as $$
  select q.seq from fw.pin q where q.ws = w union all select q.parent_seq from fw.ws q where q.parent = w
  union all select q.seq from fw.merged q where q.source = w $$;

-- The workspace and those from which it was forked, nearest first, each with the number up to which it is read.
-- Refuses a workspace of another tenant, and a past number that is not kept.
create or replace function fw.chain(t text, w bigint, past bigint) returns fw.view
language plpgsql stable as $$
declare x record; c fw.view; cur bigint := w; upto bigint := coalesce(past, 9223372036854775807);
begin
  perform set_config('filewright.tenant', t, true);
  c.ids := '{}'; c.uptos := '{}';
  loop
    select q.seq, q.floor, q.parent, q.parent_seq, q.flat into x from fw.ws q where q.id = cur and q.tenant = t;
    if not found then raise exception 'no such workspace' using errcode = 'FW004'; end if;
    if c.head is null then c.head := x.seq; c.floor := x.floor; end if;
    c.ids := c.ids || cur; c.uptos := c.uptos || upto;
    exit when x.parent is null or x.flat;
    cur := x.parent; upto := least(upto, x.parent_seq);
  end loop;
  perform set_config('filewright.workspaces', c.ids::text, true);
  if past is not null and (past > c.head or past < 0 or
    (past < c.floor and not exists (select 1 from fw.kept(w) k where k.seq = past))) then
    raise exception 'the version is not kept' using errcode = 'FW011';
  end if;
  return c;
end $$;

-- The state of each path: the newest row of the nearest workspace that has one.
create or replace function fw.look(ids bigint[], uptos bigint[], paths text[])
returns table (i int, path text, seq bigint, kind "char", hash bytea, size bigint, mode int, target text, at timestamptz)
language sql stable as $$
  select p.i::int, n.path, n.seq, n.kind, n.hash, n.size, n.mode, n.target, n.at
  from unnest(paths) with ordinality p(path, i) cross join lateral (
    select o.* from unnest(ids, uptos) with ordinality c(id, upto, depth) cross join lateral (
      select * from fw.node q where q.ws = c.id and q.path = p.path collate "C" and q.seq <= c.upto
      order by q.seq desc limit 1) o
    order by c.depth limit 1) n $$;

-- At most `most` entries between two paths, both exclusive, that are not gone.
create or replace function fw.below(ids bigint[], uptos bigint[], lo text, hi text, most bigint)
returns table (path text, seq bigint, kind "char", hash bytea, size bigint, mode int, target text, at timestamptz)
language plpgsql stable as $$
begin
  if array_length(ids, 1) = 1 and uptos[1] = 9223372036854775807 then
    return query select n.path, n.seq, n.kind, n.hash, n.size, n.mode, n.target, n.at from fw.node n
      where n.ws = ids[1] and n.last and n.kind <> 'x' and n.path > lo and n.path < hi order by n.path limit most;
  else
    return query select * from (
      select distinct on (n.path) n.path, n.seq, n.kind, n.hash, n.size, n.mode, n.target, n.at
      from unnest(ids, uptos) with ordinality c(id, upto, depth) cross join lateral (
        select distinct on (o.path) o.* from fw.node o
        where o.ws = c.id and o.seq <= c.upto and o.path > lo and o.path < hi order by o.path, o.seq desc) n
      order by n.path, c.depth) x where x.kind <> 'x' order by x.path limit most;
  end if;
end $$;

-- place: 0 no content, 1 content in `body`, 2 in the object store, 3 left out because of `max_bytes`.
-- The row with i = 0 has the version of the workspace.
create or replace function fw.read_many(t text, w bigint, paths text, bodies boolean, max_bytes float8, past bigint)
returns table (i int,
  path text, kind text, version text, hash text, size float8, mode int, mtime float8, target text,
  body bytea, place int) language plpgsql stable as $$
declare c fw.view;
begin
  select * into c from fw.chain(t, w, past);
  return query select 0, null::text, 'head', coalesce(past, c.head)::text, null::text, null::float8, null::int,
    null::float8, null::text, null::bytea, 0;
  return query
    select x.i, x.path, x.kind::text, x.seq::text, encode(x.hash, 'hex'), x.size::float8,
    x.mode, floor(extract(epoch from x.at) * 1000)::float8, x.target,
      case when x.fits then b.body end,
      case when x.kind <> 'f' or not bodies then 0 when not x.fits then 3 when b.body is null then 2 else 1 end
    from (select l.*, bodies and l.kind = 'f'
        and (max_bytes is null or sum(coalesce(l.size, 0)) over (order by l.i) <= max_bytes) fits
      from fw.look(c.ids, c.uptos, array(select json_array_elements_text(paths::json))) l where l.kind <> 'x') x
    left join fw.blob b on x.fits and b.tenant = t and b.hash = x.hash
    order by x.i;
end $$;

-- The contents with some hashes, in their order. The body of one in the object store is null.
create or replace function fw.read_contents(t text, w bigint, hashes json)
returns table (i int, body bytea) language plpgsql stable as $$
begin
  perform fw.chain(t, w, null);
  return query select x.i::int, b.body
    from json_array_elements_text(hashes) with ordinality x(hash, i)
    join fw.blob b on b.tenant = t and b.hash = decode(x.hash, 'hex') and b.ready;
end $$;

-- A page of a listing. Rows: i = 0 the version, -1 the entry at the prefix, -2 the path after which the next
-- page begins, then the entries, one more than asked for where there is no such path. A level of a chain gives only
-- so many rows, so what lies beyond the last row of a level that gave all of them is left to the next page.
create or replace function fw.list(t text, w bigint, prefix text, levels int, after text, most int, past bigint)
returns table (i int,
  path text, kind text, version text, hash text, size float8, mode int, mtime float8, target text)
language plpgsql stable as $$
#variable_conflict use_column
declare c fw.view; x record; cur text; hi text; n int := 0; bound text; deepest int; jumped boolean; at_cur boolean := false;
begin
  select * into c from fw.chain(t, w, past);
  return query select 0, null::text, 'head', coalesce(past, c.head)::text, null::text, null::float8, null::int,
    null::float8, null::text;
  select l.* into x from fw.look(c.ids, c.uptos, array[prefix]) l where l.kind <> 'x';
  if not found then return; end if;
  return query select -1, x.path, x.kind::text, x.seq::text, encode(x.hash, 'hex'), x.size::float8,
    x.mode, floor(extract(epoch from x.at) * 1000)::float8, x.target;
  if x.kind <> 'd' then return; end if;
  cur := case when prefix = '/' then '/' else prefix || '/' end;
  hi := case when prefix = '/' then '0' else prefix || '0' end;
  if after is not null and after collate "C" > cur then cur := after; end if;
  if levels is not null then
    deepest := (case when prefix = '/' then 0 else array_length(string_to_array(prefix, '/'), 1) - 1 end) + levels;
  end if;
  if array_length(c.ids, 1) = 1 and past is null then
    if levels is null then
      -- One entry more than asked for, which shows whether there is another page.
      return query select row_number() over (order by q.path)::int,
        q.path, q.kind::text, q.seq::text, encode(q.hash, 'hex'), q.size::float8,
    q.mode, floor(extract(epoch from q.at) * 1000)::float8, q.target from fw.node q
        where q.ws = w and q.last and q.kind <> 'x' and q.path > cur and q.path < hi order by q.path limit most + 1;
      return;
    end if;
    -- What lies too deep is passed by as a whole: the next entry is sought after it.
    loop
      jumped := false;
      for x in select q.* from fw.node q where q.ws = w and q.last and q.kind <> 'x' and q.path >= cur and q.path < hi
        and (at_cur or q.path <> cur) order by q.path loop
        at_cur := false;
        if array_length(string_to_array(x.path, '/'), 1) - 1 > deepest then
          cur := array_to_string((string_to_array(x.path, '/'))[1:deepest + 1], '/') || '0';
          jumped := true; at_cur := true;
          exit;
        end if;
        cur := x.path; n := n + 1; i := n;
        path := x.path; kind := x.kind::text; version := x.seq::text; hash := encode(x.hash, 'hex');
        size := x.size; mode := x.mode; mtime := floor(extract(epoch from x.at) * 1000); target := x.target;
        return next;
        if n > most then return; end if;
      end loop;
      exit when not jumped;
    end loop;
    return;
  end if;
  if levels is not null then
    loop
      select min(m.path collate "C") into bound from unnest(c.ids, c.uptos) k(id, upto) cross join lateral (
        select o.path from fw.node o where o.ws = k.id and o.seq <= k.upto and o.path > cur and o.path < hi
        order by o.path limit 1) m;
      exit when bound is null;
      if array_length(string_to_array(bound, '/'), 1) - 1 > deepest then
        cur := array_to_string((string_to_array(bound, '/'))[1:deepest + 1], '/') || '0';
        -- Below this bound but not at it: a name that ends in 0 is an entry of its own.
        if exists (select 1 from fw.look(c.ids, c.uptos, array[cur]) l) then
          bound := cur;
        else
          continue;
        end if;
      end if;
      cur := bound;
      for x in select l.* from fw.look(c.ids, c.uptos, array[cur]) l where l.kind <> 'x' loop
        if n = most then
          return query select -2, (select e from (select bound) q(e)), 'next', null::text, null::text, null::float8,
            null::int, null::float8, null::text;
          return;
        end if;
        n := n + 1;
        return query select n, x.path, x.kind::text, x.seq::text, encode(x.hash, 'hex'), x.size::float8,
    x.mode, floor(extract(epoch from x.at) * 1000)::float8, x.target;
      end loop;
    end loop;
    return;
  end if;
  return query
    with level as (
      select o.*, k.depth from unnest(c.ids, c.uptos) with ordinality k(id, upto, depth) cross join lateral (
        select distinct on (p.path) p.* from fw.node p where p.ws = k.id and p.seq <= k.upto
          and p.path > cur and p.path < hi order by p.path, p.seq desc limit most + 1) o),
    edge as (select min(m) e from (select max(level.path) m from level group by depth having count(*) > most) q),
    live as (select row_number() over (order by y.path)::int r, y.* from (
      select distinct on (level.path) level.* from level, edge where edge.e is null or level.path <= edge.e
      order by level.path, level.depth) y where y.kind <> 'x')
    select r, live.path, live.kind::text, live.seq::text, encode(live.hash, 'hex'), live.size::float8,
    live.mode, floor(extract(epoch from live.at) * 1000)::float8, live.target from live where r <= most
    union all
    select -2, coalesce((select live.path from live where r = most and exists (select 1 from live where r > most)), edge.e),
      'next', null, null, null, null, null, null from edge
      where edge.e is not null or exists (select 1 from live where r > most);
end $$;

-- Rows: i = 0 the present version, -1 when `since` is not kept; then the entries.
create or replace function fw.changes(t text, w bigint, since bigint, since_path text, most int)
returns table (i int,
  path text, kind text, version text, hash text, size float8, mode int, mtime float8, target text)
language plpgsql stable as $$
declare c fw.view;
begin
  select * into c from fw.chain(t, w, null);
  return query select 0, null::text, 'head', c.head::text, null::text, null::float8, null::int, null::float8, null::text;
  if since < c.floor or since > c.head then
    return query select -1,
      null::text, null::text, null::text, null::text, null::float8, null::int, null::float8, null::text;
  elsif since_path is null then
    return query select row_number() over (order by n.seq, n.path)::int,
      n.path, n.kind::text, n.seq::text, encode(n.hash, 'hex'), n.size::float8,
    n.mode, floor(extract(epoch from n.at) * 1000)::float8, n.target from fw.node n
      where n.ws = w and n.last and n.seq > since order by n.seq, n.path limit most;
  else
    return query select row_number() over (order by n.seq, n.path)::int,
      n.path, n.kind::text, n.seq::text, encode(n.hash, 'hex'), n.size::float8,
    n.mode, floor(extract(epoch from n.at) * 1000)::float8, n.target from fw.node n
      where n.ws = w and n.last and (n.seq, n.path) > (since, since_path) order by n.seq, n.path limit most;
  end if;
end $$;

-- Past commits. The changes of one commit are JSON: [path, before, after], each state a list of columns.
create or replace function fw.history(t text, w bigint, version bigint, k text, who text, prior bigint, most int,
  detailed boolean)
returns table (seq text, at float8, key text, agent text, tool text, call text, undo_of text, count int, changes text)
language plpgsql stable as $$
declare c fw.view;
begin
  select * into c from fw.chain(t, w, null);
  return query select q.seq::text, floor(extract(epoch from q.at) * 1000)::float8, q.key, q.agent, q.tool, q.call,
    q.undo_of, q.count, case when detailed or version is not null or k is not null then coalesce((
      select json_agg(json_build_array(n.path,
        case when b.kind is null or b.kind = 'x' then null else
          json_build_array(b.path, b.kind::text, b.seq::text, encode(b.hash, 'hex'), b.size::float8,
    b.mode, floor(extract(epoch from b.at) * 1000)::float8, b.target) end,
        case when n.kind = 'x' then null else
          json_build_array(n.path, n.kind::text, n.seq::text, encode(n.hash, 'hex'), n.size::float8,
    n.mode, floor(extract(epoch from n.at) * 1000)::float8, n.target) end) order by n.path)
      from fw.node n left join lateral fw.look(c.ids,
        array(select least(u, q.seq - 1) from unnest(c.uptos) u), array[n.path]) b on true
      where n.ws = q.ws and n.seq = q.seq)::text, '[]') end
  from unnest(c.ids, c.uptos) l(id, upto) join fw.change q on q.ws = l.id and q.seq <= l.upto
  where (version is null or q.seq = version) and (k is null or q.key = k) and (who is null or q.agent = who)
    and (prior is null or q.seq < prior)
  order by q.seq desc limit most;
end $$;
