-- compatible with: 0.1.0
-- The comments of llm_requests that said something else than the table of columns in control/store/log-columns.ts.
comment on column llm_requests.client_address is
  'IP address of the client, behind trusted proxies too; null when addresses are not kept.';
comment on column llm_requests.closed_before is
  'Of client_closed: what had not come when the client went: head, first_byte or end; null for all others.';
comment on column llm_requests.indexed_metadata is
  'The promoted keys under their display spelling; filters and grouping read this.';
comment on column llm_requests.input_tokens is
  'Uncached text input; sound, pictures and film stand in `usage`. Null when not reported.';
comment on column llm_requests.cache_creation_input_tokens is 'Input written to a cache, of all lifetimes.';
comment on column llm_requests.usage_source is
  'provider: complete and reported; partial: what was reported before the answer was cut; request: counted in the request, where the provider bills by it; none.';
comment on column llm_requests.estimated_tokens is
  'An estimate: tokens that were counted in the bodies because nobody reported them, and how, or why there is no count (unavailable); in no other column and no sum.';
comment on column llm_requests.estimated_cost is
  'An estimate: US dollars for the whole call by what was reported and estimated_tokens; in no sum. Null without one, or without a price.';
