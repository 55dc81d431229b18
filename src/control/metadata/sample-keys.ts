/** The values of metadata keys in the latest calls of a time range. */
import type pg from 'pg';
import { MAX_VALUE_CHARACTERS } from '../log/run-aggregate.ts';

export const SAMPLED_CALLS = 4_000;
const EXAMPLES = 5;

export interface KeySample {
  readonly calls: number;
  readonly distinctValues: number;
  readonly examples: readonly { readonly value: string; readonly calls: number }[];
  readonly averageLength: number;
  readonly lastSeen: Date;
  /** Calls whose value looks like an e-mail address. */
  readonly personalCalls: number;
}

interface ValueRow {
  readonly key_lower: string | null;
  readonly value: string;
  readonly calls: number;
  readonly key_calls: number;
  readonly distinct_values: number;
  readonly characters: number;
  readonly last_seen: Date;
  readonly personal_calls: number;
  readonly sampled: number;
}

/** Each call has one value of a key, by `metadata_value`; each example is a row. */
const SAMPLE = `
  with latest as materialized (
    select id, requested_at, raw_metadata from llm_requests
    where account_id = $1 and requested_at >= date_trunc('hour', $2::timestamptz, 'UTC') and requested_at < $3
    order by requested_at desc, id desc limit ${SAMPLED_CALLS}
  ), held as (
    select lower(k.key collate "C") as key_lower, l.requested_at, string_agg(k.value, ', ' order by k.key collate "C") as value
    from latest l cross join lateral jsonb_each_text(l.raw_metadata) k
    group by l.id, l.requested_at, 1
  ), grouped as (
    select key_lower, left(value, ${MAX_VALUE_CHARACTERS}) as value, count(*) as calls, sum(length(value)) as characters,
      max(requested_at) as last_seen, count(*) filter (where value ~ '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$') as personal_calls
    from held group by 1, 2
  ), ranked as (
    select key_lower, value, calls,
      row_number() over (partition by key_lower order by calls desc, value collate "C") as place,
      count(*) over of_key as distinct_values, sum(calls) over of_key as key_calls,
      sum(characters) over of_key as characters, max(last_seen) over of_key as last_seen,
      sum(personal_calls) over of_key as personal_calls
    from grouped window of_key as (partition by key_lower)
  )
  select key_lower, value, calls::int8, key_calls::int8, distinct_values::int8, characters::int8, last_seen,
    personal_calls::int8, sampled
  from (select count(*) as sampled from latest) s left join ranked on place <= ${EXAMPLES}
  order by key_lower, place`;

/** Keyed by key in lower case. */
export async function sampleKeys(
  pool: pg.Pool,
  accountId: number,
  from: Date,
  to: Date,
): Promise<{ readonly calls: number; readonly keys: ReadonlyMap<string, KeySample> }> {
  const { rows } = await pool.query<ValueRow>(SAMPLE, [accountId, from, to]);
  const keys = new Map<string, KeySample>();
  for (const row of rows) {
    if (row.key_lower === null) continue;
    keys.set(row.key_lower, {
      calls: row.key_calls,
      distinctValues: row.distinct_values,
      examples: [...(keys.get(row.key_lower)?.examples ?? []), { value: row.value, calls: row.calls }],
      averageLength: Math.round(row.characters / row.key_calls),
      lastSeen: row.last_seen,
      personalCalls: row.personal_calls,
    });
  }
  return { calls: rows[0]?.sampled ?? 0, keys };
}
