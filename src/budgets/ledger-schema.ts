/** The tables of the ledger file. SQLite's integers have 64 bits; money is in pico-dollars, times in milliseconds. */

/** Raised with every change below; a file of another layout is put aside. */
export const LEDGER_LAYOUT = 5;

export const LEDGER_SCHEMA = `
-- The budgets in force, as JSON; one row.
create table if not exists published (
  one integer primary key check (one = 1),
  version integer not null,
  budgets text not null
) strict;
insert into published values (1, 0, '[]') on conflict do nothing;

-- Which of them each proxy process has taken in; the process is the name of its directory in the spool.
create table if not exists readers (
  process text primary key,
  version integer not null
) strict, without rowid;

create table if not exists sharing (
  one integer primary key check (one = 1),
  -- How this node spends: 'sole' all of every budget, 'sharing' what it holds of each scope, 'waiting' nothing yet.
  mode text not null,
  -- Raised when processes shall write how they stand; they look often while they have something to say.
  asked integer not null,
  -- After this time others may take a node that is 'sole' to be lost, so that it spends nothing; null before it has looked.
  alone_until integer,
  -- \`budget_version.sums_id\` of the database whose sums stand here; null in a new file.
  sums_id text
) strict;
insert into sharing values (1, 'sole', 0, null, null) on conflict do nothing;

-- Of these scopes they shall give back what they do not use.
create table if not exists asks (
  account integer not null,
  budget integer not null,
  value text not null,
  period integer not null,
  -- The value of \`sharing.asked\` from then on.
  number integer not null,
  primary key (account, budget, value, period)
) strict, without rowid;

-- What this node was called: a container has another host name each time that it is made.
create table if not exists names (
  name text primary key
) strict, without rowid;

-- Scopes of which a proxy needs more than this node holds; control asks the other nodes.
create table if not exists wants (
  account integer not null,
  budget integer not null,
  value text not null,
  period integer not null,
  -- What this node has to hold in all.
  need integer not null,
  amount integer not null,
  -- A call waits for it.
  is_urgent integer not null,
  asked integer not null,
  primary key (account, budget, value, period)
) strict, without rowid;

-- The money of one budget for one value (a run, a key, a person) in one period; period 0 for budgets without one.
create table if not exists scopes (
  account integer not null,
  budget integer not null,
  value text not null,
  period integer not null,
  -- By processes that have ended and whose records are stored.
  spent integer not null default 0,
  -- Of it this node may spend so much, when nodes share it.
  held integer not null default 0,
  -- What nodes have spent that left since; counts while this one is alone.
  elsewhere integer not null default 0,
  -- Set by a run's first call.
  run_limit integer,
  -- When a process last took of it.
  used integer not null,
  primary key (account, budget, value, period)
) strict, without rowid;

-- What each process may spend of a scope, and had spent and reserved when it wrote last. It is ahead of this row, but never
-- beyond what it was granted. The process is the name of its directory in the spool.
create table if not exists shares (
  account integer not null,
  budget integer not null,
  value text not null,
  period integer not null,
  process text not null,
  granted integer not null,
  spent integer not null,
  -- So much more it would have spent, had no fetched result cost less than was held for it.
  refunded integer not null,
  reserved integer not null,
  -- The value of \`sharing.asked\` when it wrote.
  answered integer not null,
  -- It was asked and did not answer; it is dead, or stands still.
  is_silent integer not null default 0,
  primary key (account, budget, value, period, process)
) strict, without rowid;
create index if not exists shares_of_process on shares (process);

-- What calls have held whose results are fetched later. Names are digests.
create table if not exists later_holds (
  -- Of account, provider and the result's id.
  result text primary key,
  -- JSON: pico-dollars by the digest of the scope's name.
  held text not null,
  noted integer not null,
  -- A call that fetched the result has counted it.
  is_taken integer not null default 0
) strict, without rowid;
create index if not exists later_holds_by_age on later_holds (noted);
`;
