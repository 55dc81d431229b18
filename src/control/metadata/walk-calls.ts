/** One chunk of a walk over an account's calls, the newest first, that changes them and their roll-ups. */
import type pg from 'pg';
import { z } from 'zod';
import { chunkRows, nextChunkRows } from '../jobs/chunk-rows.ts';
import type { Job } from '../jobs/job.ts';
import { CREATE_CHANGED_CALLS, changedColumns, changeRollups, insertChanged } from './changed-calls.ts';

const FIRST_ROWS = 2_000;
export const MAX_ROWS = 20_000;

/** Times are PostgreSQL's text, so that nothing is rounded. */
export const WalkCursor = z.object({
  requestedAt: z.string(),
  id: z.uuid(),
  rows: z.number().int(),
  read: z.number().int(),
  counted: z.number().int(),
  changed: z.number().int(),
});
export type WalkCursor = Readonly<z.infer<typeof WalkCursor>>;

/** Precedes the newest call, also with a clock that is ahead. */
export const WALK_START: WalkCursor = {
  requestedAt: 'infinity',
  id: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  rows: FIRST_ROWS,
  read: 0,
  counted: 0,
  changed: 0,
};

/** SQL with `$1` as the display key and `$2` as the key in lower case, of the call `r`. */
export interface Walk {
  /** The key's value in a call that counts as progress, else null. */
  readonly value: string;
  /** Without `$2`. */
  readonly mustChange: string;
  /** The new `indexed_metadata`; `s.value` is the key's value. */
  readonly changed: string;
  readonly sign: 1 | -1;
}

export interface WalkedChunk {
  readonly cursor: WalkCursor;
  readonly isEnd: boolean;
}

const STAGE = 'metadata_staged_calls';
const CREATE_STAGE = `
  create temp table if not exists ${STAGE} (id uuid, requested_at timestamptz(3), value text) on commit delete rows`;

interface ReadResult {
  readonly read: number;
  readonly counted: number;
  readonly staged: number;
  readonly last_requested_at: string | null;
  readonly first_requested_at: string | null;
  readonly last_id: string | null;
}

function readStatement({ value, mustChange }: Walk): string {
  return `
    with read as materialized (
      select id, requested_at, ${value} as value, ${mustChange} as must_change
      from llm_requests r
      where account_id = $3 and requested_at <= $4::timestamptz and (requested_at, id) < ($4::timestamptz, $5::uuid)
      order by requested_at desc, id desc limit $6
    ), staged as (
      insert into ${STAGE} (id, requested_at, value)
      select id, requested_at, value from read where value is not null and must_change
      returning 1
    )
    select count(*) as read, count(value) as counted, (select count(*) from staged) as staged,
      max(requested_at)::text as first_requested_at, min(requested_at)::text as last_requested_at,
      (select id from read order by requested_at, id limit 1) as last_id
    from read`;
}

/**
 * The bounds leave out other days. A call that was stored again since it was read has the key from the shipper already, and
 * is in the sums with it.
 */
function changeStatement({ mustChange, changed, sign }: Walk): string {
  return `
    with changed as (
      update llm_requests r set indexed_metadata = ${changed}
      from ${STAGE} s
      where r.id = s.id and r.requested_at = s.requested_at
        and r.requested_at between $2::timestamptz and $3::timestamptz
        and ${mustChange}
      returning ${changedColumns('$1::text', 's.value')}
    ) ${insertChanged(sign, 'changed')}`;
}

export async function walkCalls(
  client: pg.ClientBase,
  job: Job,
  { keyLower, displayKey }: { readonly keyLower: string; readonly displayKey: string },
  walk: Walk,
  cursor: WalkCursor,
  maxRows: number,
): Promise<WalkedChunk> {
  const startedMs = performance.now();
  const rows = chunkRows(cursor.rows, job.failures, maxRows);
  await client.query(`${CREATE_STAGE}; ${CREATE_CHANGED_CALLS}`);
  // The planner has no statistics of our table and must not read whole days.
  await client.query('set local enable_hashjoin = off; set local enable_mergejoin = off');
  const { rows: results } = await client.query<ReadResult>(readStatement(walk), [
    displayKey,
    keyLower,
    job.accountId,
    cursor.requestedAt,
    cursor.id,
    rows,
  ]);
  const [result] = results;
  if (result === undefined || result.last_requested_at === null || result.last_id === null)
    return { cursor, isEnd: true };
  let changed = 0;
  if (result.staged > 0) {
    await client.query(`analyze ${STAGE}`);
    const { rowCount } = await client.query(changeStatement(walk), [
      displayKey,
      result.last_requested_at,
      result.first_requested_at,
    ]);
    changed = rowCount ?? 0;
    await changeRollups(client, displayKey);
  }
  return {
    isEnd: result.read < rows,
    cursor: {
      requestedAt: result.last_requested_at,
      id: result.last_id,
      rows: nextChunkRows(rows, performance.now() - startedMs, MAX_ROWS),
      read: cursor.read + result.read,
      counted: cursor.counted + result.counted,
      changed: cursor.changed + changed,
    },
  };
}
