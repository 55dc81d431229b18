-- compatible with: 0.1.0
-- Numbers mean something else after a restore: what a browser session and the ledger of a node go by besides.
alter table people add column session_key uuid not null default gen_random_uuid();
comment on column people.session_key is 'A random value that the person''s sessions name beside the number; another one after a restore, so that all are over.';

alter table budget_version add column sums_id uuid not null default gen_random_uuid();
comment on column budget_version.sums_id is 'Which sums these are: another one in each database, and after each restore. A node that knows another one puts these sums in the place of its ledger''s.';
