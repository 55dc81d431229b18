/**
 * The job that makes indexes on the days of the log from before they were introduced: a migration makes an index for days to
 * come only. Each chunk makes one index on one day, the newest day first; late calls of that day wait meanwhile, others do
 * not. Until then a day answers the same questions more slowly.
 */
import type pg from 'pg';
import type { Job, JobKind, Progress } from '../jobs/job.ts';
import { insertJob } from '../jobs/job-store.ts';
import { withAnswerLimit } from '../store/answer-limit.ts';
import { errorCode, UNIQUE_VIOLATION } from '../store/database-error.ts';
import { inTransaction, NETWORK_GRACE_MS } from '../store/pool.ts';

const KIND = 'index_log';
const SUBJECT = 'log-indexes';
const INDEX_LIMIT_MS = 2 * 3_600_000;
/** Writers of the day queue behind us meanwhile; the chunk is tried again. */
const LOCK_LIMIT_MS = 2_000;
/** New calls wait in the spool while a day that is not over gets an index, some seconds at this size. A larger one waits. */
const MAX_CURRENT_DAY_BYTES = 256 * 1024 * 1024;

interface MissingIndex {
  readonly parent: string;
  readonly partition: string;
  /** `USING gin (…)`, as PostgreSQL prints it. */
  readonly method: string;
  readonly is_last_of_day: boolean;
}

const MISSING = `
  select parent.relname as parent, day.relname as partition,
    substring(pg_get_indexdef(i.indexrelid) from ' (USING .*)$') as method,
    row_number() over (partition by day.relname order by parent.relname desc) = 1 as is_last_of_day
  from pg_index i
    join pg_class parent on parent.oid = i.indexrelid
    join pg_inherits h on h.inhparent = i.indrelid
    join pg_class day on day.oid = h.inhrelid
  where i.indrelid = 'llm_requests'::regclass
    and not exists (
      select from pg_inherits made join pg_index own on own.indexrelid = made.inhrelid
      where made.inhparent = i.indexrelid and own.indrelid = day.oid)
    and (pg_relation_size(day.oid) < ${MAX_CURRENT_DAY_BYTES}
      or day.relname < 'llm_requests_p' || to_char(now() at time zone 'UTC', 'YYYYMMDD'))
  order by day.relname desc, parent.relname`;

async function listMissing(client: pg.Pool | pg.ClientBase): Promise<readonly MissingIndex[]> {
  const { rows } = await client.query<MissingIndex>(MISSING);
  return rows;
}

/** Begins the job where a day lacks an index, unless one is under way or somebody has stopped the last one. */
export async function startIndexJob(pool: pg.Pool, accountId: number): Promise<void> {
  if ((await listMissing(pool)).length === 0) return;
  const { rows } = await pool.query<{ state: string }>(
    'select state from jobs where account_id = $1 and subject = $2 order by id desc limit 1',
    [accountId, SUBJECT],
  );
  if (rows[0] !== undefined && rows[0].state !== 'done') return;
  try {
    await inTransaction(pool, (client) =>
      insertJob(client, {
        accountId,
        kind: KIND,
        subject: SUBJECT,
        title: 'Index older calls',
        unit: 'indexes',
        input: {},
      }),
    );
  } catch (error) {
    // Another node was faster.
    if (errorCode(error) !== UNIQUE_VIOLATION) throw error;
  }
}

export function createIndexKind(): JobKind {
  return { kind: KIND, runChunk: makeNext };
}

async function makeNext(client: pg.ClientBase, job: Job): Promise<Progress> {
  const missing = await listMissing(client);
  const [next] = missing;
  if (next === undefined) return { phase: 'indexed', cursor: {}, done: job.done, total: job.done, result: {} };
  await client.query(`set local statement_timeout = ${INDEX_LIMIT_MS}; set local lock_timeout = ${LOCK_LIMIT_MS}`);
  await makeIndex(withAnswerLimit(client, INDEX_LIMIT_MS + NETWORK_GRACE_MS), next);
  const day = next.partition.slice(-8).replace(/(\d{4})(\d\d)(\d\d)/, '$1-$2-$3');
  return {
    phase: `indexed ${day}`,
    cursor: {},
    done: job.done + 1,
    total: job.done + missing.length,
    result: null,
  };
}

/** Names come from the catalog: they are those of our migrations and days. */
async function makeIndex(client: pg.ClientBase, missing: MissingIndex): Promise<void> {
  const { parent, partition, method, is_last_of_day: isLast } = missing;
  const name = parent.replace('llm_requests', partition);
  await client.query(`create index ${name} on ${partition} ${method}`);
  await client.query(`alter index ${parent} attach partition ${name}`);
  // Nothing changes in an old day, so nobody else would gather statistics of the new expressions.
  if (isLast) await client.query(`analyze ${partition}`);
}

/** Of all days together. */
export async function readIndexBytes(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    `select coalesce(sum(pg_relation_size(inhrelid)), 0)::int8 as bytes from pg_inherits
     where inhparent = 'llm_requests_terms'::regclass`,
  );
  return rows[0]?.bytes ?? 0;
}
