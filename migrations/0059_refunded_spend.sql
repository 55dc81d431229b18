-- compatible with: 0.1.0
-- A fetched result takes off what was held for it, so that a lower sum of a process need not be a lost record. A node of a former
-- release leaves this 0.

alter table budget_process_spend add column refunded numeric(24,12) not null default 0;
comment on column budget_process_spend.refunded is 'USD that calls which fetched later results have taken off, since more was held for these; spent is without it.';
