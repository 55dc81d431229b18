/** Retention as it is at a chosen moment: the days of the tests' calls are long past, or to come, by the real clock. */
import type pg from 'pg';
import { cutRollups } from '../../src/control/log/cut-rollups.ts';
import { applyRetention, type RetentionOptions, type RetentionResult } from '../../src/control/store/retention.ts';

const UNDEFINED_TABLE = '42P01';

/** The calls were stored when their days were new, which is not what the database saw. Another sweep may drop a day meanwhile. */
async function forgetLateness(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    "select relname as name from pg_class where obj_description(oid, 'pg_class') like 'made late at %'",
  );
  for (const { name } of rows) {
    await pool.query(`comment on table ${name} is null`).catch((error: { code?: string }) => {
      if (error.code !== UNDEFINED_TABLE) throw error;
    });
  }
}

export async function sweepAt(
  nowMs: number,
  options: Omit<RetentionOptions, 'readTime' | 'cutRollups'> & Partial<Pick<RetentionOptions, 'cutRollups'>>,
): Promise<RetentionResult> {
  await forgetLateness(options.pool);
  return applyRetention({ cutRollups, ...options, readTime: async () => nowMs });
}
