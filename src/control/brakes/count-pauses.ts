/** How much is paused, and how often brakes hit, in all accounts: for whoever runs the gateway. */
import type pg from 'pg';

export interface BrakeFigures {
  readonly pausedRuns: number;
  readonly pausedKeys: number;
  readonly hitsLastHour: number;
}

export async function countPauses(pool: pg.Pool): Promise<BrakeFigures> {
  const { rows } = await pool.query<BrakeFigures>(
    `select count(*) filter (where scope = 'run' and action = 'pause' and resumed_at is null) as "pausedRuns",
       count(*) filter (where scope = 'key' and action = 'pause' and resumed_at is null) as "pausedKeys",
       count(*) filter (where hit_by is null and hit_at > now() - interval '1 hour') as "hitsLastHour"
     from brake_hits where action = 'pause' and resumed_at is null or hit_at > now() - interval '1 hour'`,
  );
  return rows[0] ?? { pausedRuns: 0, pausedKeys: 0, hitsLastHour: 0 };
}
