/** The job that erases a run's or a user's calls, chunk by chunk; a dry run counts them. */
import { type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import { z } from 'zod';
import { noteChange } from '../audit/note-change.ts';
import type { Job, JobKind, Progress } from '../jobs/job.ts';
import { lockLog } from '../log/lock-log.ts';
import { parseLogFilter } from '../log/log-filter.ts';
import { logConditions } from '../log/log-scope.ts';
import { readPromotedKeys } from '../log/promoted-keys.ts';
import { allOf, compileSql } from '../log/run-sql.ts';
import { forgetIndexedDays } from '../search/forget-indexed-days.ts';
import { waitForBatches } from '../store/ingest-lock.ts';
import { eraseMentions } from './erase-mentions.ts';
import { CREATE_STAGE, eraseStaged, STAGE_COLUMNS } from './erase-staged.ts';
import { ERASE_KIND, type Erasure, noteErased, readErasure } from './erasure-store.ts';

const CALLS_AT_A_TIME = 500;

const Input = z.object({ erasure_id: z.number(), dry_run: z.boolean() });

export function createEraseKind(): JobKind {
  return {
    kind: ERASE_KIND,
    runChunk: async (client, job) => {
      const { erasure_id: id } = Input.parse(job.input);
      const erasure = await readErasure(client, job.accountId, id);
      if (erasure === null || erasure.target === null) return end(job.done, 'nothing is left to do');
      if (erasure.isDryRun) return countOnly(client, job, erasure, erasure.target);
      // Batches that began before anybody asked do not know of it: what they store must be there to be found.
      if (job.cursor === null) return waitOnce(client);
      return eraseNext(client, job, erasure, erasure.target);
    },
  };
}

async function waitOnce(client: pg.ClientBase): Promise<Progress> {
  await waitForBatches(client);
  return { phase: 'erasing', cursor: {}, done: 0, total: null, result: null, pauseMs: 0 };
}

function end(done: number, phase: string): Progress {
  return { phase, cursor: {}, done, total: done, result: { calls: done } };
}

/** A value of a filter: its commas, colons and percent signs are its own. */
function escapeValue(text: string): string {
  return text.replace(/[%,:]/g, (character) => encodeURIComponent(character));
}

async function conditionsOf(client: pg.ClientBase, job: Job, { kind, key, askedAt }: Erasure, target: string) {
  const filter = `${kind === 'run' ? 'trace_id' : `metadata.${key}`}:eq:${escapeValue(target)}`;
  const scope = {
    accountId: job.accountId,
    filters: [parseLogFilter(filter)],
    search: null,
    from: null,
    to: askedAt,
    excludeRuns: false,
  };
  return allOf([
    ...logConditions(scope, await readPromotedKeys(client, job.accountId)),
    sql<SqlBool>`not 'erased' = any(flags)`,
  ]);
}

async function countOnly(client: pg.ClientBase, job: Job, erasure: Erasure, target: string): Promise<Progress> {
  const where = await conditionsOf(client, job, erasure, target);
  const { text, values } = compileSql(sql`select count(*)::int8 as calls from llm_requests where ${where}`);
  const { rows } = await client.query<{ calls: number }>(text, values);
  const calls = rows[0]?.calls ?? 0;
  await noteErased(client, job.accountId, erasure.id, calls, true);
  return end(calls, 'counted');
}

async function eraseNext(client: pg.ClientBase, job: Job, erasure: Erasure, target: string): Promise<Progress> {
  await lockLog(client);
  await client.query(CREATE_STAGE);
  const where = await conditionsOf(client, job, erasure, target);
  const { text, values } = compileSql(
    sql`insert into ${sql.raw(STAGE_COLUMNS)} select id, requested_at from llm_requests where ${where}
      order by requested_at limit ${CALLS_AT_A_TIME} returning requested_at`,
  );
  const { rows } = await client.query<{ requested_at: Date }>(text, values);
  if (rows.length > 0) {
    await eraseStaged(client);
    await forgetIndexedDays(
      client,
      rows.map(({ requested_at }) => requested_at),
    );
  }
  const done = job.done + rows.length;
  const isEnd = rows.length < CALLS_AT_A_TIME;
  if (isEnd) await eraseMentions(client, job.accountId, erasure, target);
  await noteErased(client, job.accountId, erasure.id, done, isEnd);
  if (!isEnd) return { phase: 'erasing', cursor: {}, done, total: null, result: null };
  await noteChange(client, {
    accountId: job.accountId,
    action: 'erasure.end',
    subject: { kind: 'erasure', id: erasure.id },
    after: { calls: done },
  });
  return end(done, 'done');
}
