-- Costs by hour: a roll-up, so that a question about months does not read every call.

create table llm_cost_hourly (
  account_id int4 not null,
  facet text not null,
  hour timestamptz(0) not null,
  value text not null,
  provider text not null,
  model text,
  key_id int4 not null,
  calls int8 not null,
  errors int8 not null,
  unpriced_calls int8 not null,
  total_cost numeric(24,12) not null,
  input_tokens int8 not null,
  cache_read_input_tokens int8 not null,
  cache_creation_input_tokens int8 not null,
  output_tokens int8 not null,
  reasoning_tokens int8 not null,
  unique nulls not distinct (account_id, facet, hour, value, provider, model, key_id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
comment on table llm_cost_hourly is 'Roll-up of the calls by hour, provider, model and key, and once more for each promoted metadata key. Always equal to the aggregate over llm_requests: a day that retention drops leaves no row.';
comment on column llm_cost_hourly.account_id is 'Owner.';
comment on column llm_cost_hourly.facet is 'Empty for all calls; metadata.<Key> for the calls that have this promoted key, which are the same calls again.';
comment on column llm_cost_hourly.hour is 'Start of the hour (UTC) of requested_at.';
comment on column llm_cost_hourly.value is 'Value of the key, its first 200 characters; empty for all calls.';
comment on column llm_cost_hourly.provider is 'Provider that the calls were for.';
comment on column llm_cost_hourly.model is 'Model that served the calls, else the one that was requested, its first 200 characters; null when neither is known.';
comment on column llm_cost_hourly.key_id is 'The gateway key that was used.';
comment on column llm_cost_hourly.calls is 'Number of calls; never 0.';
comment on column llm_cost_hourly.errors is 'Calls whose outcome is neither ok nor client_closed.';
comment on column llm_cost_hourly.unpriced_calls is 'Calls without a total cost: while there are any, total_cost means "at least".';
comment on column llm_cost_hourly.total_cost is 'Sum of total_cost, or of known_cost where a call has no total.';
comment on column llm_cost_hourly.input_tokens is 'Sum over the calls; what was not reported adds nothing.';
comment on column llm_cost_hourly.cache_read_input_tokens is 'Sum over the calls.';
comment on column llm_cost_hourly.cache_creation_input_tokens is 'Sum over the calls.';
comment on column llm_cost_hourly.output_tokens is 'Sum over the calls.';
comment on column llm_cost_hourly.reasoning_tokens is 'Sum over the calls.';

-- The calls that are there already. Who inserts others waits until the new shipper can count them.
lock table llm_requests in share row exclusive mode;
insert into llm_cost_hourly
select account_id, facets.facet, date_trunc('hour', requested_at, 'UTC'), facets.value, provider,
  left(coalesce(model, model_requested), 200), key_id, count(*),
  count(*) filter (where outcome not in ('ok', 'client_closed')), count(*) filter (where total_cost is null),
  coalesce(sum(coalesce(total_cost, known_cost)), 0),
  coalesce(sum(input_tokens), 0), coalesce(sum(cache_read_input_tokens), 0),
  coalesce(sum(cache_creation_input_tokens), 0), coalesce(sum(output_tokens), 0), coalesce(sum(reasoning_tokens), 0)
from llm_requests, lateral (
  select '' as facet, '' as value
  union all
  select 'metadata.' || m.key, left(m.value, 200) from jsonb_each_text(indexed_metadata) m
  where m.value is not null and length(m.key) <= 200
) facets
group by 1, 2, 3, 4, 5, 6, 7;
