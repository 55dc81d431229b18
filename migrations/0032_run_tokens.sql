-- compatible with: 0.1.0
-- What an address may carry: keys that are allowed in it, and run tokens.
alter table gateway_keys add column allow_in_address bool not null default false;
comment on column gateway_keys.allow_in_address is 'Whether the key may stand in a client''s base address, as /@KEY, where it may get into the logs of others.';

create table run_tokens (
  id int8 generated always as identity primary key,
  account_id int4 not null references accounts on delete cascade,
  key_id int4 not null references gateway_keys on delete cascade,
  digest bytea not null unique check (octet_length(digest) = 32),
  name text,
  trace_id text,
  span_path text,
  provider text,
  provider_alias text,
  metadata jsonb not null default '[]',
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3)
);
comment on table run_tokens is 'Tokens that stand for a key and a run in a client''s base address, as /@TOKEN. The token itself is not stored. Rows go a day after their end.';
comment on column run_tokens.id is 'Number of the token.';
comment on column run_tokens.account_id is 'Owner.';
comment on column run_tokens.key_id is 'The key that the token stands for; it ends with it.';
comment on column run_tokens.digest is 'SHA-256 of the token.';
comment on column run_tokens.name is 'Display name; null when none was given.';
comment on column run_tokens.trace_id is 'The run of its calls; null for calls that are in no run.';
comment on column run_tokens.span_path is 'The step of its calls within the run; null for the run itself.';
comment on column run_tokens.provider is 'The provider of its calls; null where the call says it.';
comment on column run_tokens.provider_alias is 'The provider alias of its calls; null where the call says it.';
comment on column run_tokens.metadata is 'Metadata of its calls, as an array of [name, value].';
comment on column run_tokens.created_at is 'When it was made.';
comment on column run_tokens.expires_at is 'When it stops being valid by itself.';
comment on column run_tokens.revoked_at is 'When it was ended before that; null while it was not.';

create index on run_tokens (account_id, id);
create index on run_tokens (key_id);
