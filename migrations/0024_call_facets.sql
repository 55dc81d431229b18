-- compatible with: 0.1.0
-- Sums and distributions of the calls of an hour by one dimension at a time, for the strip above the log and for groups.
-- Calls that a node of a former release stores are counted a minute later, when their hour is found to be wrong.

create table llm_facet_hourly (
  account_id int4 not null,
  facet text not null,
  hour timestamptz(0) not null,
  value text not null,
  in_run bool not null,
  calls int8 not null,
  errors int8 not null,
  client_closed_calls int8 not null,
  unpriced_calls int8 not null,
  total_cost numeric(36,12) not null,
  input_tokens int8 not null,
  cache_read_input_tokens int8 not null,
  cache_creation_input_tokens int8 not null,
  output_tokens int8 not null,
  reasoning_tokens int8 not null,
  durations bytea not null,
  first_tokens bytea not null,
  speeds bytea not null,
  primary key (account_id, facet, hour, value, in_run)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
comment on table llm_facet_hourly is 'Roll-up of the calls by hour and by one column or metadata key at a time. With llm_facet_deltas it is equal to the aggregate over llm_requests, but for the facets of llm_wide_facets and for hours before llm_facet_fill.';
comment on column llm_facet_hourly.account_id is 'Owner.';
comment on column llm_facet_hourly.facet is 'Empty for all calls; a column of llm_requests; no.<column> for the calls where it is null; metadata.<key in lower case>, promoted or not. Each has the same calls again.';
comment on column llm_facet_hourly.hour is 'Start of the hour (UTC) of requested_at.';
comment on column llm_facet_hourly.value is 'Value of the column or key, its first 200 characters; empty where the facet has no values.';
comment on column llm_facet_hourly.in_run is 'Whether the calls have a trace id.';
comment on column llm_facet_hourly.calls is 'Number of calls; never 0.';
comment on column llm_facet_hourly.errors is 'Calls whose outcome is neither ok nor client_closed.';
comment on column llm_facet_hourly.client_closed_calls is 'Calls with closed_before: their clients went before they had their answer.';
comment on column llm_facet_hourly.unpriced_calls is 'Calls without a total cost: while there are any, total_cost means "at least".';
comment on column llm_facet_hourly.total_cost is 'Sum of total_cost, or of known_cost where a call has no total.';
comment on column llm_facet_hourly.input_tokens is 'Sum over the calls; what was not reported adds nothing.';
comment on column llm_facet_hourly.cache_read_input_tokens is 'Sum over the calls.';
comment on column llm_facet_hourly.cache_creation_input_tokens is 'Sum over the calls.';
comment on column llm_facet_hourly.output_tokens is 'Sum over the calls.';
comment on column llm_facet_hourly.reasoning_tokens is 'Sum over the calls.';
comment on column llm_facet_hourly.durations is 'Distribution of duration_ms: counts by bucket, each bucket 2 % wide, packed by src/control/log/distribution.ts.';
comment on column llm_facet_hourly.first_tokens is 'Distribution of first_token_ms.';
comment on column llm_facet_hourly.speeds is 'Distribution of output tokens by second of duration_ms, in thousandths.';

create table llm_facet_deltas (like llm_facet_hourly including comments);
alter table llm_facet_deltas set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 20000, vacuum_truncate = false);
comment on table llm_facet_deltas is 'What batches and jobs add to llm_facet_hourly or take from it, not folded into it yet.';
comment on column llm_facet_deltas.calls is 'Number of calls; below 0 when more are taken back than added.';

create view llm_facet_hours as table llm_facet_hourly union all table llm_facet_deltas;
comment on view llm_facet_hours is 'The sums of llm_facet_hourly with what is not folded into it yet: several rows may be of one group.';

create table llm_wide_facets (
  account_id int4 not null,
  facet text not null,
  found_at timestamptz(3) not null default now(),
  primary key (account_id, facet)
);
comment on table llm_wide_facets is 'Facets without rows in llm_facet_hourly, since they have too many values: questions about them read calls.';
comment on column llm_wide_facets.account_id is 'Owner.';
comment on column llm_wide_facets.facet is 'As in llm_facet_hourly; "metadata." alone for all metadata keys, when there were too many keys.';
comment on column llm_wide_facets.found_at is 'When it was found.';

create table llm_facet_fill (
  account_id int4 primary key,
  filled_from timestamptz(0) not null
);
comment on table llm_facet_fill is 'How far the calls of before the upgrade are in llm_facet_hourly: the newest hours first. An account without a row has all.';
comment on column llm_facet_fill.account_id is 'Owner.';
comment on column llm_facet_fill.filled_from is 'Hours from this one on are whole.';

insert into llm_facet_fill (account_id, filled_from)
select id, 'infinity' from accounts where exists (select from llm_requests);
