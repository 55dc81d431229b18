-- compatible with: 0.1.0
-- Which agent of which session made a call, as known clients say it, and where a call's run comes from. A node of a former
-- release writes null for its calls, and so do rows of before.

alter table llm_requests
  add column agent text,
  add column agent_session text,
  add column agent_path text,
  add column agent_turn text,
  add column trace_source text;
comment on column llm_requests.agent is 'Agent that made the call, of a client that tells: main, or the id of a sub-agent.';
comment on column llm_requests.agent_session is 'Session by the client''s own id, which is the same after it was resumed; null where the client tells none.';
comment on column llm_requests.agent_path is 'Agents from main down to agent, joined by /.';
comment on column llm_requests.agent_turn is 'Turn: what began with a person''s last message, by the client''s own id; null where the client tells none.';
comment on column llm_requests.trace_source is 'Where trace_id comes from: header, run_token, or the source in the key''s runs_from; null outside runs, and for calls of releases before 0.3.';

alter table gateway_keys add column runs_from text[] not null default '{}';
comment on column gateway_keys.runs_from is 'Where runs come from besides X-Gateway-Trace-Id, in this order: agents, traceparent, metadata.session_id, ...; empty: from nowhere else.';

create function agent_terms(agent text, agent_session text, agent_path text, agent_turn text, trace_source text)
  returns int4[] language sql immutable parallel safe
return array_remove(array[
  hashtext('agent=' || agent), hashtext('agent_session=' || agent_session), hashtext('agent_path=' || agent_path),
  hashtext('agent_turn=' || agent_turn), hashtext('trace_source=' || nullif(trace_source, 'header'))
], null);
comment on function agent_terms is
  'Hashes of the values that the calls of agents are found by, as call_terms() has those of all calls.';

-- An index of its own: call_terms() could have these columns only with an index that is made anew on all days. Most calls are
-- not in it.
create index llm_requests_agents on only llm_requests using gin (
  agent_terms(agent, agent_session, agent_path, agent_turn, trace_source)
) where agent_session is not null or trace_source <> 'header';

-- At the end, where a view can gain columns and stay the same.
create or replace view reporting.calls as
select c.id, c.requested_at, c.responded_at, c.duration_ms, c.first_token_ms, c.account_id, c.key_id, k.name as key_name,
  c.node, c.client, c.provider, c.provider_alias, c.endpoint, c.model, c.model_requested, c.streamed, c.service_tier,
  c.region, c.is_batch, c.attempt, c.status, c.outcome, c.closed_before, c.error_type, c.error_message, c.flags, c.trace_id,
  c.span_key as span_path, c.span_name, reporting.lower_keys(c.raw_metadata) as metadata,
  c.input_tokens, c.cache_read_input_tokens, c.cache_creation_input_tokens, c.output_tokens, c.reasoning_tokens,
  c.input_cost, c.cache_read_cost, c.cache_creation_cost, c.output_cost, c.other_cost, c.total_cost, c.known_cost,
  c.cost_status, c.estimated_cost, c.request_bytes, c.response_bytes, c.client_address,
  c.agent, c.agent_session, c.agent_path, c.agent_turn, c.trace_source
from llm_requests c left join gateway_keys k on k.id = c.key_id;
comment on column reporting.calls.agent is 'Agent that made the call: main, or the id of a sub-agent.';
comment on column reporting.calls.agent_session is 'Session by the client''s own id.';
comment on column reporting.calls.agent_path is 'Agents from main down to agent, joined by /.';
comment on column reporting.calls.agent_turn is 'Turn by the client''s own id.';
comment on column reporting.calls.trace_source is 'Where trace_id comes from: header, run_token, or a source of the key''s runs_from.';
