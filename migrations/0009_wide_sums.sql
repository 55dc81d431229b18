-- Sums of costs are wider than a cost: a thousand calls whose usage is nonsense must not keep the next one out of the log.
-- More digits before the point and as many behind it: no row is written anew.

alter table llm_runs alter column total_cost type numeric(36,12);
alter table llm_cost_hourly alter column total_cost type numeric(36,12);
alter table reprice_days alter column old_cost type numeric(36,12), alter column new_cost type numeric(36,12);
