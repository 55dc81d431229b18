/** The job that gives a promoted key to older calls; new ones have it from the shipper. */
import type pg from 'pg';
import { z } from 'zod';
import type { Job, JobKind, Progress } from '../jobs/job.ts';
import { waitForBatches } from '../store/ingest-lock.ts';
import { countCalls } from './count-calls.ts';
import { type MetadataKeyRow, PROMOTE_KIND, readMetadataKey } from './key-store.ts';
import { MAX_ROWS, WALK_START, type Walk, WalkCursor, walkCalls } from './walk-calls.ts';

const Input = z.object({ key: z.string() });

const PROMOTE: Walk = {
  value: 'metadata_value(r.raw_metadata, $2)',
  mustChange: 'not r.indexed_metadata ? $1::text',
  changed: 'r.indexed_metadata || jsonb_build_object($1::text, s.value)',
  sign: 1,
};

export interface PromoteOptions {
  readonly maxRows?: number;
}

export function createPromoteKind({ maxRows = MAX_ROWS }: PromoteOptions = {}): JobKind {
  return {
    kind: PROMOTE_KIND,
    runChunk: async (client, job) => {
      const key = await readMetadataKey(client, job.accountId, Input.parse(job.input).key);
      if (key?.state !== 'promoting' || key.jobId !== job.id)
        throw new Error('the key is not being promoted by this job');
      return job.cursor === null
        ? begin(client, job, key)
        : walk(client, job, key, WalkCursor.parse(job.cursor), maxRows);
    },
  };
}

/** Waits for batches from before the promotion, which the walk could miss. */
async function begin(client: pg.ClientBase, job: Job, key: MetadataKeyRow): Promise<Progress> {
  await waitForBatches(client);
  const total = await countCalls(client, job.accountId, key.keyLower);
  return { phase: 'indexing older calls', cursor: WALK_START, done: 0, total, result: null, pauseMs: 0 };
}

async function walk(
  client: pg.ClientBase,
  job: Job,
  key: MetadataKeyRow,
  from: WalkCursor,
  maxRows: number,
): Promise<Progress> {
  const { cursor, isEnd } = await walkCalls(client, job, key, PROMOTE, from, maxRows);
  const done = cursor.counted;
  if (!isEnd)
    // Late calls may have come in meanwhile.
    return { phase: 'indexing older calls', cursor, done, total: Math.max(done, job.total ?? 0), result: null };
  await client.query(
    `update metadata_keys set state = 'promoted', promoted_at = now() where account_id = $1 and key_lower = $2`,
    [job.accountId, key.keyLower],
  );
  return { phase: 'promoted', cursor, done, total: done, result: { read: cursor.read, changed: cursor.changed } };
}
