-- compatible with: 0.1.0
-- Whose name it is: of two gateways with one name only the one that came first spends of hard budgets.
alter table budget_nodes add column id uuid;
comment on column budget_nodes.id is 'nodes.id of the gateway that spends under this name; null when an older release has joined.';
