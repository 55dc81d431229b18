-- Results that a provider makes after the call that asked for them, and that can be fetched any number of times: a
-- background response, a batch. Their usage is counted by the first record that carries it.
create table llm_billed_results (
  account_id int4 not null,
  provider text not null,
  result_id text not null,
  request_id uuid not null,
  requested_at timestamptz(3) not null,
  primary key (account_id, provider, result_id)
);
create index llm_billed_results_requested_at on llm_billed_results (requested_at);
comment on table llm_billed_results is 'Which record counts the usage of a result that can be fetched more than once. Kept as long as the rows, and 90 days at least.';
comment on column llm_billed_results.account_id is 'Owner.';
comment on column llm_billed_results.provider is 'Provider that made the result.';
comment on column llm_billed_results.result_id is 'The provider''s id of the result, its first 512 characters.';
comment on column llm_billed_results.request_id is 'The row of llm_requests that counts it.';
comment on column llm_billed_results.requested_at is 'requested_at of that row.';
