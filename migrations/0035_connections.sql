-- compatible with: 0.1.0
-- Which websocket a call belongs to. A node of a former release writes null: its connections are one row each.

alter table llm_requests add column connection_id uuid;
comment on column llm_requests.connection_id is 'The row of the websocket that the call is a turn of; that row''s own id in itself, and null in all other calls.';

-- On days that begin from now on, like llm_requests_terms: no call of before has one. Few calls are in it.
create index llm_requests_connections on only llm_requests (connection_id) where connection_id is not null;

-- At the end, where a view can gain columns and stay the same.
create or replace view reporting.calls as
select c.id, c.requested_at, c.responded_at, c.duration_ms, c.first_token_ms, c.account_id, c.key_id, k.name as key_name,
  c.node, c.client, c.provider, c.provider_alias, c.endpoint, c.model, c.model_requested, c.streamed, c.service_tier,
  c.region, c.is_batch, c.attempt, c.status, c.outcome, c.closed_before, c.error_type, c.error_message, c.flags, c.trace_id,
  c.span_key as span_path, c.span_name, reporting.lower_keys(c.raw_metadata) as metadata,
  c.input_tokens, c.cache_read_input_tokens, c.cache_creation_input_tokens, c.output_tokens, c.reasoning_tokens,
  c.input_cost, c.cache_read_cost, c.cache_creation_cost, c.output_cost, c.other_cost, c.total_cost, c.known_cost,
  c.cost_status, c.estimated_cost, c.request_bytes, c.response_bytes, c.client_address,
  c.agent, c.agent_session, c.agent_path, c.agent_turn, c.trace_source, c.connection_id
from llm_requests c left join gateway_keys k on k.id = c.key_id;
comment on column reporting.calls.connection_id is 'The row of the websocket that the call is a turn of, also in that row itself.';
