/** Counts everything again from the records: does the promotion hold, in the calls and in every roll-up? Reads only. */
import type pg from 'pg';
import { verifyRollups } from '../../src/runs/verify-rollups.ts';

export interface Recount {
  readonly calls: number;
  /** Calls that were sent the key in any spelling. */
  readonly withKey: number;
  /** Calls that have it promoted, with the right value. */
  readonly promoted: number;
  /** Between records and roll-ups. */
  readonly differences: number;
}

export async function recount(client: pg.ClientBase, displayKey: string): Promise<Recount> {
  const { rows } = await client.query<{ calls: string; with_key: string; promoted: string }>(
    `select count(*) as calls, count(value) as with_key, count(*) filter (where indexed_metadata ->> $1 = value) as promoted
     from (select metadata_value(raw_metadata, $1) as value, indexed_metadata from llm_requests offset 0) c`,
    [displayKey],
  );
  const [row] = rows;
  return {
    calls: Number(row?.calls),
    withKey: Number(row?.with_key),
    promoted: Number(row?.promoted),
    differences: (await verifyRollups(client)).length,
  };
}
