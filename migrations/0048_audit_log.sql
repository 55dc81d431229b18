-- compatible with: 0.1.0
-- Who changed what: rows that are only added, each holding the hash of the one before.
create table audit_log (
  account_id int4 not null,
  seq int8 not null primary key,
  at timestamptz(3) not null,
  actor_kind text not null check (actor_kind in ('operator', 'person', 'token', 'process', 'nobody')),
  actor_name text not null,
  from_address text,
  action text not null,
  subject_kind text not null,
  subject_id text,
  before jsonb,
  after jsonb,
  previous_hash bytea not null check (octet_length(previous_hash) = 32),
  hash bytea not null check (octet_length(hash) = 32),
  unique (account_id, seq)
);
comment on table audit_log is 'Who changed what. Rows are only added; the oldest may go by the retention of the audit log, and nothing else.';
comment on column audit_log.account_id is 'Whose change it is. No reference: the row outlives its account.';
comment on column audit_log.seq is 'Place in the one chain of the deployment, without gaps.';
comment on column audit_log.at is 'When, by the clock of the database.';
comment on column audit_log.actor_kind is 'The operator, a person, an API token, the gateway itself (process), or nobody who is known (nobody).';
comment on column audit_log.actor_name is 'Who it was, in words.';
comment on column audit_log.from_address is 'Network address that the request came from; null for the gateway itself.';
comment on column audit_log.action is 'What was done, such as key.create.';
comment on column audit_log.subject_kind is 'What it was done to, such as key.';
comment on column audit_log.subject_id is 'Which one; null where there is but one, or none.';
comment on column audit_log.before is 'How it was, without secrets; null for nothing.';
comment on column audit_log.after is 'How it is since, without secrets; null for nothing.';
comment on column audit_log.previous_hash is 'Hash of the row before; zeros before the first.';
comment on column audit_log.hash is 'SHA-256 of all that is above, as docs/audit.md states.';

create table audit_head (
  is_only bool primary key default true check (is_only),
  seq int8 not null,
  hash bytea not null check (octet_length(hash) = 32),
  anchor_seq int8 not null default 0,
  anchor_hash bytea not null check (octet_length(anchor_hash) = 32)
);
comment on table audit_head is 'Both ends of the audit log, in one row; who adds a row to the log locks it.';
comment on column audit_head.is_only is 'Always true: there is one row.';
comment on column audit_head.seq is 'Place of the latest row; 0 before the first.';
comment on column audit_head.hash is 'Hash of the latest row.';
comment on column audit_head.anchor_seq is 'Place of the last row that retention removed; 0 for none.';
comment on column audit_head.anchor_hash is 'Hash of that row: what the oldest row follows.';
insert into audit_head (seq, hash, anchor_hash) values (0, decode(repeat('00', 32), 'hex'), decode(repeat('00', 32), 'hex'));

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and old.seq <= (select anchor_seq from audit_head) then
    return old;
  end if;
  raise exception 'the audit log is only added to' using errcode = 'insufficient_privilege';
end
$$;
comment on function refuse_audit_change is 'Lets nobody change a row of the audit log, nor delete one after its anchor.';

create function refuse_audit_truncate() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is only added to' using errcode = 'insufficient_privilege';
end
$$;
comment on function refuse_audit_truncate is 'Lets nobody empty the audit log.';

create trigger only_added before update or delete on audit_log for each row execute function refuse_audit_change();
create trigger never_emptied before truncate on audit_log for each statement execute function refuse_audit_truncate();

create index on audit_log (account_id, at);
