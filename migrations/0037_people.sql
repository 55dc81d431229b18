-- compatible with: 0.1.0
-- People, what they may do in which account, how they sign in, and tokens for programs.
create table people (
  id int4 generated always as identity primary key,
  email text not null,
  name text not null,
  password_hash text,
  issuer text,
  subject text,
  created_at timestamptz(3) not null default now(),
  signed_in_at timestamptz(3),
  sessions_from timestamptz(3) not null default now(),
  check ((issuer is null) = (subject is null))
);
create unique index on people (lower(email));
create unique index on people (issuer, subject) where issuer is not null;
comment on table people is 'Who signs in by name. The operator, with the admin token, is not here.';
comment on column people.id is 'Number of the person.';
comment on column people.email is 'Address; unique without regard to case.';
comment on column people.name is 'Display name.';
comment on column people.password_hash is 'The password as scrypt made it, with its parameters and salt; null without a password.';
comment on column people.issuer is 'Identity provider that vouches for the person; null without one.';
comment on column people.subject is 'What that provider calls the person.';
comment on column people.created_at is 'When the person was invited, or first signed in.';
comment on column people.signed_in_at is 'Latest sign-in; null before the first.';
comment on column people.sessions_from is 'Sessions that began earlier are over.';

create table memberships (
  account_id int4 not null references accounts on delete cascade,
  person_id int4 not null references people on delete cascade,
  role text not null check (role in ('viewer', 'member', 'owner')),
  may_read_bodies bool not null default true,
  source text not null default 'invited' check (source in ('invited', 'groups')),
  created_at timestamptz(3) not null default now(),
  primary key (account_id, person_id)
);
create index on memberships (person_id, account_id);
comment on table memberships is 'What a person may do in an account.';
comment on column memberships.account_id is 'The account.';
comment on column memberships.person_id is 'The person.';
comment on column memberships.role is 'viewer: reads; member: also keys, prices and jobs; owner: also people and tokens.';
comment on column memberships.may_read_bodies is 'Whether the person may read and search the text of prompts and answers.';
comment on column memberships.source is 'invited: an owner said so; groups: the groups of the identity provider do, at each sign-in.';
comment on column memberships.created_at is 'When it was made.';

create table person_links (
  digest text primary key,
  person_id int4 not null references people on delete cascade,
  expires_at timestamptz(3) not null
);
create index on person_links (person_id, expires_at);
comment on table person_links is 'One-time links that sign a person in.';
comment on column person_links.digest is 'SHA-256 of the link''s code, base64url. The code itself is not stored.';
comment on column person_links.person_id is 'Whom it signs in.';
comment on column person_links.expires_at is 'When it is no longer valid.';

create table api_tokens (
  id int4 generated always as identity primary key,
  account_id int4 not null references accounts on delete cascade,
  name text not null,
  digest bytea not null unique check (octet_length(digest) = 32),
  last4 text not null,
  scopes text[] not null,
  created_by text not null,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3),
  expires_at timestamptz(3),
  revoked_at timestamptz(3)
);
create index on api_tokens (account_id, id);
comment on table api_tokens is 'Tokens with which programs ask the admin API. The token itself is not stored. Revoked ones stay, to be listed.';
comment on column api_tokens.id is 'Number of the token.';
comment on column api_tokens.account_id is 'The one account that it opens.';
comment on column api_tokens.name is 'What it is for.';
comment on column api_tokens.digest is 'SHA-256 of the token.';
comment on column api_tokens.last4 is 'Its last characters, to tell it by.';
comment on column api_tokens.scopes is 'What it may do: read, bodies, keys, prices, manage.';
comment on column api_tokens.created_by is 'Who made it.';
comment on column api_tokens.created_at is 'When it was made.';
comment on column api_tokens.last_used_at is 'Its latest request, up to a minute late; null when never used.';
comment on column api_tokens.expires_at is 'When it stops being valid by itself; null for never.';
comment on column api_tokens.revoked_at is 'When it was revoked; null while it was not.';
