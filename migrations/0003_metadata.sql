-- Metadata keys: their value in a call, which of them are promoted, how often each is sent; and long work as jobs.

create function metadata_value(raw jsonb, key text) returns text
  language plpgsql immutable strict parallel safe
as $$
declare
  wanted constant text := lower(key collate "C");
  found text;
  spelling text;
begin
  -- Most calls lack most keys: a look at the text tells so at a quarter of the cost of reading the keys.
  if strpos(lower(raw::text collate "C"), lower(to_jsonb(key)::text collate "C")) = 0 then
    return null;
  end if;
  -- Keys of one length come in the order of their bytes, which is the order of the spellings.
  for spelling in select k from jsonb_object_keys(raw) k loop
    if lower(spelling collate "C") = wanted then
      found := concat(found || ', ', raw ->> spelling);
    end if;
  end loop;
  return found;
end
$$;
comment on function metadata_value is
  'Value of a metadata key in a call, whatever case it came in; several spellings are joined with ", ". Null when the call lacks it.';

create table jobs (
  id int8 generated always as identity primary key,
  account_id int4 not null references accounts,
  kind text not null,
  subject text,
  title text not null,
  input jsonb not null,
  cursor jsonb,
  phase text not null,
  done int8 not null default 0,
  total int8,
  unit text not null,
  rate_per_second float8,
  state text not null default 'queued' check (state in ('queued', 'running', 'cancelled', 'done', 'failed')),
  failures int4 not null default 0,
  error text,
  result jsonb,
  created_at timestamptz(3) not null default now(),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  heartbeat_at timestamptz(3) not null default now()
) with (fillfactor = 50);
comment on table jobs is 'Long work, done in chunks: each is one transaction that also stores here how far it came.';
comment on column jobs.id is 'Number of the job.';
comment on column jobs.account_id is 'Whose records it works on.';
comment on column jobs.kind is 'What is done, e.g. promote_metadata.';
comment on column jobs.subject is 'What it is done to: of one subject one job at a time is under way. Null when any number may be.';
comment on column jobs.title is 'The same for people.';
comment on column jobs.input is 'What was asked for; does not change.';
comment on column jobs.cursor is 'Where the next chunk begins; null before the first.';
comment on column jobs.phase is 'What it is doing, in words.';
comment on column jobs.done is 'Units done.';
comment on column jobs.total is 'Units in all; null when nobody knows.';
comment on column jobs.unit is 'What is counted, e.g. rows.';
comment on column jobs.rate_per_second is 'Units a second lately; null until that is known.';
comment on column jobs.state is 'queued, running, cancelled, done or failed.';
comment on column jobs.failures is 'Chunks that failed one after another.';
comment on column jobs.error is 'Why it failed, or what it waits for; null while all is well.';
comment on column jobs.result is 'What came out; null until it is done.';
comment on column jobs.created_at is 'When it was asked for.';
comment on column jobs.started_at is 'When its first chunk was done.';
comment on column jobs.finished_at is 'When it ended; null while it is under way.';
comment on column jobs.heartbeat_at is 'Its latest sign of life.';

create unique index on jobs (account_id, subject) where state in ('queued', 'running');
create index on jobs (account_id, subject, id);

create table metadata_keys (
  account_id int4 not null references accounts,
  key_lower text not null check (key_lower = lower(key_lower collate "C")),
  display_key text not null check (lower(display_key collate "C") = key_lower),
  state text not null check (state in ('promoting', 'promoted', 'demoting')),
  promoted_at timestamptz(3),
  job_id int8 references jobs,
  primary key (account_id, key_lower)
);
comment on table metadata_keys is
  'Promoted metadata keys, and those on their way. While a key is promoting or promoted, new calls have it in indexed_metadata; once it is promoted, all have.';
comment on column metadata_keys.account_id is 'Owner.';
comment on column metadata_keys.key_lower is 'The key in lower case: keys have no case.';
comment on column metadata_keys.display_key is 'The spelling under which it stands in indexed_metadata.';
comment on column metadata_keys.state is 'promoting, promoted or demoting. Only a promoted key may be looked up in indexed_metadata.';
comment on column metadata_keys.promoted_at is 'When the last call had it; null before.';
comment on column metadata_keys.job_id is 'The job that promotes or demotes it, or did so last.';

create table llm_metadata_hourly (
  account_id int4 not null,
  hour timestamptz(3) not null,
  key text not null,
  calls int8 not null,
  primary key (account_id, hour, key)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
comment on table llm_metadata_hourly is
  'How many calls of an hour have a metadata key. Equal to the count over llm_requests, except in hours with more than 2,000 keys, of which the rest is not counted.';
comment on column llm_metadata_hourly.account_id is 'Owner.';
comment on column llm_metadata_hourly.hour is 'Beginning of the hour (UTC) of requested_at.';
comment on column llm_metadata_hourly.key is 'Key as received, at most 200 bytes (longer ones are not counted); empty for all calls of the hour.';
comment on column llm_metadata_hourly.calls is 'Number of calls.';

insert into llm_metadata_hourly (account_id, hour, key, calls)
select account_id, hour, key, calls
from (
  select account_id, hour, key, count(*) as calls,
    row_number() over (partition by account_id, hour order by (key <> ''), key) as place
  from (
    select r.account_id, date_trunc('hour', r.requested_at, 'UTC') as hour, k.key
    from llm_requests r cross join lateral (select '' union select jsonb_object_keys(r.raw_metadata)) k (key)
    where octet_length(k.key) <= 200
  ) sent
  group by account_id, hour, key
) counted
where place <= 2000;

comment on column llm_run_facets.facet is 'model, provider, key, or metadata.<Key> of a promoted key.';
comment on column llm_run_facets.value is 'Model (served, else requested), provider, key id, or the first 200 characters of the metadata value.';
comment on column llm_requests.indexed_metadata is
  'The promoted keys under their display spelling, with metadata_value() of raw_metadata; filters and grouping read this.';
