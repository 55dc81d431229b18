/**
 * Fills an empty log with calls of 30 days. The partition of a day gets its rows before its indexes, which makes ten
 * million a matter of minutes.
 */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { DAY_MS, ensurePartitions } from '../../src/control/store/partitions.ts';
import { inTransaction, keepConnection, withConnection } from '../../src/control/store/pool.ts';
import { shipBodyCalls } from './body-calls.ts';
import { fillRollups, foldAll } from './fill-rollups.ts';
import { ACCOUNTS, insertPlainCalls, KEYS_OF_ACCOUNT, PROMOTED_KEYS, planHours, stageSeed } from './plain-calls.ts';

export const SEED_DAYS = 30;
const BODY_SHARE = 0.02;
const MAX_BODY_CALLS = 200_000;

export interface SeedOptions {
  /** All together. */
  readonly calls: number;
  /** A full hour, up to which the calls reach. */
  readonly untilMs: number;
  readonly days?: number;
  readonly say: (text: string) => void;
}

/** The pool's statements must have time. */
export async function seedLog(pool: pg.Pool, { calls, untilMs, days = SEED_DAYS, say }: SeedOptions): Promise<void> {
  const withBodies = Math.min(Math.round(calls * BODY_SHARE), MAX_BODY_CALLS);
  const plain = calls - withBodies;
  const keyIds = await insertOwners(pool, untilMs - days * DAY_MS);
  const hours = planHours(plain, days, untilMs);
  const startedMs = performance.now();
  let made = 0;
  // Its settings and temporary tables go with it.
  const { client, close } = await keepConnection(pool);
  try {
    await client.query("set synchronous_commit = off; set maintenance_work_mem = '256MB'; set work_mem = '128MB'");
    await stageSeed(client, hours);
    for (const day of [...new Set(hours.map((hour) => hour.day))].sort()) {
      const table = await openDay(client, day);
      made += await insertPlainCalls(client, table, day, { calls: plain, keyIds });
      await closeDay(client, table, day);
      await client.query(`analyze ${table}`);
      await fillRollups(client, table);
      await foldAll(pool);
      say(`${day}: ${made} of ${calls} calls, ${Math.round((performance.now() - startedMs) / 1000)} s`);
    }
  } finally {
    close();
  }
  const [keyId = 1] = keyIds;
  await shipBodyCalls(pool, {
    calls: withBodies,
    keyId,
    fromMs: untilMs - days * DAY_MS,
    untilMs,
    onProgress(shipped) {
      if (shipped % 20_000 === 0 || shipped === withBodies) say(`${shipped} of ${withBodies} calls with bodies`);
    },
  });
  await foldAll(pool);
  say('vacuum and analyze');
  await withConnection(pool, (client) => client.query('vacuum (analyze)'));
}

/** Returns the ids of the keys, those of the first account first. */
async function insertOwners(pool: pg.Pool, createdAtMs: number): Promise<readonly number[]> {
  return inTransaction(pool, async (client) => {
    await client.query(
      `insert into accounts (id, name) select n, 'account ' || n from generate_series(2, $1::int4) n`,
      [ACCOUNTS],
    );
    const ids: number[] = [];
    for (let number = 0; number < ACCOUNTS * KEYS_OF_ACCOUNT; number += 1) {
      const accountId = 1 + Math.floor(number / KEYS_OF_ACCOUNT);
      const { rows } = await client.query<{ id: number }>(
        `insert into gateway_keys (account_id, name, digest, prefix, last4, created_at)
         values ($1, $2, $3, 'tgk_seed', 'seed', $4) returning id`,
        [accountId, `seed ${number}`, createHash('sha256').update(`seed ${number}`).digest(), new Date(createdAtMs)],
      );
      ids.push(...rows.map(({ id }) => id));
    }
    for (const key of PROMOTED_KEYS)
      await client.query(
        `insert into metadata_keys (account_id, key_lower, display_key, state, promoted_at)
         select id, lower($1), $1, 'promoted', $2 from accounts`,
        [key, new Date(createdAtMs)],
      );
    return ids;
  });
}

/** Takes the day's empty partition out, and its indexes off. */
async function openDay(client: pg.ClientBase, day: string): Promise<string> {
  const table = `llm_requests_p${day.replaceAll('-', '')}`;
  await client.query('begin');
  await ensurePartitions(client, [day]);
  await client.query('commit');
  const { rows } = await client.query<{ name: string; constraint_name: string | null }>(
    `select c.relname as name, k.conname as constraint_name
     from pg_index i join pg_inherits h on h.inhrelid = i.indexrelid join pg_class c on c.oid = i.indexrelid
     left join pg_constraint k on k.conindid = i.indexrelid and k.contype in ('p', 'u')
     where i.indrelid = $1::regclass`,
    [table],
  );
  await client.query(`alter table llm_requests detach partition ${table}`);
  for (const { name, constraint_name } of rows)
    await client.query(
      constraint_name === null ? `drop index ${name}` : `alter table ${table} drop constraint ${constraint_name}`,
    );
  return table;
}

/** Attaching builds the indexes. */
async function closeDay(client: pg.ClientBase, table: string, day: string): Promise<void> {
  const next = new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
  await client.query(
    `alter table llm_requests attach partition ${table} for values from ('${day} 00:00:00+00') to ('${next} 00:00:00+00')`,
  );
}
