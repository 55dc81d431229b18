-- compatible with: 0.1.0
-- Budgets, and what was spent of them.
create table budgets (
  account_id int4 not null references accounts on delete cascade,
  id int4 generated always as identity unique,
  name text not null,
  scope text not null check (scope in ('run', 'key', 'account', 'owner', 'metadata')),
  metadata_key text check ((scope = 'metadata') = (metadata_key is not null)),
  value text,
  amount numeric(24,12) not null check (amount > 0),
  period text not null check (period in ('hour', 'day', 'week', 'month', 'once')),
  time_zone text not null default 'UTC',
  is_hard bool not null default true,
  when_unknown text not null default 'refuse' check (when_unknown in ('refuse', 'allow', 'hold')),
  held_when_unknown numeric(24,12) check ((when_unknown = 'hold') = (held_when_unknown is not null)),
  contact text,
  created_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  primary key (account_id, id)
);
comment on table budgets is 'What may be spent: by run, key, account, owner or value of a metadata key, in a period.';
comment on column budgets.account_id is 'Owner.';
comment on column budgets.id is 'Number of the budget, in all accounts.';
comment on column budgets.name is 'Display name, which clients see when it refuses a call.';
comment on column budgets.scope is 'What the money is counted for.';
comment on column budgets.metadata_key is 'For the scope metadata: the key, in any case; null for all others.';
comment on column budgets.value is 'The one run, key, owner or metadata value that it is for; null: each of them has the amount for itself.';
comment on column budgets.amount is 'USD that may be spent in each period.';
comment on column budgets.period is 'How often it begins anew; once: never.';
comment on column budgets.time_zone is 'IANA name of the zone in which its periods begin.';
comment on column budgets.is_hard is 'Whether calls beyond it are refused; else they are let through and marked.';
comment on column budgets.when_unknown is 'What becomes of a call of which nothing says how much it may cost: refused, let through, or a stated sum is held.';
comment on column budgets.held_when_unknown is 'USD held for such a call; null unless when_unknown is hold.';
comment on column budgets.contact is 'Whom clients are told to ask for more; null when it was not said.';
comment on column budgets.created_at is 'When it was made.';
comment on column budgets.deleted_at is 'When it was deleted; null while it is in force.';

create table budget_version (
  one bool primary key default true check (one),
  version int8 not null
);
comment on table budget_version is 'One row: counts the changes of budgets, so that nodes notice them.';
comment on column budget_version.one is 'Always true.';
comment on column budget_version.version is 'Raised by every change.';
insert into budget_version (version) values (0);

create table budget_spend (
  account_id int4 not null,
  budget_id int4 not null,
  value text not null,
  period_start timestamptz(3) not null,
  node text not null,
  spent numeric(24,12) not null,
  calls int8 not null,
  run_limit numeric(24,12),
  updated_at timestamptz(3) not null default now(),
  primary key (account_id, budget_id, value, period_start, node)
) with (fillfactor = 80);
comment on table budget_spend is 'What the stored calls have spent of each budget, by value, period and node. Written with the calls; calls that are priced again or removed later change nothing here.';
comment on column budget_spend.account_id is 'Owner.';
comment on column budget_spend.budget_id is 'The budget, which may be deleted since; 0: the budget that a run''s first call has set for the run.';
comment on column budget_spend.value is 'The run, key, owner or metadata value; empty for the account.';
comment on column budget_spend.period_start is 'When the period began; 1970 for budgets without periods.';
comment on column budget_spend.node is 'The node that took the calls.';
comment on column budget_spend.spent is 'USD: what the calls have cost, or what was held for those of which nobody knows.';
comment on column budget_spend.calls is 'Number of the calls.';
comment on column budget_spend.run_limit is 'For the budget 0: the least amount that a call of the run has set; null for all others.';
comment on column budget_spend.updated_at is 'When a call was added last.';

create index on budget_spend (updated_at);

alter table gateway_keys add column allow_run_budget bool not null default false;
comment on column gateway_keys.allow_run_budget is 'Whether its calls may set the budget of their run with X-Gateway-Budget-Usd.';
