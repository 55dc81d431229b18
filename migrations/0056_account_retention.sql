-- compatible with: 0.1.0
-- An account may keep its calls and bodies for a shorter time than the gateway does.
alter table accounts
  add column retention_rows int4 check (retention_rows between 1 and 36500),
  add column retention_bodies int4 check (retention_bodies between 1 and 36500),
  add column bodies_swept_to timestamptz(3);
comment on column accounts.retention_rows is 'Days that its calls are kept, where that is fewer than the setting retention_rows; null for that.';
comment on column accounts.retention_bodies is 'Days that its bodies and texts are kept, where that is fewer than the setting retention_bodies; null for that.';
comment on column accounts.bodies_swept_to is 'Bodies of before were looked through; null when none were, or when the days were changed.';
