/** Applies the retention of accounts that keep less than the gateway, by the database's clock; one node at a time. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type BodyCut, CUT_AT_A_TIME, cutAccountBodies, cutAccountCalls } from '../log/cut-account.ts';
import { type AccountRetention, listAccountRetention, noteBodiesSwept } from '../store/account-retention.ts';
import type { ReadTime } from '../store/database-clock.ts';
import { DEADLOCK, errorCode, LOCK_NOT_AVAILABLE } from '../store/database-error.ts';
import { DAY_MS, dayOf, readOldestDay } from '../store/partitions.ts';
import { inTransaction } from '../store/pool.ts';
import { RETENTION_LOCK, type RetentionLimits } from '../store/retention.ts';

/** Between chunks, for batches that waited. */
const PAUSE_MS = 50;

export interface AccountSweepOptions {
  readonly pool: pg.Pool;
  /** Of the gateway; no account keeps more. */
  readonly limits: RetentionLimits;
  /** The database's clock except in tests, read again in each transaction. */
  readonly readTime: ReadTime;
}

export interface AccountSweep {
  readonly calls: number;
  readonly bodies: number;
}

/** Throws `LOCK_NOT_AVAILABLE` or a deadlock as any transaction; what is done stays done. */
export async function sweepAccounts(options: AccountSweepOptions): Promise<AccountSweep> {
  const { pool, limits } = options;
  let [calls, bodies] = [0, 0];
  try {
    for (const account of await listAccountRetention(pool)) {
      const rowsDays = Math.min(account.rowsDays ?? limits.rowsDays, limits.rowsDays);
      const bodiesDays = Math.min(account.bodiesDays ?? limits.bodiesDays, limits.bodiesDays, rowsDays);
      if (bodiesDays < Math.min(limits.bodiesDays, limits.rowsDays))
        bodies += await sweepBodies(options, account, bodiesDays);
      if (rowsDays < limits.rowsDays) calls += await sweepCalls(options, account, rowsDays);
    }
  } catch (error) {
    if (!(error instanceof InUse)) throw error;
  }
  return { calls, bodies };
}

/** Another node sweeps, or the log is in use: the next time goes on. */
class InUse extends Error {}

/** `work` gets the first instant that is kept: days whose end is past, and which are as old, go whole. */
async function inChunk<T>(
  { pool, readTime }: AccountSweepOptions,
  keptDays: number,
  work: (client: pg.ClientBase, before: Date) => Promise<T>,
): Promise<T> {
  try {
    return await inTransaction(pool, async (client) => {
      const { rows } = await client.query<{ isOurs: boolean }>('select pg_try_advisory_xact_lock($1) as "isOurs"', [
        RETENTION_LOCK,
      ]);
      if (rows[0]?.isOurs !== true) throw new InUse();
      return work(client, new Date(`${dayOf((await readTime(client)) - keptDays * DAY_MS)}T00:00:00Z`));
    });
  } catch (error) {
    if ([LOCK_NOT_AVAILABLE, DEADLOCK].includes(errorCode(error))) throw new InUse();
    throw error;
  }
}

async function sweepCalls(options: AccountSweepOptions, { id }: AccountRetention, keptDays: number): Promise<number> {
  for (let done = 0; ; await sleep(PAUSE_MS)) {
    const cut = await inChunk(options, keptDays, (client, before) => cutAccountCalls(client, id, before));
    done += cut;
    if (cut < CUT_AT_A_TIME) return done;
  }
}

/** Once for each day that becomes too old; records that came late go with the next. */
async function sweepBodies(
  options: AccountSweepOptions,
  { id, bodiesSweptTo }: AccountRetention,
  keptDays: number,
): Promise<number> {
  let after: BodyCut['after'] = null;
  for (let done = 0; ; await sleep(PAUSE_MS)) {
    const cut: BodyCut | null = await inChunk(options, keptDays, async (client, before) => {
      if (bodiesSweptTo !== null && bodiesSweptTo >= before) return null;
      const oldest = await readOldestDay(client, 'llm_bodies');
      const next =
        oldest === null
          ? { after: null, deleted: 0 }
          : await cutAccountBodies(client, id, { from: oldest, to: before }, after);
      if (next.after === null) await noteBodiesSwept(client, id, before);
      return next;
    });
    done += cut?.deleted ?? 0;
    after = cut?.after ?? null;
    if (after === null) return done;
  }
}
