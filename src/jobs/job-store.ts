/** The table of jobs: asking for one, reading them, cancelling and resuming. What a job does is its kind's. */
import type pg from 'pg';
import type { JsonObject } from '../token-usage.ts';
import type { Job, JobState } from './job.ts';

export interface NewJob {
  readonly accountId: number;
  readonly kind: string;
  readonly subject: string | null;
  readonly title: string;
  readonly unit: string;
  readonly input: JsonObject;
}

interface JobRow {
  readonly id: number;
  readonly account_id: number;
  readonly kind: string;
  readonly subject: string | null;
  readonly title: string;
  readonly input: JsonObject;
  readonly cursor: JsonObject | null;
  readonly phase: string;
  readonly done: number;
  readonly total: number | null;
  readonly unit: string;
  readonly rate_per_second: number | null;
  readonly state: JobState;
  readonly failures: number;
  readonly error: string | null;
  readonly result: JsonObject | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly heartbeat_at: Date;
}

const COLUMNS = `id, account_id, kind, subject, title, input, cursor, phase, done, total, unit, rate_per_second, state,
  failures, error, result, created_at, started_at, finished_at, heartbeat_at`;

function toJob(row: JobRow): Job {
  return {
    id: row.id,
    accountId: row.account_id,
    kind: row.kind,
    subject: row.subject,
    title: row.title,
    input: row.input,
    cursor: row.cursor,
    phase: row.phase,
    done: row.done,
    total: row.total,
    unit: row.unit,
    ratePerSecond: row.rate_per_second,
    state: row.state,
    failures: row.failures,
    error: row.error,
    result: row.result,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    heartbeatAt: row.heartbeat_at,
  };
}

type Client = pg.ClientBase | pg.Pool;

/** Returns its id. In the transaction that changes whatever the job is about. Rejects when its subject has one under way. */
export async function insertJob(client: Client, job: NewJob): Promise<number> {
  const { rows } = await client.query<{ id: number }>(
    `insert into jobs (account_id, kind, subject, title, unit, input, phase)
     values ($1, $2, $3, $4, $5, $6, 'queued') returning id`,
    [job.accountId, job.kind, job.subject, job.title, job.unit, JSON.stringify(job.input)],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the job was not inserted');
  return row.id;
}

export async function readJob(client: Client, accountId: number, id: number): Promise<Job | null> {
  const { rows } = await client.query<JobRow>(`select ${COLUMNS} from jobs where account_id = $1 and id = $2`, [
    accountId,
    id,
  ]);
  return rows[0] === undefined ? null : toJob(rows[0]);
}

/** The newest first. */
export async function listJobs(
  client: Client,
  accountId: number,
  before: number | null,
  limit: number,
): Promise<readonly Job[]> {
  const { rows } = await client.query<JobRow>(
    `select ${COLUMNS} from jobs where account_id = $1 and ($2::int8 is null or id < $2) order by id desc limit $3`,
    [accountId, before, limit],
  );
  return rows.map(toJob);
}

/** The job of the subject that is under way, locked: no chunk of it runs until the transaction ends. Null when none is. */
export async function lockActiveJob(client: pg.ClientBase, accountId: number, subject: string): Promise<Job | null> {
  const { rows } = await client.query<JobRow>(
    `select ${COLUMNS} from jobs where account_id = $1 and subject = $2 and state in ('queued', 'running') for update`,
    [accountId, subject],
  );
  return rows[0] === undefined ? null : toJob(rows[0]);
}

/** After the chunk that runs now. What it has done stays done. Null when there is no such job; one that has ended stays as it is. */
export async function cancelJob(client: Client, accountId: number, id: number): Promise<Job | null> {
  await client.query(
    `update jobs set state = 'cancelled', finished_at = now(), rate_per_second = null, error = null
     where account_id = $1 and id = $2 and state in ('queued', 'running')`,
    [accountId, id],
  );
  return readJob(client, accountId, id);
}

export type ResumeResult = 'resumed' | 'not_found' | 'not_stopped' | 'superseded';

/** Goes on where a cancelled or failed job stopped, unless a later job was about the same. */
export async function resumeJob(client: Client, accountId: number, id: number): Promise<ResumeResult> {
  const { rowCount } = await client.query(
    `update jobs j set state = 'queued', finished_at = null, error = null, failures = 0, heartbeat_at = now()
     where account_id = $1 and id = $2 and state in ('cancelled', 'failed')
       and not exists (select from jobs l where l.account_id = j.account_id and l.subject = j.subject and l.id > j.id)`,
    [accountId, id],
  );
  if (rowCount === 1) return 'resumed';
  const job = await readJob(client, accountId, id);
  if (job === null) return 'not_found';
  return job.state === 'cancelled' || job.state === 'failed' ? 'superseded' : 'not_stopped';
}

/** The jobs that have a chunk to do, the oldest first. */
export async function listActiveJobs(client: Client, limit: number): Promise<readonly { id: number; kind: string }[]> {
  const { rows } = await client.query<{ id: number; kind: string }>(
    `select id, kind from jobs where state in ('queued', 'running') order by id limit $1`,
    [limit],
  );
  return rows;
}

/** In a chunk's transaction: the job, which nobody cancels until that ends. Null when it was cancelled before. */
export async function lockJob(client: pg.ClientBase, id: number): Promise<Job | null> {
  const { rows } = await client.query<JobRow>(
    `select ${COLUMNS} from jobs where id = $1 and state in ('queued', 'running') for update`,
    [id],
  );
  return rows[0] === undefined ? null : toJob(rows[0]);
}
