/** How many calls of an account have a key, by the hourly counts. */
import type pg from 'pg';

export async function countCalls(client: pg.ClientBase, accountId: number, keyLower: string): Promise<number> {
  const { rows } = await client.query<{ calls: number }>(
    `select coalesce(sum(calls), 0)::int8 as calls from llm_metadata_hours
     where account_id = $1 and key <> '' and lower(key collate "C") = $2`,
    [accountId, keyLower],
  );
  return rows[0]?.calls ?? 0;
}

export interface SpellingCount {
  readonly spelling: string;
  readonly calls: number;
  readonly firstHour: Date;
  readonly lastHour: Date;
}

/** Spellings by key in lower case, over whole hours; the empty key counts all calls. */
export async function countSpellings(
  pool: pg.Pool,
  accountId: number,
  from: Date,
  to: Date,
): Promise<ReadonlyMap<string, readonly SpellingCount[]>> {
  const { rows } = await pool.query<SpellingCount & { readonly keyLower: string }>(
    `select lower(key collate "C") as "keyLower", key as spelling,
       coalesce(sum(calls) filter (where hour >= date_trunc('hour', $2::timestamptz, 'UTC') and hour < $3), 0)::int8 as calls,
       min(hour) as "firstHour", max(hour) as "lastHour"
     from llm_metadata_hours where account_id = $1 group by key having sum(calls) > 0`,
    [accountId, from, to],
  );
  const found = new Map<string, SpellingCount[]>();
  for (const { keyLower, ...count } of rows) found.set(keyLower, [...(found.get(keyLower) ?? []), count]);
  return found;
}
