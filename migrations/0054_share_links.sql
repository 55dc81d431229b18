-- compatible with: 0.1.0
-- Links that show one run or one view without a sign-in, until they expire or are revoked.
create table share_links (
  account_id int4 not null references accounts on delete cascade,
  id int4 generated always as identity primary key,
  name text not null,
  page text not null check (page in ('run', 'logs', 'runs', 'costs')),
  parameters text not null,
  has_bodies bool not null,
  digest bytea not null unique check (octet_length(digest) = 32),
  last4 text not null,
  created_at timestamptz(3) not null default now(),
  created_by text not null,
  expires_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  revoked_at timestamptz(3)
);
create index on share_links (account_id, id);
comment on table share_links is 'Links that show one run or one view without a sign-in. They are no part of a backup, as other credentials.';
comment on column share_links.account_id is 'Whose run or view it shows.';
comment on column share_links.id is 'Number of the link, in all accounts.';
comment on column share_links.name is 'What it is for.';
comment on column share_links.page is 'What it shows: one run, or a view of calls, runs or costs.';
comment on column share_links.parameters is 'The trace id, or filters, times and groups of the view, as a query of the API.';
comment on column share_links.has_bodies is 'Whether it shows the text of prompts and answers.';
comment on column share_links.digest is 'SHA-256 of its token.';
comment on column share_links.last4 is 'Last characters of its token, to tell it by.';
comment on column share_links.created_at is 'When it was made.';
comment on column share_links.created_by is 'Who made it.';
comment on column share_links.expires_at is 'When it stops being valid by itself.';
comment on column share_links.last_used_at is 'When it was last opened; null when never.';
comment on column share_links.revoked_at is 'When it was revoked; null while it was not.';
