/** Removes the oldest rows of the audit log past its retention, and keeps the hash of the last one as the anchor. */
import type pg from 'pg';
import { noteChange } from './note-change.ts';

const MAX_ROWS = 10_000;
/** What concerns all accounts is told to the first, which every deployment has. */
const FIRST_ACCOUNT = 1;

/** Runs in the caller's transaction. Returns how many rows went; `MAX_ROWS` at most, and the rest the next time. */
export async function forgetEntries(client: pg.ClientBase, keptDays: number): Promise<number> {
  await client.query('select from audit_head for update');
  // The clock may have been put back between two rows: what goes is a beginning of the chain, whole.
  const { rows } = await client.query<{ seq: number }>(
    `with first_kept as (
       select coalesce(min(seq), (select seq + 1 from audit_head)) as seq from audit_log
       where at >= now() - make_interval(days => $1)
     )
     update audit_head h set anchor_seq = l.seq, anchor_hash = l.hash from audit_log l
     where l.seq = (select least(k.seq - 1, o.anchor_seq + $2) from first_kept k, audit_head o) and l.seq > h.anchor_seq
     returning l.seq`,
    [keptDays, MAX_ROWS],
  );
  const [anchor] = rows;
  if (anchor === undefined) return 0;
  const { rowCount } = await client.query('delete from audit_log where seq <= $1', [anchor.seq]);
  await noteChange(client, {
    accountId: FIRST_ACCOUNT,
    action: 'audit.forget',
    subject: { kind: 'audit', id: null },
    after: { rows: rowCount, last_seq: anchor.seq, kept_days: keptDays },
  });
  return rowCount ?? 0;
}
