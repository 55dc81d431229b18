-- compatible with: 0.1.0
-- Rules that stop a run or key that runs away, and what they have hit.
create table brake_rules (
  account_id int4 not null references accounts on delete cascade,
  rule text not null,
  scope text not null check (scope in ('run', 'key')),
  action text not null check (action in ('off', 'alarm', 'pause')),
  settings jsonb not null default '{}',
  changed_at timestamptz(3) not null default now(),
  changed_by text not null,
  primary key (account_id, rule, scope)
);
comment on table brake_rules is 'Brake rules that are not as they come. A rule without a row has its defaults.';
comment on column brake_rules.account_id is 'Owner.';
comment on column brake_rules.rule is 'What it looks at: spend_speed, call_rate, same_prefix, same_tool_call, cache_collapse, retries or unpriced.';
comment on column brake_rules.scope is 'Whose calls are taken together: those of a run, or of a key.';
comment on column brake_rules.action is 'What happens when it is true: nothing, an alarm, or an alarm and a pause.';
comment on column brake_rules.settings is 'Its thresholds, by name; what is missing has its default.';
comment on column brake_rules.changed_at is 'When it was last changed.';
comment on column brake_rules.changed_by is 'Who changed it.';

create table brake_hits (
  account_id int4 not null references accounts on delete cascade,
  id int8 generated always as identity,
  rule text not null,
  scope text not null check (scope in ('run', 'key')),
  value text not null,
  action text not null check (action in ('alarm', 'pause')),
  reason text not null,
  numbers jsonb not null default '{}',
  call_id uuid,
  hit_at timestamptz(3) not null default now(),
  hit_by text,
  resumed_at timestamptz(3),
  resumed_by text,
  primary key (account_id, id)
);
comment on table brake_hits is 'What the brakes have hit, and pauses by hand. Kept 400 days; a pause that is in force is kept.';
comment on column brake_hits.account_id is 'Owner.';
comment on column brake_hits.id is 'Number of the hit, by which a pause is resumed.';
comment on column brake_hits.rule is 'The rule that was true, or by_hand.';
comment on column brake_hits.scope is 'Whether a run or a key was hit.';
comment on column brake_hits.value is 'The trace id, or the number of the key.';
comment on column brake_hits.action is 'Whether it was paused, or only an alarm raised.';
comment on column brake_hits.reason is 'Why, for people; refused calls are told it.';
comment on column brake_hits.numbers is 'What was measured, and the thresholds of then.';
comment on column brake_hits.call_id is 'The call that made the rule true; null for pauses by hand.';
comment on column brake_hits.hit_at is 'When it was found.';
comment on column brake_hits.hit_by is 'Who paused it by hand; null for rules.';
comment on column brake_hits.resumed_at is 'When a pause was ended; null while it is in force, and for alarms.';
comment on column brake_hits.resumed_by is 'Who ended it.';

create index on brake_hits (account_id, scope, value, id);
create unique index brake_pauses on brake_hits (account_id, scope, value) where action = 'pause' and resumed_at is null;
