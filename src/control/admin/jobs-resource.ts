/** Jobs over HTTP: progress, cancelling and resuming. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type pg from 'pg';
import { explainWait, isKeptWaiting } from '../jobs/explain-wait.ts';
import type { Job } from '../jobs/job.ts';
import { cancelJob, listJobs, readJob, resumeJob } from '../jobs/job-store.ts';
import { OPERATOR_JOBS } from '../store/operator-jobs.ts';
import { inTransaction } from '../store/pool.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { accountOf, isOperator } from './principal.ts';
import { COMMON_ERRORS, CursorParameter, errorAnswer, jsonAnswer, limitParameter, listOf, Time } from './schemas.ts';

const STALLED_MS = 30_000;

export const JobBody = z
  .object({
    id: z.number().int(),
    kind: z.string().describe('promote_metadata, demote_metadata, reprice, …'),
    title: z.string(),
    input: z
      .record(z.string(), z.unknown())
      .describe('What was asked for, in the form of its kind: filters, a reason, a key'),
    phase: z.string().describe('What it is doing, in words'),
    done: z.number().int(),
    total: z.number().int().nullable().describe('Null when nobody knows'),
    unit: z.string().describe('What `done` and `total` count'),
    rate_per_second: z.number().nullable().describe('Lately; null until that is known'),
    eta_seconds: z.number().nullable().describe('By that rate'),
    state: z
      .enum(['queued', 'running', 'paused', 'cancelling', 'cancelled', 'done', 'failed', 'stalled'])
      .describe('`stalled`: under way, and no sign of life for 30 seconds'),
    error: z.string().nullable().describe('Why it failed, or what it waits for'),
    created_at: Time,
    started_at: Time.nullable(),
    finished_at: Time.nullable(),
    heartbeat_at: Time,
    result: z.record(z.string(), z.unknown()).nullable().describe('What came out; null until it is done'),
  })
  .openapi('Job');
export type JobBody = z.infer<typeof JobBody>;

/** A job that waits has its reason in `error`. */
async function formatJobs(pool: pg.Pool, jobs: readonly Job[], nowMs: number): Promise<JobBody[]> {
  const isWaiting = (job: Job) => isKeptWaiting(job, nowMs);
  const reason = jobs.some(isWaiting) ? await explainWait(pool) : null;
  return jobs.map((job) => formatJob(isWaiting(job) ? { ...job, error: reason } : job, nowMs));
}

function formatJob(job: Job, nowMs: number): JobBody {
  const isActive = job.state === 'queued' || job.state === 'running';
  const isStalled = isActive && nowMs - job.heartbeatAt.getTime() > STALLED_MS;
  const rate = isActive && !isStalled ? job.ratePerSecond : null;
  const eta = rate === null || rate <= 0 || job.total === null ? null : Math.max(0, job.total - job.done) / rate;
  return {
    id: job.id,
    kind: job.kind,
    title: job.title,
    input: { ...job.input },
    phase: job.phase,
    done: job.done,
    total: job.total,
    unit: job.unit,
    rate_per_second: rate === null ? null : Math.round(rate * 10) / 10,
    eta_seconds: eta === null ? null : Math.ceil(eta),
    state: isStalled ? 'stalled' : job.state,
    error: job.error,
    created_at: job.createdAt.toISOString(),
    started_at: job.startedAt?.toISOString() ?? null,
    finished_at: job.finishedAt?.toISOString() ?? null,
    heartbeat_at: job.heartbeatAt.toISOString(),
    result: job.result === null ? null : { ...job.result },
  };
}

const IdParameter = z.object({ id: z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER) });
const ListQuery = z.strictObject({ cursor: CursorParameter, limit: limitParameter(500, 50) });
const QUESTION = 'jobs';

const NOT_FOUND = new ApiError(404, 'job_not_found', 'There is no job with this id.');

export const jobsRoute = createRoute({
  method: 'get',
  path: '/api/v1/jobs',
  summary: 'Long work, the newest first',
  request: { query: ListQuery },
  responses: { 200: jsonAnswer(listOf(JobBody), 'A page of jobs'), ...COMMON_ERRORS },
});

export const jobRoute = createRoute({
  method: 'get',
  path: '/api/v1/jobs/{id}',
  summary: 'One job',
  request: { params: IdParameter },
  responses: { 200: jsonAnswer(JobBody, 'How far it is'), 404: errorAnswer('No such job'), ...COMMON_ERRORS },
});

function hiddenFrom(c: Context): readonly string[] {
  return isOperator(c) ? [] : OPERATOR_JOBS;
}

async function readVisible(c: Context, pool: pg.Pool, id: number): Promise<Job | null> {
  const job = await readJob(pool, accountOf(c), id);
  return job !== null && hiddenFrom(c).includes(job.kind) ? null : job;
}

function addReadRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(jobsRoute, async (c) => {
    const { cursor, limit } = c.req.valid('query');
    const before = cursor === undefined ? null : decodeCursor(cursor, QUESTION, z.number().int());
    const pool = requireDatabase(deps);
    const jobs = await listJobs(pool, accountOf(c), before, limit + 1, hiddenFrom(c));
    const page = jobs.slice(0, limit);
    const last = jobs.length > limit ? page.at(-1) : undefined;
    return c.json(
      {
        data: await formatJobs(pool, page, deps.nowMs()),
        next_cursor: last === undefined ? null : encodeCursor(QUESTION, last.id),
      },
      200,
    );
  });

  app.openapi(jobRoute, async (c) => {
    const pool = requireDatabase(deps);
    const job = await readVisible(c, pool, c.req.valid('param').id);
    if (job === null) throw NOT_FOUND;
    const nowMs = deps.nowMs();
    const [formatted = formatJob(job, nowMs)] = await formatJobs(pool, [job], nowMs);
    return c.json(formatted, 200);
  });
}

export const cancelJobRoute = createRoute({
  method: 'post',
  path: '/api/v1/jobs/{id}/cancel',
  summary: 'Stop a job after the chunk under way; what it has done stays, and it can be resumed',
  request: { params: IdParameter },
  responses: {
    200: jsonAnswer(JobBody, 'The job, stopped; one that had ended is as it was'),
    404: errorAnswer('No such job'),
    ...COMMON_ERRORS,
  },
});

export const resumeJobRoute = createRoute({
  method: 'post',
  path: '/api/v1/jobs/{id}/resume',
  summary: 'Go on where a cancelled or failed job stopped',
  request: { params: IdParameter },
  responses: {
    200: jsonAnswer(JobBody, 'The job, under way again'),
    404: errorAnswer('No such job'),
    409: errorAnswer('It is not stopped, or a later job was about the same'),
    ...COMMON_ERRORS,
  },
});

export function addJobRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  addReadRoutes(app, deps);

  app.openapi(cancelJobRoute, async (c) => {
    const pool = requireDatabase(deps);
    const { id } = c.req.valid('param');
    if ((await readVisible(c, pool, id)) === null) throw NOT_FOUND;
    const job = await inTransaction(pool, (client) => cancelJob(client, accountOf(c), id));
    if (job === null) throw NOT_FOUND;
    return c.json(formatJob(job, deps.nowMs()), 200);
  });

  app.openapi(resumeJobRoute, async (c) => {
    const pool = requireDatabase(deps);
    const { id } = c.req.valid('param');
    if ((await readVisible(c, pool, id)) === null) throw NOT_FOUND;
    const result = await inTransaction(pool, (client) => resumeJob(client, accountOf(c), id));
    if (result === 'not_stopped')
      throw new ApiError(409, 'job_not_stopped', 'Only a job that was cancelled or has failed can be resumed.');
    if (result === 'superseded')
      throw new ApiError(409, 'job_superseded', 'A later job was about the same; this one cannot go on.');
    const job = await readJob(pool, accountOf(c), id);
    if (job === null) throw NOT_FOUND;
    return c.json(formatJob(job, deps.nowMs()), 200);
  });
}
