-- compatible with: 0.1.0
-- The index of the search: which texts of three and five letters stand in which stretch of the log. Calls of before are
-- indexed in the background, the newest first; until then they are read.

-- Letters without their case, alike on every server: the mapping of the database's own locale may be that of ASCII.
do $$
declare
  folding constant text := case
    when current_setting('server_version_num')::int4 >= 170000 then 'pg_catalog.pg_c_utf8'
    when exists (select from pg_collation where collname = 'und-x-icu') then 'pg_catalog."und-x-icu"'
    else '"C"' end;
begin
  if current_setting('server_encoding') <> 'UTF8' then
    execute 'create function search_fold(value text) returns text language sql immutable strict parallel safe
      return lower(value collate "C")';
  else
    -- I with a dot has a lower case of two letters, and capital sigma one of two by what follows.
    execute format($f$
      create function search_fold(value text) returns text language sql immutable strict parallel safe
      return replace(lower(replace(value, U&'\0130', 'i') collate %s), U&'\03C2', U&'\03C3')$f$, folding);
  end if;
end
$$;
comment on function search_fold(text) is
  'A text as the search compares it, letter for letter without case. src/control/search/fold-text.ts does the same.';

create table llm_search_calls (
  id int8 generated always as identity primary key,
  first_at timestamptz(3) not null,
  last_at timestamptz(3) not null,
  calls int4 not null,
  starts timestamptz(3)[] not null,
  ends timestamptz(3)[] not null,
  saturated int2[] not null,
  directory int4[] not null,
  grams bytea not null
);
alter table llm_search_calls alter directory set storage main, alter grams set storage external;
create index on llm_search_calls (first_at);
comment on table llm_search_calls is
  'Segments of the search index over names, errors and metadata: about 2,000 calls of one day (UTC) in at most 64 stretches.';
comment on column llm_search_calls.id is 'Number of the segment.';
comment on column llm_search_calls.first_at is 'Earliest requested_at.';
comment on column llm_search_calls.last_at is 'Latest requested_at.';
comment on column llm_search_calls.calls is 'Number of calls when it was made.';
comment on column llm_search_calls.starts is 'Earliest requested_at of each stretch.';
comment on column llm_search_calls.ends is 'Latest requested_at of each stretch.';
comment on column llm_search_calls.saturated is 'Stretches, from 0, with more grams than are kept: every search looks into them.';
comment on column llm_search_calls.directory is 'Where in grams each of 256 parts begins, by the first byte of a gram; and the end.';
comment on column llm_search_calls.grams is 'Hashes of the grams with the stretches that they stand in; src/control/search/segment.ts.';

create table llm_search_texts (like llm_search_calls including identity including constraints including indexes including storage including comments);
comment on table llm_search_texts is 'As llm_search_calls, over llm_texts.';

alter table llm_texts add column ingest_xid xid8 not null default pg_current_xact_id();
create index on llm_texts (ingest_xid, id);
comment on column llm_texts.ingest_xid is 'Transaction that inserted the row: the search is indexed in this order.';

create table llm_search_state (
  source text primary key,
  xid xid8 not null,
  id uuid not null
);
comment on table llm_search_state is 'How far the search index came in the order in which calls are stored.';
comment on column llm_search_state.source is 'calls or texts.';
comment on column llm_search_state.xid is 'ingest_xid of the last call that was indexed.';
comment on column llm_search_state.id is 'Id of that call.';

create table llm_search_days (
  source text not null,
  day date not null,
  before uuid not null,
  primary key (source, day)
);
comment on table llm_search_days is 'Days with calls of before the index that are not indexed yet.';
comment on column llm_search_days.source is 'As in llm_search_state.';
comment on column llm_search_days.day is 'The day (UTC).';
comment on column llm_search_days.before is 'Calls with this id or a greater one are indexed.';
