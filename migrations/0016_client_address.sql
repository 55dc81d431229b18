-- compatible with: 0.1.0
-- Where calls came from. A node of a former release writes null for its calls, and so do rows of before.

alter table llm_requests add column client_address text;
comment on column llm_requests.client_address is 'IP address of the client, as inet would write it: the other end of the connection, or what a trusted proxy said of it; null when addresses are not kept.';

-- At the end, where a view can gain a column and stay the same.
create or replace view reporting.calls as
select c.id, c.requested_at, c.responded_at, c.duration_ms, c.first_token_ms, c.account_id, c.key_id, k.name as key_name,
  c.node, c.client, c.provider, c.provider_alias, c.endpoint, c.model, c.model_requested, c.streamed, c.service_tier,
  c.region, c.is_batch, c.attempt, c.status, c.outcome, c.closed_before, c.error_type, c.error_message, c.flags, c.trace_id,
  c.span_key as span_path, c.span_name, reporting.lower_keys(c.raw_metadata) as metadata,
  c.input_tokens, c.cache_read_input_tokens, c.cache_creation_input_tokens, c.output_tokens, c.reasoning_tokens,
  c.input_cost, c.cache_read_cost, c.cache_creation_cost, c.output_cost, c.other_cost, c.total_cost, c.known_cost,
  c.cost_status, c.estimated_cost, c.request_bytes, c.response_bytes, c.client_address
from llm_requests c left join gateway_keys k on k.id = c.key_id;
comment on column reporting.calls.client_address is 'IP address of the client; client_address::inet <<= ''10.0.0.0/8'' asks for a range.';
