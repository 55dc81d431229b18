-- Retention: days of the log are dropped whole, and the roll-ups say what they have lost.

alter table llm_runs
  add column cut_at timestamptz(3),
  add column cut_totals jsonb,
  add column is_history bool not null default false;
comment on table llm_runs is 'Roll-up of all calls of one account with one trace id. Equal to the aggregate over llm_requests, unless is_history.';
comment on column llm_runs.cut_at is 'When retention last dropped calls of the run; null when it never did.';
comment on column llm_runs.cut_totals is 'Sums of the calls that retention dropped, by the names of the columns here; with the calls that are left they make the former totals. total_cost is a string: exact.';
comment on column llm_runs.is_history is 'No call of the run is left: the row shows its former totals and no record stands behind it. A late call makes it false.';

alter table llm_run_facets add column is_history bool not null default false;
comment on column llm_run_facets.is_history is 'As in llm_runs: no call of the run with this value is left, and calls is what it was.';
