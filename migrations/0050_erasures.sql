-- compatible with: 0.1.0
-- What was asked to be erased: found in calls that come later, too, as long as they were made before.
create table erasures (
  account_id int4 not null references accounts on delete cascade,
  id int4 generated always as identity,
  kind text not null check (kind in ('run', 'metadata')),
  key text check ((kind = 'metadata') = (key is not null)),
  target text,
  target_hash bytea not null check (octet_length(target_hash) = 32),
  is_dry_run bool not null,
  asked_at timestamptz(3) not null default now(),
  asked_by text not null,
  job_id int8,
  calls int8 not null default 0,
  ended_at timestamptz(3),
  primary key (account_id, id)
);
comment on table erasures is 'Runs and users whose calls were erased. What names them goes when it is done; a hash stays, by which later records are found.';
comment on column erasures.account_id is 'Whose calls.';
comment on column erasures.id is 'Number of the request.';
comment on column erasures.kind is 'run: the calls of a trace id; metadata: the calls with a value of a metadata key.';
comment on column erasures.key is 'The metadata key in lower case; null for a run.';
comment on column erasures.target is 'The trace id or value, until the job has ended.';
comment on column erasures.target_hash is 'SHA-256 of it.';
comment on column erasures.is_dry_run is 'Only counted.';
comment on column erasures.asked_at is 'When; calls of later are not meant.';
comment on column erasures.asked_by is 'By whom.';
comment on column erasures.job_id is 'The job that does it.';
comment on column erasures.calls is 'Calls that were erased, or would be, so far.';
comment on column erasures.ended_at is 'When the job had done it; null while it has not.';
