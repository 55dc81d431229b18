/** How long accounts keep calls and bodies, where that is shorter than the gateway does. */
import type pg from 'pg';
import { noteChange } from '../audit/note-change.ts';
import { inTransaction } from './pool.ts';

export interface AccountRetention {
  readonly id: number;
  /** Days; null: as the gateway. */
  readonly rowsDays: number | null;
  readonly bodiesDays: number | null;
  /** Bodies of before were looked through. */
  readonly bodiesSweptTo: Date | null;
}

const COLUMNS = `id, retention_rows as "rowsDays", retention_bodies as "bodiesDays", bodies_swept_to as "bodiesSweptTo"`;

/** Those with a limit of their own. */
export async function listAccountRetention(pool: pg.Pool): Promise<readonly AccountRetention[]> {
  const { rows } = await pool.query<AccountRetention>(
    `select ${COLUMNS} from accounts where retention_rows is not null or retention_bodies is not null order by id`,
  );
  return rows;
}

export async function readAccountRetention(pool: pg.Pool, id: number): Promise<AccountRetention | null> {
  const { rows } = await pool.query<AccountRetention>(`select ${COLUMNS} from accounts where id = $1`, [id]);
  return rows[0] ?? null;
}

export async function noteBodiesSwept(client: pg.ClientBase, id: number, before: Date): Promise<void> {
  await client.query('update accounts set bodies_swept_to = $2 where id = $1', [id, before]);
}

export type RetentionDays = Pick<AccountRetention, 'rowsDays' | 'bodiesDays'>;

/** Null for an unknown account. */
export function changeAccountRetention(
  pool: pg.Pool,
  id: number,
  { rowsDays, bodiesDays }: RetentionDays,
): Promise<AccountRetention | null> {
  return inTransaction(pool, async (client) => {
    const { rows: before } = await client.query<AccountRetention>(
      `select ${COLUMNS} from accounts where id = $1 for update`,
      [id],
    );
    const { rows } = await client.query<AccountRetention>(
      `update accounts set retention_rows = $2, retention_bodies = $3, bodies_swept_to = null where id = $1
       returning ${COLUMNS}`,
      [id, rowsDays, bodiesDays],
    );
    const [row] = rows;
    if (row === undefined || before[0] === undefined) return null;
    await noteChange(client, {
      accountId: id,
      action: 'account.retention',
      subject: { kind: 'account', id },
      before: { retention_rows: before[0].rowsDays, retention_bodies: before[0].bodiesDays },
      after: { retention_rows: rowsDays, retention_bodies: bodiesDays },
    });
    return row;
  });
}
