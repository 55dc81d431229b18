-- compatible with: 0.1.0
-- What each proxy process has spent of budgets, until the ledger of its node has taken it in.
create table budget_process_spend (
  process text not null,
  account_id int4 not null,
  budget_id int4 not null,
  value text not null,
  period_start timestamptz(3) not null,
  spent numeric(24,12) not null,
  updated_at timestamptz(3) not null default now(),
  primary key (process, account_id, budget_id, value, period_start)
) with (fillfactor = 80);
comment on table budget_process_spend is 'Sums of the stored calls of proxy processes whose node has not taken them in yet: a process spends in its memory, and when it has ended these say what it has spent.';
comment on column budget_process_spend.process is 'The name of its directory in the spool.';
comment on column budget_process_spend.account_id is 'Owner.';
comment on column budget_process_spend.budget_id is 'The budget; 0: that which a run''s first call has set for the run.';
comment on column budget_process_spend.value is 'The run, key, owner or metadata value; empty for the account.';
comment on column budget_process_spend.period_start is 'When the period began; 1970 for budgets without periods.';
comment on column budget_process_spend.spent is 'USD.';
comment on column budget_process_spend.updated_at is 'When the last call was added.';

create index on budget_process_spend (updated_at);
