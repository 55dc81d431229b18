-- compatible with: 0.1.0
-- Runs in the order of their measures, without reading all of them.
create index on llm_runs (account_id, calls, trace_id);
create index on llm_runs (account_id, errors, trace_id);
create index on llm_runs (account_id, output_tokens, trace_id);
create index on llm_runs (account_id, ((extract(epoch from ended_at - started_at) * 1000)::int8), trace_id);
