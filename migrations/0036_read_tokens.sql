-- compatible with: 0.1.0
-- What may ask the log over MCP, and nothing else.
create table read_tokens (
  id int4 generated always as identity primary key,
  account_id int4 not null references accounts on delete cascade,
  key_id int4 references gateway_keys on delete cascade,
  name text not null,
  digest bytea not null unique check (octet_length(digest) = 32),
  last4 text not null,
  has_texts bool not null default false,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3),
  expires_at timestamptz(3),
  revoked_at timestamptz(3)
);
comment on table read_tokens is 'Tokens that may read the log over MCP. The token itself is not stored. Revoked ones stay, to be listed.';
comment on column read_tokens.id is 'Number of the token.';
comment on column read_tokens.account_id is 'Whose log it reads.';
comment on column read_tokens.key_id is 'The gateway key whose calls alone it reads; null for all calls of the account.';
comment on column read_tokens.name is 'Whom it is for.';
comment on column read_tokens.digest is 'SHA-256 of the token.';
comment on column read_tokens.last4 is 'Its last characters, to tell it by.';
comment on column read_tokens.has_texts is 'Whether it may read and search the text of prompts and answers.';
comment on column read_tokens.created_at is 'When it was made.';
comment on column read_tokens.last_used_at is 'Its latest request, up to a minute late; null when never used.';
comment on column read_tokens.expires_at is 'When it stops being valid by itself; null for never.';
comment on column read_tokens.revoked_at is 'When it was revoked; null while it was not.';

create index on read_tokens (account_id, id);
create index on read_tokens (key_id);
