-- Prices that the operator declares, imported catalogues, the history of both, and the history of re-priced calls.
-- Rates and factors are decimal text or numeric, never a float.

create table price_overrides (
  id int8 generated always as identity primary key,
  account_id int4 not null references accounts,
  provider text not null,
  provider_alias text,
  match text not null check (match in ('exact', 'prefix')),
  model text not null check (model <> ''),
  service_tier text not null check (service_tier in ('standard', 'flex', 'priority', 'batch', 'any')),
  over_tokens int8 check (over_tokens >= 0),
  up_to_tokens int8 check (up_to_tokens > coalesce(over_tokens, 0)),
  rates jsonb not null check (jsonb_typeof(rates) = 'object' and rates <> '{}'),
  valid_from timestamptz(3),
  valid_to timestamptz(3) check (valid_to > valid_from),
  note text,
  created_at timestamptz(3) not null default now(),
  unique nulls not distinct (account_id, provider, provider_alias, match, model, service_tier, over_tokens, up_to_tokens, valid_from)
);
comment on table price_overrides is 'Prices that the operator declared: they outrank those that come with the gateway. One row is a card of rates.';
comment on column price_overrides.id is 'Number of the override; cost lines name it.';
comment on column price_overrides.account_id is 'Owner.';
comment on column price_overrides.provider is 'Provider that the model is called at.';
comment on column price_overrides.provider_alias is 'Only calls with this X-Gateway-Provider-Alias; null for all.';
comment on column price_overrides.match is 'exact: the whole model id; prefix: every id that begins so. In any case.';
comment on column price_overrides.model is 'Model id, or its beginning.';
comment on column price_overrides.service_tier is 'Terms that the rates are for; any: whatever the terms.';
comment on column price_overrides.over_tokens is 'Only prompts of more than so many tokens, cache included; null for no lower bound.';
comment on column price_overrides.up_to_tokens is 'Only prompts of at most so many tokens; null for no upper bound.';
comment on column price_overrides.rates is 'US dollars as decimal text by usage class: for a million tokens or characters, a minute of sound, a thousand of everything else.';
comment on column price_overrides.valid_from is 'First instant at which it holds; null: since ever.';
comment on column price_overrides.valid_to is 'Instant from which it holds no more; null: until further notice.';
comment on column price_overrides.note is 'Why, in the operator''s words.';
comment on column price_overrides.created_at is 'When it was declared in this form.';

create table price_mappings (
  id int8 generated always as identity primary key,
  account_id int4 not null references accounts,
  provider text not null,
  provider_alias text,
  match text not null check (match in ('exact', 'prefix')),
  model text not null check (model <> '' or (match = 'prefix' and provider_alias is not null)),
  billing_model text not null check (billing_model <> ''),
  valid_from timestamptz(3),
  valid_to timestamptz(3) check (valid_to > valid_from),
  note text,
  created_at timestamptz(3) not null default now(),
  unique nulls not distinct (account_id, provider, provider_alias, match, model, valid_from)
);
comment on table price_mappings is 'Ids that say nothing about their model (inference profiles, fine-tunes, deployments, aliases) and the model that they are billed as.';
comment on column price_mappings.id is 'Number of the mapping.';
comment on column price_mappings.account_id is 'Owner.';
comment on column price_mappings.provider is 'Provider that the id is used at.';
comment on column price_mappings.provider_alias is 'Only calls with this X-Gateway-Provider-Alias; null for all.';
comment on column price_mappings.match is 'exact: the whole id; prefix: every id that begins so. In any case.';
comment on column price_mappings.model is 'The id, or its beginning; empty for every id under the alias.';
comment on column price_mappings.billing_model is 'Model whose prices count, at the same provider.';
comment on column price_mappings.valid_from is 'First instant at which it holds; null: since ever.';
comment on column price_mappings.valid_to is 'Instant from which it holds no more; null: until further notice.';
comment on column price_mappings.note is 'Why, in the operator''s words.';
comment on column price_mappings.created_at is 'When it was declared in this form.';

create table price_multipliers (
  id int8 generated always as identity primary key,
  account_id int4 not null references accounts,
  provider text not null,
  provider_alias text,
  factor numeric(12,6) not null check (factor >= 0 and factor <= 10),
  valid_from timestamptz(3),
  valid_to timestamptz(3) check (valid_to > valid_from),
  note text,
  created_at timestamptz(3) not null default now(),
  unique nulls not distinct (account_id, provider, provider_alias, valid_from)
);
comment on table price_multipliers is 'Negotiated discounts: list prices of a provider cost so many times as much. Overrides are not multiplied.';
comment on column price_multipliers.id is 'Number of the multiplier; cost lines name it.';
comment on column price_multipliers.account_id is 'Owner.';
comment on column price_multipliers.provider is 'Provider whose list prices it is for.';
comment on column price_multipliers.provider_alias is 'Only calls with this X-Gateway-Provider-Alias; null for all.';
comment on column price_multipliers.factor is '0.85 for 15 % off.';
comment on column price_multipliers.valid_from is 'First instant at which it holds; null: since ever.';
comment on column price_multipliers.valid_to is 'Instant from which it holds no more; null: until further notice.';
comment on column price_multipliers.note is 'Why, in the operator''s words.';
comment on column price_multipliers.created_at is 'When it was declared in this form.';

create table price_catalogs (
  id int8 generated always as identity primary key,
  name text not null,
  origin text not null check (origin in ('file', 'feed')),
  sha256 bytea not null unique check (octet_length(sha256) = 32),
  checked_on date not null,
  models int4 not null,
  content text not null,
  is_active bool not null,
  imported_at timestamptz(3) not null default now()
);
create unique index price_catalogs_active on price_catalogs (is_active) where is_active;
comment on table price_catalogs is 'Imported price catalogues. The active one takes the place of the bundled one; without an active one that is used.';
comment on column price_catalogs.id is 'Number of the catalogue.';
comment on column price_catalogs.name is 'File name or address that it came from; sources of cost lines name it.';
comment on column price_catalogs.origin is 'file: imported by the operator; feed: fetched.';
comment on column price_catalogs.sha256 is 'Digest of the file.';
comment on column price_catalogs.checked_on is 'How old its prices are: the date that the operator or the feed''s answer gave.';
comment on column price_catalogs.models is 'Models of the providers that the gateway knows.';
comment on column price_catalogs.content is 'The file as it was.';
comment on column price_catalogs.is_active is 'At most one is.';
comment on column price_catalogs.imported_at is 'When it was imported.';

create table price_feed (
  is_only_row bool primary key default true check (is_only_row),
  etag text,
  checked_at timestamptz(3),
  result text check (result in ('unchanged', 'activated', 'refused', 'failed')),
  detail text
);
comment on table price_feed is 'One row: the last look at the price feed, if it is fetched at all.';
comment on column price_feed.is_only_row is 'Makes a second row impossible.';
comment on column price_feed.etag is 'Of the content that was looked at last, whether it was taken or refused.';
comment on column price_feed.checked_at is 'When; null: never.';
comment on column price_feed.result is 'What came of it.';
comment on column price_feed.detail is 'Why it was refused or failed.';
insert into price_feed default values;

create table price_changes (
  id int8 generated always as identity primary key,
  account_id int4 not null references accounts,
  changed_at timestamptz(3) not null default now(),
  actor text not null,
  subject text not null check (subject in ('override', 'mapping', 'multiplier', 'catalog')),
  action text not null check (action in ('added', 'replaced', 'removed', 'activated')),
  summary text not null,
  before jsonb,
  after jsonb
);
comment on table price_changes is 'Who changed what about prices, and when. Rows are only ever added.';
comment on column price_changes.id is 'Number of the change.';
comment on column price_changes.account_id is 'Owner.';
comment on column price_changes.changed_at is 'When it was made.';
comment on column price_changes.actor is 'Who, as far as known: how they signed in, and the name that the command line gave.';
comment on column price_changes.subject is 'What was changed.';
comment on column price_changes.action is 'How.';
comment on column price_changes.summary is 'The change in one line.';
comment on column price_changes.before is 'The declaration before; null when it is new.';
comment on column price_changes.after is 'The declaration after; null when it was removed.';

create table price_book_version (
  is_only_row bool primary key default true check (is_only_row),
  version int8 not null
);
comment on table price_book_version is 'One row: the version of everything above that prices depend on.';
comment on column price_book_version.is_only_row is 'Makes a second row impossible.';
comment on column price_book_version.version is 'Raised in the same transaction as any change of a price.';
insert into price_book_version (version) values (1);

create table cost_revisions (
  request_id uuid not null,
  job_id int8 not null,
  account_id int4 not null,
  requested_at timestamptz(3) not null,
  revised_at timestamptz(3) not null,
  reason text not null,
  old_price_version text,
  new_price_version text,
  old_billing_model text,
  new_billing_model text,
  old_cost_status text not null,
  new_cost_status text not null,
  old_total_cost numeric(24,12),
  new_total_cost numeric(24,12),
  old_known_cost numeric(24,12),
  new_known_cost numeric(24,12),
  old_cost_lines jsonb,
  primary key (request_id, job_id)
);
create index on cost_revisions (requested_at);
comment on table cost_revisions is 'Costs of calls that were priced again: what they were, what they became, and why. Kept as long as the rows.';
comment on column cost_revisions.request_id is 'The call, as in llm_requests.';
comment on column cost_revisions.job_id is 'The job that priced it again.';
comment on column cost_revisions.account_id is 'Owner.';
comment on column cost_revisions.requested_at is 'As in llm_requests.';
comment on column cost_revisions.revised_at is 'When it was priced again.';
comment on column cost_revisions.reason is 'Why, as given to the job.';
comment on column cost_revisions.old_price_version is 'Price book of the cost before.';
comment on column cost_revisions.new_price_version is 'Price book of the cost after.';
comment on column cost_revisions.old_billing_model is 'Model billed before.';
comment on column cost_revisions.new_billing_model is 'Model billed after.';
comment on column cost_revisions.old_cost_status is 'cost_status before.';
comment on column cost_revisions.new_cost_status is 'cost_status after.';
comment on column cost_revisions.old_total_cost is 'total_cost before.';
comment on column cost_revisions.new_total_cost is 'total_cost after.';
comment on column cost_revisions.old_known_cost is 'known_cost before.';
comment on column cost_revisions.new_known_cost is 'known_cost after.';
comment on column cost_revisions.old_cost_lines is 'How the cost before was worked out.';

create table reprice_days (
  job_id int8 not null references jobs on delete cascade,
  day date not null,
  provider text not null,
  model text not null,
  calls int8 not null,
  changed int8 not null,
  old_cost numeric(24,12) not null,
  new_cost numeric(24,12) not null,
  old_unpriced int8 not null,
  new_unpriced int8 not null,
  primary key (job_id, day, provider, model)
);
comment on table reprice_days is 'What a job that prices calls again found, by day and model: for a dry run the difference that it would make.';
comment on column reprice_days.job_id is 'The job.';
comment on column reprice_days.day is 'Day (UTC) of requested_at.';
comment on column reprice_days.provider is 'Provider of the calls.';
comment on column reprice_days.model is 'Model that served the calls, else the one that was requested, its first 200 characters; empty when neither is known.';
comment on column reprice_days.calls is 'Calls looked at.';
comment on column reprice_days.changed is 'Calls whose cost differs.';
comment on column reprice_days.old_cost is 'Sum before, of total_cost or known_cost.';
comment on column reprice_days.new_cost is 'Sum after.';
comment on column reprice_days.old_unpriced is 'Calls without a total cost before.';
comment on column reprice_days.new_unpriced is 'Calls without a total cost after.';

-- Calls that a better price book may give a cost: few, and looked for often.
create index llm_requests_without_cost on llm_requests (account_id, requested_at, id)
  where cost_status in ('unpriced', 'partial');
