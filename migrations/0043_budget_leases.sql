-- compatible with: 0.1.0
-- How nodes share budgets: each holds a part of the money of a scope, and together never more than all of it.
create table budget_nodes (
  node text primary key,
  state text not null check (state in ('sole', 'joining', 'sharing')),
  joined_at timestamptz(3) not null default now()
);
comment on table budget_nodes is 'The nodes with proxies that may spend of budgets.';
comment on column budget_nodes.node is 'Name of the node.';
comment on column budget_nodes.state is 'sole: it holds all of every budget; joining: it waits until the sole node shares; sharing: it holds what its leases say.';
comment on column budget_nodes.joined_at is 'When it began to take part.';

create table budget_leases (
  account_id int4 not null,
  budget_id int4 not null,
  value text not null,
  period_start timestamptz(3) not null,
  node text not null,
  held numeric(24,12) not null,
  wanted_at timestamptz(3),
  updated_at timestamptz(3) not null default now(),
  primary key (account_id, budget_id, value, period_start, node)
) with (fillfactor = 80);
comment on table budget_leases is 'What each node may spend of a budget for one value in one period, what it has spent included. The sum over the nodes is never more than the budget.';
comment on column budget_leases.account_id is 'Owner.';
comment on column budget_leases.budget_id is 'The budget; 0: that which a run''s first call has set for the run.';
comment on column budget_leases.value is 'The run, key, owner or metadata value; empty for the account.';
comment on column budget_leases.period_start is 'When the period began; 1970 for budgets without periods.';
comment on column budget_leases.node is 'The node that holds it; it may have left since, and has spent it then.';
comment on column budget_leases.held is 'USD.';
comment on column budget_leases.wanted_at is 'When another node asked last for what is not used of it; null when none did.';
comment on column budget_leases.updated_at is 'When it was changed last.';

create index on budget_leases (node, wanted_at) where wanted_at is not null;
create index on budget_leases (updated_at);
