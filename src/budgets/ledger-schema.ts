/** The tables of the ledger file. SQLite's integers have 64 bits; money is in pico-dollars, times in milliseconds. */
export const LEDGER_SCHEMA = `
-- The budgets in force, as JSON; one row.
create table if not exists published (
  one integer primary key check (one = 1),
  version integer not null,
  budgets text not null
) strict;
insert into published values (1, 0, '[]') on conflict do nothing;

-- The money of one budget for one value (a run, a key, a person) in one period; period 0 for budgets without one.
create table if not exists scopes (
  account integer not null,
  budget integer not null,
  value text not null,
  period integer not null,
  spent integer not null,
  reserved integer not null,
  -- Set by a run's first call.
  run_limit integer,
  -- When a call of it was last admitted.
  used integer not null,
  primary key (account, budget, value, period)
) strict, without rowid;

-- What an open call holds in each of its budgets. The process is the name of its directory in the spool.
create table if not exists holds (
  call text not null,
  account integer not null,
  budget integer not null,
  value text not null,
  period integer not null,
  amount integer not null,
  process text not null,
  primary key (call, account, budget, value)
) strict, without rowid;
`;
