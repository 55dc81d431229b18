-- compatible with: 0.1.0
-- A budget may set aside what a call usually costs, instead of the most that it can cost.
alter table budgets add column reserves text not null default 'greatest' check (reserves in ('greatest', 'usual'));
comment on column budgets.reserves is 'What is set aside for a call: the most that it can cost, or what 99 of 100 calls of its key to its model do not exceed, where that is known.';
