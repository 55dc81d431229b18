-- compatible with: 0.1.0
-- What a key's calls may use, whose it is, and by which key it was replaced. A node of a former release lets such a key use
-- everything.

alter table gateway_keys
  add column owner text,
  add column allowed_providers text[] check (cardinality(allowed_providers) > 0),
  add column allowed_models text[] check (cardinality(allowed_models) > 0),
  add column allowed_aliases text[] check (cardinality(allowed_aliases) > 0),
  add column allowed_endpoints text[] check (cardinality(allowed_endpoints) > 0),
  add column allowed_networks text[] check (cardinality(allowed_networks) > 0),
  add column replaced_by int4 references gateway_keys on delete set null,
  add column replaced_at timestamptz(3);
comment on column gateway_keys.owner is 'Who answers for it: a person, a team; null where nobody was named.';
comment on column gateway_keys.allowed_providers is 'Providers that its calls may go to; null for all.';
comment on column gateway_keys.allowed_models is 'Models that its calls may use, as clients name them, * for any characters; null for all.';
comment on column gateway_keys.allowed_aliases is 'Aliases that its calls may use, - for a provider''s own upstream; null for all.';
comment on column gateway_keys.allowed_endpoints is 'Families of endpoints that its calls may use, * for any characters; null for all.';
comment on column gateway_keys.allowed_networks is 'Networks that its calls may come from, as address/bits; null for all.';
comment on column gateway_keys.replaced_by is 'The key that a rotation made instead of it; null where there is none.';
comment on column gateway_keys.replaced_at is 'When that rotation was; null where there was none.';

create index on gateway_keys (replaced_by);
