-- compatible with: 0.1.0
-- Providers' credentials that the gateway keeps, for calls by an alias that bring none of their own.
create table provider_credentials (
  account_id int4 not null references accounts on delete cascade,
  provider text not null,
  alias text not null,
  origin text not null,
  key_name text not null,
  wrapped_key bytea not null,
  sealed bytea not null,
  last4 text not null,
  changed_at timestamptz(3) not null default now(),
  changed_by text not null,
  primary key (account_id, provider, alias)
);
comment on table provider_credentials is 'Credentials of providers that the gateway keeps, sealed: what is here does not open them.';
comment on column provider_credentials.account_id is 'Whose calls they are for.';
comment on column provider_credentials.provider is 'Provider.';
comment on column provider_credentials.alias is 'Alias of the upstream, in lower case.';
comment on column provider_credentials.origin is 'Where it may be sent: the address that the alias had when it was set.';
comment on column provider_credentials.key_name is 'Which key of the operator wraps the data key: the beginning of its SHA-256.';
comment on column provider_credentials.wrapped_key is 'The data key of this credential alone, AES-256-GCM by the key of the operator: nonce, ciphertext, tag.';
comment on column provider_credentials.sealed is 'The credential, AES-256-GCM by the data key: nonce, ciphertext, tag.';
comment on column provider_credentials.last4 is 'Its last characters, to tell it by.';
comment on column provider_credentials.changed_at is 'When it was set.';
comment on column provider_credentials.changed_by is 'By whom.';
