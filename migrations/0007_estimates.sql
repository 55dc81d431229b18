-- Estimates for calls whose usage nobody reported: which calls wait for one.

-- Few calls are in it, and each leaves it once it was looked at, so it costs the others nothing.
create index llm_requests_to_estimate on llm_requests (requested_at)
  where estimated_tokens is null and usage_source in ('none', 'partial')
    and cost_status in ('no_usage', 'partial', 'unpriced') and endpoint <> 'unknown'
    and outcome in ('ok', 'client_closed', 'upstream_truncated', 'upstream_stream_error', 'shutdown_cut', 'interrupted');

comment on column llm_requests.estimated_tokens is
  'Tokens that were counted in the bodies because they were not reported, and how ({"input", "output", "method", ...}), or why there is no count ({"unavailable"}). In no other column and no roll-up.';
comment on column llm_requests.estimated_cost is
  'US dollars for the whole call by what was reported and estimated_tokens; an estimate, in no sum. Null when there is no estimate or no price.';
