/** How many calls of an account have a key, by the counts of each hour: at once, whatever the size of the log. */
import type pg from 'pg';

export async function countCalls(client: pg.ClientBase, accountId: number, keyLower: string): Promise<number> {
  const { rows } = await client.query<{ calls: number }>(
    `select coalesce(sum(calls), 0)::int8 as calls from llm_metadata_hourly
     where account_id = $1 and key <> '' and lower(key collate "C") = $2`,
    [accountId, keyLower],
  );
  return rows[0]?.calls ?? 0;
}
