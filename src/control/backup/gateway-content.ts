/** What a gateway has of its own that a restore would remove. */
import type pg from 'pg';
import { BACKUP_TABLES } from './backup-tables.ts';

/** The first start made one key. */
const FIRST_KEYS = 1;
/** The caller waits for the answer, so counting ends here. */
const MAX_COUNTED = 1_000_000;
const FOLLOWING: ReadonlySet<string> = new Set(
  BACKUP_TABLES.filter(({ rows }) => rows === 'roll-ups').map(({ name }) => name),
);

/** Phrases such as "calls (1204)"; empty for a new gateway. */
export async function listGatewayContent(client: pg.ClientBase | pg.Pool): Promise<readonly string[]> {
  const counted = BACKUP_TABLES.filter(({ name, kind }) => kind !== 'kept' && !FOLLOWING.has(name));
  const { rows } = await client.query<{ name: string; count: number }>(
    [
      ...counted.map(
        ({ name }) =>
          `select '${name}' as name, count(*)::float8 as count from (select from ${name} limit ${MAX_COUNTED + 1}) c`,
      ),
      `select 'gateway_keys', greatest(count(*) - ${FIRST_KEYS}, 0)::float8 from gateway_keys`,
    ].join(' union all '),
  );
  return rows
    .filter(({ count }) => count > 0)
    .map(({ name, count }) => {
      const words = BACKUP_TABLES.find((table) => table.name === name)?.rows ?? name;
      return `${words} (${count > MAX_COUNTED ? `over ${MAX_COUNTED}` : count})`;
    });
}
