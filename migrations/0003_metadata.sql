-- Metadata: the value of a key in a call, and which keys are promoted.

create function metadata_value(raw jsonb, key text) returns text
  language sql immutable parallel safe
  return (select string_agg(m.value, ', ' order by m.key) from jsonb_each_text(raw) m where lower(m.key) = lower(metadata_value.key));
comment on function metadata_value is 'Value of a metadata key in a call: those of all its spellings, joined in their order; null without any.';

create table metadata_keys (
  account_id int4 not null,
  key_lower text not null,
  display_key text not null,
  state text not null check (state in ('promoting', 'promoted', 'demoting')),
  promoted_at timestamptz(3),
  primary key (account_id, key_lower)
);
comment on table metadata_keys is 'Metadata keys that are or were promoted.';
comment on column metadata_keys.account_id is 'Owner.';
comment on column metadata_keys.key_lower is 'The key in lower case.';
comment on column metadata_keys.display_key is 'The spelling under which it stands in indexed_metadata.';
comment on column metadata_keys.state is 'promoted: all calls with the key have it in indexed_metadata.';
comment on column metadata_keys.promoted_at is 'When it became promoted.';
