-- compatible with: 0.1.0
-- Limits on calls at once, requests and tokens a minute: of a key, of an account, of the values of a metadata key. A node of a
-- former release keeps none.

alter table gateway_keys
  add column max_concurrent int4 check (max_concurrent > 0),
  add column requests_per_minute int4 check (requests_per_minute > 0),
  add column tokens_per_minute int8 check (tokens_per_minute > 0);
comment on column gateway_keys.max_concurrent is 'How many of its calls may be open at once; null for any number.';
comment on column gateway_keys.requests_per_minute is 'How many of its calls may begin in a minute; null for any number.';
comment on column gateway_keys.tokens_per_minute is 'How many tokens its calls may use in a minute; null for any number.';

create table call_limits (
  id int4 generated always as identity primary key,
  account_id int4 not null references accounts on delete cascade,
  metadata_key text,
  metadata_value text,
  max_concurrent int4 check (max_concurrent > 0),
  requests_per_minute int4 check (requests_per_minute > 0),
  tokens_per_minute int8 check (tokens_per_minute > 0),
  created_at timestamptz(3) not null default now(),
  check (metadata_key is not null or metadata_value is null),
  check (num_nonnulls(max_concurrent, requests_per_minute, tokens_per_minute) > 0)
);
create unique index on call_limits (account_id, coalesce(lower(metadata_key), ''), coalesce(metadata_value, ''));
comment on table call_limits is 'Limits on the calls of an account: of all together, or by the values of a metadata key.';
comment on column call_limits.id is 'Number of the limit.';
comment on column call_limits.account_id is 'Whose calls.';
comment on column call_limits.metadata_key is 'The metadata key whose values are limited; null for all calls of the account together.';
comment on column call_limits.metadata_value is 'The value that it is for, instead of the limit for each; null for each value by itself.';
comment on column call_limits.max_concurrent is 'How many calls may be open at once; null for any number.';
comment on column call_limits.requests_per_minute is 'How many calls may begin in a minute; null for any number.';
comment on column call_limits.tokens_per_minute is 'How many tokens calls may use in a minute; null for any number.';
comment on column call_limits.created_at is 'When it was made.';
