-- compatible with: 0.1.0
-- Alerts: what somebody is told of, where to, and what became of it.
create table alert_destinations (
  account_id int4 not null references accounts on delete cascade,
  id int4 generated always as identity unique,
  name text not null,
  kind text not null check (kind in ('webhook', 'slack', 'email')),
  address text not null,
  secret text,
  created_at timestamptz(3) not null default now(),
  created_by text not null,
  primary key (account_id, id)
);
comment on table alert_destinations is 'Where alerts are sent to.';
comment on column alert_destinations.account_id is 'Owner.';
comment on column alert_destinations.id is 'Number of the destination, in all accounts.';
comment on column alert_destinations.name is 'Display name.';
comment on column alert_destinations.kind is 'How it is told: a signed webhook, an incoming webhook of Slack, or mail.';
comment on column alert_destinations.address is 'URL, or addresses of mail with commas. That of Slack is a secret by itself and never shown.';
comment on column alert_destinations.secret is 'What webhooks are signed with; null for the others. Never shown after it was made.';
comment on column alert_destinations.created_at is 'When it was made.';
comment on column alert_destinations.created_by is 'Who made it.';

create table alerts (
  account_id int4 not null references accounts on delete cascade,
  id int4 generated always as identity unique,
  name text not null,
  kind text not null check (kind in ('question', 'budget', 'brake', 'unpriced', 'nodes', 'jobs')),
  settings jsonb not null,
  destinations int4[] not null,
  is_on bool not null default true,
  problem text,
  checked_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  created_by text not null,
  primary key (account_id, id)
);
comment on table alerts is 'What somebody wants to be told of.';
comment on column alerts.account_id is 'Owner.';
comment on column alerts.id is 'Number of the alert, in all accounts.';
comment on column alerts.name is 'Display name.';
comment on column alerts.kind is 'What it looks at.';
comment on column alerts.settings is 'Its filters, measure, window and thresholds, by kind.';
comment on column alerts.destinations is 'Numbers of the destinations that are told.';
comment on column alerts.is_on is 'Whether it is looked at.';
comment on column alerts.problem is 'Why it could not be looked at the last time; null when it could.';
comment on column alerts.checked_at is 'When it was last looked at.';
comment on column alerts.created_at is 'When it was made; what was before is not told.';
comment on column alerts.created_by is 'Who made it.';

create table alert_events (
  account_id int4 not null,
  id uuid not null,
  alert_id int4 not null references alerts (id) on delete cascade,
  subject text not null,
  title text not null,
  body text not null,
  numbers jsonb not null default '{}',
  fired_at timestamptz(3) not null default now(),
  ended_at timestamptz(3),
  primary key (account_id, id)
);
comment on table alert_events is 'What alerts found. Kept 90 days.';
comment on column alert_events.account_id is 'Owner.';
comment on column alert_events.id is 'By which receivers know a repeated delivery.';
comment on column alert_events.alert_id is 'The alert.';
comment on column alert_events.subject is 'What it is about: the same is told once while it lasts.';
comment on column alert_events.title is 'One line.';
comment on column alert_events.body is 'What there is to know, for people.';
comment on column alert_events.numbers is 'What was measured.';
comment on column alert_events.fired_at is 'When it was found.';
comment on column alert_events.ended_at is 'When it was not true any more; null while it lasts, and for what happens once.';
create unique index alert_events_open on alert_events (account_id, alert_id, subject) where ended_at is null;
create index on alert_events (alert_id, fired_at);

create table alert_deliveries (
  account_id int4 not null,
  event_id uuid not null,
  destination_id int4 not null references alert_destinations (id) on delete cascade,
  state text not null check (state in ('waiting', 'sent', 'failed', 'dropped')),
  attempts int4 not null default 0,
  next_at timestamptz(3) not null default now(),
  sent_at timestamptz(3),
  status int4,
  error text,
  primary key (account_id, event_id, destination_id),
  foreign key (account_id, event_id) references alert_events on delete cascade
);
comment on table alert_deliveries is 'What was or is to be sent of an event, and to whom.';
comment on column alert_deliveries.account_id is 'Owner.';
comment on column alert_deliveries.event_id is 'The event.';
comment on column alert_deliveries.destination_id is 'Where it goes.';
comment on column alert_deliveries.state is 'Waiting for its next try, sent, given up, or not taken since too many waited.';
comment on column alert_deliveries.attempts is 'How often it was tried.';
comment on column alert_deliveries.next_at is 'When it is tried next.';
comment on column alert_deliveries.sent_at is 'When the receiver took it.';
comment on column alert_deliveries.status is 'HTTP status of the last answer; null without one.';
comment on column alert_deliveries.error is 'Why the last try failed, without addresses; null when it did not.';
create index alert_deliveries_waiting on alert_deliveries (next_at) where state = 'waiting';
create index on alert_deliveries (destination_id);
