/** What a gateway has of its own that a restore would remove. Reads only. */
import type pg from 'pg';
import { BACKUP_TABLES } from './backup-tables.ts';

/** The one that the first start made. */
const FIRST_KEYS = 1;
/** More are not counted: whoever asks waits for the answer. */
const MAX_COUNTED = 1_000_000;
/** Such as roll-ups: there are none without the others. */
const FOLLOWING: ReadonlySet<string> = new Set(['llm_run_facets', 'llm_metadata_hourly', 'llm_cost_hourly']);

/** In words, such as "calls (1204)"; empty for a gateway that is as its first start left it. */
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
