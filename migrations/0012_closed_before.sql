-- compatible with: 0.1.0
-- Clients that went before they had their answer, told apart. A node of the former release writes null for its calls, and
-- then counts none of them either; so do rows of before.

alter table llm_requests add column closed_before text;
comment on column llm_requests.closed_before is 'Of client_closed: what had not come when the client went, head, first_byte or end; null else, and for calls of releases before 0.3.';

alter table llm_runs add column client_closed_calls int8 not null default 0;
comment on column llm_runs.client_closed_calls is 'Calls with closed_before: their clients went before they had their answer.';

alter table llm_cost_hourly add column client_closed_calls int8 not null default 0;
comment on column llm_cost_hourly.client_closed_calls is 'Calls with closed_before: their clients went before they had their answer.';
