/** The job that removes a key from the calls, when questions from the time of its promotion have ended. */
import type pg from 'pg';
import { z } from 'zod';
import type { Job, JobKind, Progress } from '../jobs/job.ts';
import { STRIP_DELAY_MS } from '../log/promoted-keys.ts';
import { waitForBatches } from '../store/ingest-lock.ts';
import { countCalls } from './count-calls.ts';
import { DEMOTE_KIND, type MetadataKeyRow, readMetadataKey } from './key-store.ts';
import { MAX_ROWS, WALK_START, type Walk, WalkCursor, walkCalls } from './walk-calls.ts';

const Input = z.object({ key: z.string(), was_promoted: z.boolean() });
const Cursor = z.discriminatedUnion('step', [
  z.object({ step: z.literal('settle'), until: z.string() }),
  z.object({ step: z.literal('walk'), walk: WalkCursor }),
  z.object({ step: z.literal('facets'), walk: WalkCursor, facets: z.number().int() }),
]);

const SETTLE_PAUSE_MS = 1_000;
const FACETS_A_CHUNK = 5_000;

const DEMOTE: Walk = {
  value: 'case when $2::text is not null then r.indexed_metadata ->> $1 end',
  mustChange: 'r.indexed_metadata ? $1::text',
  changed: 'r.indexed_metadata - $1::text',
  sign: -1,
};

export interface DemoteOptions {
  /** The bound on such questions. */
  readonly settleMs?: number;
  readonly maxRows?: number;
}

export function createDemoteKind({ settleMs = STRIP_DELAY_MS, maxRows = MAX_ROWS }: DemoteOptions = {}): JobKind {
  return {
    kind: DEMOTE_KIND,
    runChunk: async (client, job) => {
      const input = Input.parse(job.input);
      const key = await readMetadataKey(client, job.accountId, input.key);
      if (key?.state !== 'demoting' || key.jobId !== job.id)
        throw new Error('the key is not being demoted by this job');
      if (job.cursor === null) return begin(client, job, key, input.was_promoted ? settleMs : 0);
      const cursor = Cursor.parse(job.cursor);
      switch (cursor.step) {
        case 'settle':
          return settle(client, job, cursor.until);
        case 'walk':
          return walk(client, job, key, cursor.walk, maxRows);
        case 'facets':
          return dropFacets(client, job, key, cursor.walk, cursor.facets);
      }
    },
  };
}

/** Waits for batches that still gave the key to calls. The calls with a never promoted key are not counted. */
async function begin(client: pg.ClientBase, job: Job, key: MetadataKeyRow, settleMs: number): Promise<Progress> {
  await waitForBatches(client);
  const isPromotedEverywhere = Input.parse(job.input).was_promoted;
  const total = isPromotedEverywhere ? await countCalls(client, job.accountId, key.keyLower) : null;
  const { rows } = await client.query<{ until: string }>(
    `select (clock_timestamp() + $1 * interval '1 millisecond')::text as until`,
    [settleMs],
  );
  const until = rows[0]?.until ?? '-infinity';
  return {
    phase: 'waiting for questions under way',
    cursor: { step: 'settle', until },
    done: 0,
    total,
    result: null,
    pauseMs: 0,
  };
}

async function settle(client: pg.ClientBase, job: Job, until: string): Promise<Progress> {
  const { rows } = await client.query<{ isOver: boolean }>('select clock_timestamp() >= $1::timestamptz as "isOver"', [
    until,
  ]);
  const same = { done: 0, total: job.total, result: null };
  if (rows[0]?.isOver !== true)
    return { ...same, phase: job.phase, cursor: { step: 'settle', until }, pauseMs: SETTLE_PAUSE_MS };
  return { ...same, phase: 'taking the key out of the calls', cursor: { step: 'walk', walk: WALK_START }, pauseMs: 0 };
}

async function walk(
  client: pg.ClientBase,
  job: Job,
  key: MetadataKeyRow,
  from: WalkCursor,
  maxRows: number,
): Promise<Progress> {
  const { cursor, isEnd } = await walkCalls(client, job, key, DEMOTE, from, maxRows);
  const done = cursor.counted;
  const total = job.total === null ? null : Math.max(done, job.total);
  if (!isEnd) return { phase: job.phase, cursor: { step: 'walk', walk: cursor }, done, total, result: null };
  return {
    phase: 'clearing up',
    cursor: { step: 'facets', walk: cursor, facets: 0 },
    done,
    total: done,
    result: null,
    pauseMs: 0,
  };
}

async function dropFacets(
  client: pg.ClientBase,
  job: Job,
  key: MetadataKeyRow,
  walked: WalkCursor,
  before: number,
): Promise<Progress> {
  const { rowCount } = await client.query(
    `delete from llm_run_facets where ctid = any(array(
       select ctid from llm_run_facets where account_id = $1 and facet = 'metadata.' || $2::text limit $3))`,
    [job.accountId, key.displayKey, FACETS_A_CHUNK],
  );
  const dropped = rowCount ?? 0;
  const facets = before + dropped;
  const progress = { cursor: { step: 'facets', walk: walked, facets }, done: job.done, total: job.total };
  if (dropped === FACETS_A_CHUNK) return { ...progress, phase: job.phase, result: null };
  await client.query('delete from metadata_keys where account_id = $1 and key_lower = $2', [
    job.accountId,
    key.keyLower,
  ]);
  return { ...progress, phase: 'demoted', result: { read: walked.read, changed: walked.changed } };
}
