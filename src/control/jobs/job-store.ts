/** The table of jobs: requesting, reading, cancelling and resuming. */
import type pg from 'pg';
import type { JsonObject } from '../../vocabulary/token-usage.ts';
import { readAuthor } from '../audit/author.ts';
import { noteChange } from '../audit/note-change.ts';
import type { Job } from './job.ts';

export interface NewJob {
  readonly accountId: number;
  readonly kind: string;
  readonly subject: string | null;
  readonly title: string;
  readonly unit: string;
  readonly input: JsonObject;
}

const COLUMNS = `id, account_id as "accountId", kind, subject, title, input, cursor, phase, done, total, unit,
  rate_per_second as "ratePerSecond", state, failures, error, result, created_at as "createdAt",
  started_at as "startedAt", finished_at as "finishedAt", heartbeat_at as "heartbeatAt"`;

type Client = pg.ClientBase | pg.Pool;

/** Call it in the transaction that changes the job's subject. Rejects when the subject has a job under way. */
export async function insertJob(client: pg.ClientBase, job: NewJob): Promise<number> {
  const { rows } = await client.query<{ id: number }>(
    `insert into jobs (account_id, kind, subject, title, unit, input, phase)
     values ($1, $2, $3, $4, $5, $6, 'queued') returning id`,
    [job.accountId, job.kind, job.subject, job.title, job.unit, JSON.stringify(job.input)],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the job was not inserted');
  await noteJob(client, job.accountId, 'job.request', row.id, { kind: job.kind, title: job.title, input: job.input });
  return row.id;
}

/** What the gateway starts by itself is no news. */
async function noteJob(
  client: pg.ClientBase,
  accountId: number,
  action: string,
  id: number,
  after: object,
): Promise<void> {
  if (readAuthor().kind === 'process') return;
  await noteChange(client, { accountId, action, subject: { kind: 'job', id }, after });
}

export async function readJob(client: Client, accountId: number, id: number): Promise<Job | null> {
  const { rows } = await client.query<Job>(`select ${COLUMNS} from jobs where account_id = $1 and id = $2`, [
    accountId,
    id,
  ]);
  return rows[0] ?? null;
}

export async function listJobs(
  client: Client,
  accountId: number,
  before: number | null,
  limit: number,
  leftOut: readonly string[] = [],
): Promise<readonly Job[]> {
  const { rows } = await client.query<Job>(
    `select ${COLUMNS} from jobs where account_id = $1 and ($2::int8 is null or id < $2) and kind <> all($4)
     order by id desc limit $3`,
    [accountId, before, limit, leftOut],
  );
  return rows;
}

/** Returns the subject's active job, locked against chunks until the transaction ends, or null. */
export async function lockActiveJob(client: pg.ClientBase, accountId: number, subject: string): Promise<Job | null> {
  const { rows } = await client.query<Job>(
    `select ${COLUMNS} from jobs where account_id = $1 and subject = $2 and state in ('queued', 'running') for update`,
    [accountId, subject],
  );
  return rows[0] ?? null;
}

/** Stops after the current chunk, whose work stays. Returns null for an unknown job; ended ones stay as they are. */
export async function cancelJob(client: pg.ClientBase, accountId: number, id: number): Promise<Job | null> {
  const { rowCount } = await client.query(
    `update jobs set state = 'cancelled', finished_at = now(), rate_per_second = null, error = null
     where account_id = $1 and id = $2 and state in ('queued', 'running')`,
    [accountId, id],
  );
  const job = await readJob(client, accountId, id);
  if (rowCount === 1 && job !== null) await noteJob(client, accountId, 'job.cancel', id, { title: job.title });
  return job;
}

export type ResumeResult = 'resumed' | 'not_found' | 'not_stopped' | 'superseded';

/** Continues a cancelled or failed job, unless its subject has had a later one. */
export async function resumeJob(client: pg.ClientBase, accountId: number, id: number): Promise<ResumeResult> {
  const { rowCount } = await client.query(
    `update jobs j set state = 'queued', finished_at = null, error = null, failures = 0, heartbeat_at = now()
     where account_id = $1 and id = $2 and state in ('cancelled', 'failed')
       and not exists (select from jobs l where l.account_id = j.account_id and l.subject = j.subject and l.id > j.id)`,
    [accountId, id],
  );
  const job = await readJob(client, accountId, id);
  if (job === null) return 'not_found';
  if (rowCount === 1) {
    await noteJob(client, accountId, 'job.resume', id, { title: job.title });
    return 'resumed';
  }
  return job.state === 'cancelled' || job.state === 'failed' ? 'superseded' : 'not_stopped';
}

/** Jobs with a chunk to do, the oldest first. */
export async function listActiveJobs(client: Client, limit: number): Promise<readonly { id: number; kind: string }[]> {
  const { rows } = await client.query<{ id: number; kind: string }>(
    `select id, kind from jobs where state in ('queued', 'running') order by id limit $1`,
    [limit],
  );
  return rows;
}

/** Call it in a chunk's transaction. Returns the job, safe from cancelling meanwhile, or null when it was cancelled. */
export async function lockJob(client: pg.ClientBase, id: number): Promise<Job | null> {
  const { rows } = await client.query<Job>(
    `select ${COLUMNS} from jobs where id = $1 and state in ('queued', 'running') for update`,
    [id],
  );
  return rows[0] ?? null;
}
