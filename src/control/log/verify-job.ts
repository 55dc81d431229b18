/** The job that compares every roll-up with the records, one roll-up in a chunk. It changes only its own progress. */

import type pg from 'pg';
import { z } from 'zod';
import type { Job, JobKind, Progress } from '../jobs/job.ts';
import { insertJob } from '../jobs/job-store.ts';
import { withAnswerLimit } from '../store/answer-limit.ts';
import { errorCode, UNIQUE_VIOLATION } from '../store/database-error.ts';
import { inTransaction, NETWORK_GRACE_MS } from '../store/pool.ts';
import { VERIFY_PARTS, type VerifyPart } from './verify-rollups.ts';

const KIND = 'verify';
const SUBJECT = 'roll-ups';
/** A roll-up over very many calls takes minutes of reading. */
const PART_LIMIT_MS = 30 * 60_000;
/** Further differences are only counted. */
const MAX_SHOWN = 100;
const MAX_ROW_CHARACTERS = 500;

const Found = z.object({
  rollup: z.string(),
  side: z.enum(['records', 'rollup']),
  trace_id: z.string().nullable(),
  row: z.string(),
});

export const VerifyResult = z.object({
  /** At most 1,000 of each roll-up. */
  differences: z.number().int(),
  shown: z.array(Found),
});
export type VerifyResult = z.infer<typeof VerifyResult>;

const VerifyCursor = VerifyResult.extend({ part: z.number().int() });

export function createVerifyKind(): JobKind {
  return { kind: KIND, runChunk };
}

async function runChunk(client: pg.ClientBase, job: Job): Promise<Progress> {
  const before = job.cursor === null ? { part: 0, differences: 0, shown: [] } : VerifyCursor.parse(job.cursor);
  const part = VERIFY_PARTS[before.part];
  const found = part === undefined ? [] : await verifyOne(client, part);
  const shown = [...before.shown, ...found].slice(0, MAX_SHOWN).map((difference) => ({
    rollup: difference.rollup,
    side: difference.side,
    trace_id: difference.trace_id,
    row: difference.row.slice(0, MAX_ROW_CHARACTERS).toWellFormed(),
  }));
  const done = before.part + 1;
  const result = { differences: before.differences + found.length, shown };
  const next = VERIFY_PARTS[done];
  return {
    phase: next === undefined ? 'compared' : `comparing ${next.rollup}`,
    cursor: { ...result, part: done },
    done: Math.min(done, VERIFY_PARTS.length),
    total: VERIFY_PARTS.length,
    result: next === undefined ? result : null,
  };
}

async function verifyOne(client: pg.ClientBase, part: VerifyPart) {
  await client.query(`set local statement_timeout = ${PART_LIMIT_MS}`);
  // The server's own error says more than the driver's, so it comes first.
  return part.find(withAnswerLimit(client, PART_LIMIT_MS + NETWORK_GRACE_MS));
}

/** Returns the id of the new job, or of the one under way. */
export async function requestVerify(pool: pg.Pool, accountId: number): Promise<number> {
  const job = {
    accountId,
    kind: KIND,
    subject: SUBJECT,
    title: 'Compare the roll-ups with the records',
    unit: 'roll-ups',
    input: {},
  };
  const active = await readActive(pool, accountId);
  if (active !== null) return active;
  try {
    return await inTransaction(pool, (client) => insertJob(client, job));
  } catch (error) {
    const theirs = errorCode(error) === UNIQUE_VIOLATION ? await readActive(pool, accountId) : null;
    if (theirs === null) throw error;
    return theirs;
  }
}

async function readActive(pool: pg.Pool, accountId: number): Promise<number | null> {
  const { rows } = await pool.query<{ id: number }>(
    `select id from jobs where account_id = $1 and subject = $2 and state in ('queued', 'running')`,
    [accountId, SUBJECT],
  );
  return rows[0]?.id ?? null;
}
