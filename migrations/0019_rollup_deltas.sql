-- compatible with: 0.1.0
-- Roll-ups that many shippers feed at once: a batch only inserts what it adds, and one node folds that into the hours.
-- Former releases still write the hours themselves, which is as good; what is not folded yet they do not see.

create table llm_cost_deltas (like llm_cost_hourly including comments);
comment on table llm_cost_deltas is 'What batches and jobs add to llm_cost_hourly or take from it, not folded into it yet. llm_cost_hours is both together.';

create table llm_metadata_deltas (like llm_metadata_hourly including comments);
comment on table llm_metadata_deltas is 'What batches add to llm_metadata_hourly or take from it, not folded into it yet. llm_metadata_hours is both together.';

-- Rows live for seconds: what they leave is cleared away soon, and no question waits for the tables to be cut.
alter table llm_cost_deltas set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 20000, vacuum_truncate = false);
alter table llm_metadata_deltas set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 20000, vacuum_truncate = false);

comment on column llm_cost_deltas.calls is 'Number of calls; below 0 when more are taken back than added.';
comment on column llm_metadata_deltas.calls is 'Number of calls; below 0 when more are taken back than added.';

create view llm_cost_hours as table llm_cost_hourly union all table llm_cost_deltas;
comment on view llm_cost_hours is 'The roll-up of costs with what is not folded into it yet. A group may have several rows: sum them, and leave out groups whose calls come to 0.';

create view llm_metadata_hours as table llm_metadata_hourly union all table llm_metadata_deltas;
comment on view llm_metadata_hours is 'The counts of metadata keys with what is not folded into them yet. A key of an hour may have several rows: sum them.';

create or replace view reporting.costs_hourly as
select account_id, hour, provider, model, key_id, sum(calls)::int8 as calls, sum(errors)::int8 as errors,
  sum(client_closed_calls)::int8 as client_closed_calls, sum(unpriced_calls)::int8 as unpriced_calls,
  sum(total_cost)::numeric(36,12) as total_cost, sum(input_tokens)::int8 as input_tokens,
  sum(cache_read_input_tokens)::int8 as cache_read_input_tokens,
  sum(cache_creation_input_tokens)::int8 as cache_creation_input_tokens, sum(output_tokens)::int8 as output_tokens,
  sum(reasoning_tokens)::int8 as reasoning_tokens
from llm_cost_hours where facet = '' group by account_id, hour, provider, model, key_id having sum(calls) > 0;
