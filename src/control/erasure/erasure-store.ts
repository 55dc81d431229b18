/** The table of erasures. */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { noteChange } from '../audit/note-change.ts';
import { insertJob } from '../jobs/job-store.ts';
import { inTransaction } from '../store/pool.ts';

export const ERASE_KIND = 'erase';

export type ErasureTarget =
  | { readonly kind: 'run'; readonly traceId: string }
  | { readonly kind: 'metadata'; readonly key: string; readonly value: string };

export interface Erasure {
  readonly id: number;
  readonly kind: ErasureTarget['kind'];
  readonly key: string | null;
  /** Null when it has ended. */
  readonly target: string | null;
  /** SHA-256, hex. */
  readonly targetHash: string;
  readonly isDryRun: boolean;
  readonly askedAt: Date;
  readonly askedBy: string;
  readonly jobId: number | null;
  readonly calls: number;
  readonly endedAt: Date | null;
}

const COLUMNS = `id, kind, key, target, encode(target_hash, 'hex') as "targetHash", is_dry_run as "isDryRun",
  asked_at as "askedAt", asked_by as "askedBy", job_id as "jobId", calls, ended_at as "endedAt"`;

/** The job names nobody: who may see jobs need not know whose calls were erased. */
export function requestErasure(
  pool: pg.Pool,
  accountId: number,
  target: ErasureTarget,
  asked: { readonly by: string; readonly isDryRun: boolean },
): Promise<{ readonly id: number; readonly jobId: number }> {
  const [key, text] = target.kind === 'run' ? [null, target.traceId] : [target.key.toLowerCase(), target.value];
  const hash = createHash('sha256').update(text).digest();
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ id: number }>(
      `insert into erasures (account_id, kind, key, target, target_hash, is_dry_run, asked_by)
       values ($1, $2, $3, $4, $5, $6, $7) returning id`,
      [accountId, target.kind, key, text, hash, asked.isDryRun, asked.by],
    );
    const id = rows[0]?.id;
    if (id === undefined) throw new Error('the erasure was not stored');
    const what = target.kind === 'run' ? 'one run' : 'the calls with a value of one metadata key';
    const jobId = await insertJob(client, {
      accountId,
      kind: ERASE_KIND,
      subject: `erasure:${id}`,
      title: asked.isDryRun ? `Dry run: erase ${what}` : `Erase ${what}`,
      unit: 'calls',
      input: { erasure_id: id, dry_run: asked.isDryRun },
    });
    await client.query('update erasures set job_id = $3 where account_id = $1 and id = $2', [accountId, id, jobId]);
    if (!asked.isDryRun)
      await noteChange(client, {
        accountId,
        action: 'erasure.request',
        subject: { kind: 'erasure', id },
        after: { kind: target.kind, key, target: `sha256:${hash.toString('hex')}` },
      });
    return { id, jobId };
  });
}

/** The newest first, at most 500. */
export async function listErasures(pool: pg.Pool, accountId: number): Promise<readonly Erasure[]> {
  const { rows } = await pool.query<Erasure>(
    `select ${COLUMNS} from erasures where account_id = $1 order by id desc limit 500`,
    [accountId],
  );
  return rows;
}

export async function readErasure(client: pg.ClientBase, accountId: number, id: number): Promise<Erasure | null> {
  const { rows } = await client.query<Erasure>(`select ${COLUMNS} from erasures where account_id = $1 and id = $2`, [
    accountId,
    id,
  ]);
  return rows[0] ?? null;
}

export async function noteErased(
  client: pg.ClientBase,
  accountId: number,
  id: number,
  calls: number,
  isEnd: boolean,
): Promise<void> {
  await client.query(
    `update erasures set calls = $3, ended_at = case when $4 then now() end, target = case when not $4 then target end
     where account_id = $1 and id = $2`,
    [accountId, id, calls, isEnd],
  );
}
