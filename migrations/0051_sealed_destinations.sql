-- compatible with: 0.1.0
-- Secrets of where alerts go are sealed as kept credentials are, where the gateway has a key for it.
alter table alert_destinations
  add column key_name text,
  add column wrapped_key bytea,
  add column sealed bytea,
  add check ((sealed is null) = (wrapped_key is null) and (sealed is null) = (key_name is null)),
  add check (sealed is null or secret is null);
comment on column alert_destinations.address is 'URL, or addresses of mail with commas. That of Slack is a secret by itself and never shown; when it is sealed, the host alone is here.';
comment on column alert_destinations.secret is 'What webhooks are signed with; null for the others, and when it is sealed. Never shown after it was made.';
comment on column alert_destinations.key_name is 'Which key of the operator wraps the data key: the first characters of its SHA-256. Null when nothing is sealed.';
comment on column alert_destinations.wrapped_key is 'The data key, wrapped with AES-256-GCM: nonce, ciphertext, tag.';
comment on column alert_destinations.sealed is 'The secret of a webhook or the address of Slack, encrypted with the data key (AES-256-GCM): nonce, ciphertext, tag.';
