/** Promotes a key of a running gateway, kills its control process in the middle, and watches the job to its end. */
import { asRecord, type TestGateway, waitUntil } from '../../test/gateway/start-gateway.ts';

/** Where in the work the control process is killed. */
const KILL_AT_SHARE = 0.4;
const READY_LIMIT_MS = 60_000;

export interface Promotion {
  readonly rows: number;
  readonly durationMs: number;
  /** Of the killed process, when it was killed. */
  readonly doneAtKill: number;
  /** From the kill until the job was further than before. */
  readonly resumedAfterMs: number;
}

interface JobState {
  readonly state: string;
  readonly done: number;
  readonly total: number | null;
}

export async function promoteAndKill(
  gateway: TestGateway,
  key: string,
  limitMs: number,
  say: (text: string) => void,
): Promise<Promotion> {
  const startedMs = performance.now();
  const started = asRecord(await gateway.api(`/api/v1/metadata-keys/${key}/promote`, { method: 'POST', body: '{}' }));
  const id = Number(started['job_id']);
  const before = await waitUntil(
    'the job is in the middle',
    async () => {
      const job = await readJob(gateway, id);
      if (job === null) return undefined;
      if (job.state === 'done') throw new Error('the job was done before it could be killed; take more rows');
      return job.total !== null && job.done >= job.total * KILL_AT_SHARE ? job : undefined;
    },
    limitMs,
  );
  const control = (await gateway.processes()).find(({ role }) => role === 'control');
  if (control?.pid == null) throw new Error('no control process');
  const killedMs = performance.now();
  process.kill(control.pid, 'SIGKILL');
  say(`killed the control process (pid ${control.pid}) after ${before.done} of ${before.total} rows`);
  const resumedAfterMs = await waitUntil(
    'the job goes on',
    async () => (((await readJob(gateway, id))?.done ?? 0) > before.done ? performance.now() - killedMs : undefined),
    READY_LIMIT_MS,
  );
  const end = await waitUntil(
    'the job is done',
    async () => {
      const job = await readJob(gateway, id);
      if (job?.state === 'failed') throw new Error('the job failed');
      return job?.state === 'done' ? job : undefined;
    },
    limitMs,
  );
  return { rows: end.done, durationMs: performance.now() - startedMs, doneAtKill: before.done, resumedAfterMs };
}

/** Null while the control process is away. */
async function readJob(gateway: TestGateway, id: number): Promise<JobState | null> {
  const answer = await gateway.api(`/api/v1/jobs/${id}`).catch(() => null);
  if (answer === null) return null;
  const { state, done, total } = asRecord(answer);
  return { state: String(state), done: Number(done), total: total === null ? null : Number(total) };
}
