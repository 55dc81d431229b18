-- compatible with: 0.1.0
-- Signing in and out of the dashboard, for all nodes of a deployment: what one has ended or made, the others know.

create table ended_sessions (
  digest text primary key,
  expires_at timestamptz(3) not null,
  ended_at timestamptz(3) not null default now()
);
comment on table ended_sessions is 'Dashboard sessions that were signed out before their time; a copy of their cookie is refused.';
comment on column ended_sessions.digest is 'SHA-256 of the cookie''s value, base64url. The value itself is not stored.';
comment on column ended_sessions.expires_at is 'When it would have ended by itself; its row may go then.';
comment on column ended_sessions.ended_at is 'When this was stored.';

create index on ended_sessions (ended_at);

create table login_codes (
  digest text primary key,
  expires_at timestamptz(3) not null
);
comment on table login_codes is 'One-time login links that are open.';
comment on column login_codes.digest is 'SHA-256 of the link''s code, base64url. The code itself is not stored.';
comment on column login_codes.expires_at is 'When it is no longer valid, by the clock of the database.';
