-- compatible with: 0.1.0
-- The nodes that share this database, and the settings that they share: whatever deletes goes by these, and by the clock
-- of the database.

create table nodes (
  id uuid primary key,
  name text not null,
  host text not null,
  version text not null,
  run_id uuid not null,
  started_at timestamptz(3) not null,
  seen_at timestamptz(3) not null,
  stopped_at timestamptz(3),
  doubled_at timestamptz(3),
  clock_skew_ms int8 not null,
  clock_stepped_at timestamptz(3),
  clock_step_ms int8,
  records_waiting int8,
  open_calls int8,
  processes text[] not null,
  own_settings jsonb not null
) with (fillfactor = 50);
comment on table nodes is 'The nodes that use this database, each with its last sign of life. All times are by the clock of the database.';
comment on column nodes.id is 'Made at the first start and kept in the data directory: a name may be given twice.';
comment on column nodes.name is 'TOLLGATE_NODE, as in llm_requests.node.';
comment on column nodes.host is 'Name of the machine, or of the container.';
comment on column nodes.version is 'Release that it runs.';
comment on column nodes.run_id is 'Made at each start of its control process.';
comment on column nodes.started_at is 'When its control process had started.';
comment on column nodes.seen_at is 'Its last sign of life.';
comment on column nodes.stopped_at is 'When it stopped in order; null while it runs, and when it went without a word.';
comment on column nodes.doubled_at is 'When another gateway was last seen that gives itself the same id: a data directory was copied.';
comment on column nodes.clock_skew_ms is 'Its clock less that of the database.';
comment on column nodes.clock_stepped_at is 'When its clock last jumped while it ran; null when it never did.';
comment on column nodes.clock_step_ms is 'By how much it jumped then.';
comment on column nodes.records_waiting is 'Endings in its spool that were not stored yet; null when that was not known.';
comment on column nodes.open_calls is 'Calls that had not ended; null when that was not known.';
comment on column nodes.processes is 'Its spool directories: whose open calls are its own.';
comment on column nodes.own_settings is 'What it was started with, of the settings that all share.';

create table deployment_settings (
  name text primary key,
  value text not null,
  set_by text not null check (set_by in ('default', 'node', 'log', 'operator')),
  actor text not null,
  changed_at timestamptz(3) not null default now()
);
comment on table deployment_settings is 'Settings that act on what all nodes share, so that all have the same.';
comment on column deployment_settings.name is 'Name of the setting.';
comment on column deployment_settings.value is 'Value in force for all nodes.';
comment on column deployment_settings.set_by is 'default: nobody has said anything else; node: the setting of a node at its start; log: kept for what the log held already; operator: said for all nodes.';
comment on column deployment_settings.actor is 'Who that was.';
comment on column deployment_settings.changed_at is 'When.';

create table llm_closed_calls (
  id uuid primary key,
  process text not null,
  ordinal int8,
  closed_at timestamptz(3) not null default now()
);
comment on table llm_closed_calls is 'Calls of a node that was gone which were closed as interrupted by another: so that its spool, if it turns up, can account for them.';
comment on column llm_closed_calls.id is 'As in llm_requests.';
comment on column llm_closed_calls.process is 'As in llm_open_calls.';
comment on column llm_closed_calls.ordinal is 'Number of the call within its process; null when an older release wrote it.';
comment on column llm_closed_calls.closed_at is 'When it was closed.';

create index on llm_closed_calls (process);
