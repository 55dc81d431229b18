-- compatible with: 0.1.0
-- The log for people who write SQL: views that stay as they are when the tables behind them change, for a role that may
-- read them and nothing else (docs/sql.md). A migration that changes a column which a view has must make the view anew.

create schema reporting;
comment on schema reporting is 'The log as views, for reports in SQL. Their columns are a contract; the tables behind them are not.';

create function reporting.lower_keys(raw jsonb) returns jsonb
  language sql immutable strict parallel safe
return (
  select coalesce(jsonb_object_agg(key, value), '{}')
  from (
    select lower(key collate "C") as key, string_agg(value, ', ' order by key collate "C") as value
    from jsonb_each_text(raw) group by 1
  ) joined
);
comment on function reporting.lower_keys is
  'Metadata under lower-cased keys: header names have no case. Several spellings of a key are joined with ", ".';

create view reporting.calls as
select c.id, c.requested_at, c.responded_at, c.duration_ms, c.first_token_ms, c.account_id, c.key_id, k.name as key_name,
  c.node, c.client, c.provider, c.provider_alias, c.endpoint, c.model, c.model_requested, c.streamed, c.service_tier,
  c.region, c.is_batch, c.attempt, c.status, c.outcome, c.closed_before, c.error_type, c.error_message, c.flags, c.trace_id,
  c.span_key as span_path, c.span_name, reporting.lower_keys(c.raw_metadata) as metadata,
  c.input_tokens, c.cache_read_input_tokens, c.cache_creation_input_tokens, c.output_tokens, c.reasoning_tokens,
  c.input_cost, c.cache_read_cost, c.cache_creation_cost, c.output_cost, c.other_cost, c.total_cost, c.known_cost,
  c.cost_status, c.estimated_cost, c.request_bytes, c.response_bytes
from llm_requests c left join gateway_keys k on k.id = c.key_id;
comment on view reporting.calls is 'One row per call that has ended.';
comment on column reporting.calls.id is 'As in the API and on the Logs page.';
comment on column reporting.calls.requested_at is 'When the call arrived. Give a range of it in every question: the log is partitioned by it.';
comment on column reporting.calls.key_name is 'Name of the gateway key that was used.';
comment on column reporting.calls.span_path is 'The step: names encoded and joined with "/", so that two spellings of a step are one; null without.';
comment on column reporting.calls.closed_before is 'Of client_closed: what had not come when the client went, head, first_byte or end.';
comment on column reporting.calls.metadata is 'Every other X-Gateway header, under its lower-cased name: metadata ->> ''feature''.';
comment on column reporting.calls.total_cost is 'US dollars; null when it is not wholly known. Never read null as zero.';
comment on column reporting.calls.known_cost is 'US dollars: what is certain of a cost that is not wholly known.';
comment on column reporting.calls.cost_status is 'exact, partial, unpriced, no_usage or not_billed.';
comment on column reporting.calls.estimated_cost is 'US dollars: an estimate where usage was not reported. In no sum of costs.';

create view reporting.runs as
select account_id, trace_id, calls, errors, client_closed_calls, unpriced_calls, total_cost, input_tokens,
  cache_read_input_tokens, cache_creation_input_tokens, output_tokens, reasoning_tokens, started_at, ended_at, cut_at
from llm_runs;
comment on view reporting.runs is 'One row per run: the sums over the calls that share a trace id.';
comment on column reporting.runs.unpriced_calls is 'Calls whose cost is not wholly known: while there are any, total_cost means "at least".';
comment on column reporting.runs.cut_at is 'When retention last dropped calls of the run; null if never.';

create view reporting.costs_hourly as
select account_id, hour, provider, model, key_id, calls, errors, client_closed_calls, unpriced_calls, total_cost, input_tokens,
  cache_read_input_tokens, cache_creation_input_tokens, output_tokens, reasoning_tokens
from llm_cost_hourly where facet = '';
comment on view reporting.costs_hourly is 'Sums over the calls by hour (UTC), provider, model and key: quick for months.';

create view reporting.keys as
select id, account_id, name, created_at, last_used_at, revoked_at, expires_at from gateway_keys;
comment on view reporting.keys is 'The gateway keys, without anything that would open the proxy.';
