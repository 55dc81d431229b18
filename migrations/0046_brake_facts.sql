-- compatible with: 0.1.0
-- What the brakes look at, and who does work that one node at a time does.
create table brake_facts (
  account_id int4 not null references accounts on delete cascade,
  seq int8 generated always as identity,
  stored_at timestamptz(3) not null default clock_timestamp(),
  facts jsonb not null,
  primary key (account_id, seq)
);
comment on table brake_facts is 'What brakes need of the calls of a batch, for an hour: numbers and hashes, no text. One row for each batch and account.';
comment on column brake_facts.account_id is 'Owner of the calls.';
comment on column brake_facts.seq is 'Order of storing.';
comment on column brake_facts.stored_at is 'When the batch was stored.';
comment on column brake_facts.facts is 'For each call: id, time, key, run, model, cost, tokens, whether it failed, hashes of its conversation and of the tools it called.';

create index on brake_facts (seq);

create table leases (
  name text primary key,
  holder uuid not null,
  until timestamptz(3) not null
);
comment on table leases is 'Work that one node at a time does: who does it, and until when unless renewed.';
comment on column leases.name is 'The work.';
comment on column leases.holder is 'A number that the process gave itself at its start.';
comment on column leases.until is 'When another may take it, by the clock of the database.';
