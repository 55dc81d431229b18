/** What a gateway does besides its calls, each as an operator would ask for it, over the seeded log. */
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { z } from 'zod';
import { readAdminFile } from '../../test/gateway/start-gateway.ts';
import type { Stage } from '../queries/stage.ts';

export interface Disturbance {
  readonly name: string;
  /** Resolves when the work is done, or soon after the signal; with a remark on what was done. */
  readonly run: (stage: Stage, signal: AbortSignal) => Promise<string>;
  /** It has no end of its own: it goes on until the signal. */
  readonly isEndless?: true;
  /** Puts things back as they were, so that the next run finds the same log. */
  readonly undo?: (stage: Stage) => Promise<void>;
}

const JOB_POLL_MS = 500;
const CHECKPOINT_EVERY_MS = 3_000;
/** A key of the seeded log with few values, that is not promoted. */
const METADATA_KEY = 'Feature';
/** What a dashboard asks when somebody opens Logs, Runs and Costs over the whole log. */
function listPages({ fromMs, untilMs }: Stage): readonly string[] {
  const window = `from=${new Date(fromMs).toISOString()}&to=${new Date(untilMs).toISOString()}`;
  return [
    '/api/v1/logs?limit=50',
    `/api/v1/logs?limit=50&f=${encodeURIComponent('metadata.feature:eq:search')}`,
    '/api/v1/logs?limit=50&sort=-total_cost',
    `/api/v1/logs/summary?${window}`,
    '/api/v1/runs?limit=50',
    `/api/v1/costs?group_by=model&${window}`,
  ];
}

const Job = z.object({ state: z.string(), done: z.number(), error: z.string().nullish() });
const Started = z.object({ job_id: z.number() });

async function runJob(stage: Stage, path: string, body: object, signal: AbortSignal): Promise<string> {
  const answer = await stage.gateway.api(path, { method: 'POST', body: JSON.stringify(body) });
  const { job_id: id } = Started.parse(answer);
  for (;;) {
    const job = Job.parse(await stage.gateway.api(`/api/v1/jobs/${id}`));
    if (job.state === 'done') return `${job.done} calls`;
    if (job.state !== 'queued' && job.state !== 'running') throw new Error(`job ${job.state}: ${job.error ?? ''}`);
    if (signal.aborted) {
      await stage.gateway.api(`/api/v1/jobs/${id}/cancel`, { method: 'POST' });
      return `cancelled after ${job.done} calls`;
    }
    await sleep(JOB_POLL_MS);
  }
}

/** Reads an answer to its end and keeps none of it. */
async function download(stage: Stage, path: string, signal: AbortSignal): Promise<string> {
  const { adminBase, dataDir } = stage.gateway;
  let bytes = 0;
  try {
    const { statusCode, body } = await request(`${adminBase}${path}`, {
      headers: { authorization: `Bearer ${readAdminFile(dataDir).token}` },
      headersTimeout: 0,
      bodyTimeout: 0,
      signal,
    });
    for await (const piece of body) bytes += piece.length;
    if (statusCode >= 400) throw new Error(`${path} answered ${statusCode}`);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

async function openPages(stage: Stage, signal: AbortSignal): Promise<string> {
  let pages = 0;
  while (!signal.aborted)
    for (const path of listPages(stage)) {
      await stage.gateway.api(path);
      pages += 1;
    }
  return `${pages} answers`;
}

async function checkpoint(stage: Stage, signal: AbortSignal): Promise<string> {
  let checkpoints = 0;
  while (!signal.aborted) {
    await stage.pool.query('checkpoint');
    checkpoints += 1;
    await sleep(CHECKPOINT_EVERY_MS, undefined, { signal }).catch(() => {});
  }
  return `${checkpoints} checkpoints`;
}

export const DISTURBANCES: readonly Disturbance[] = [
  { name: 'pages', isEndless: true, run: openPages },
  { name: 'checkpoints', isEndless: true, run: checkpoint },
  { name: 'export', run: (stage, signal) => download(stage, '/api/v1/export?kind=logs&format=csv', signal) },
  { name: 'backup', run: (stage, signal) => download(stage, '/api/v1/backup', signal) },
  {
    name: 're-pricing',
    run: (stage, signal) =>
      runJob(stage, '/api/v1/reprice', { only: 'all', dry_run: false, reason: 'benchmark' }, signal),
  },
  {
    name: 'promotion',
    run: (stage, signal) =>
      runJob(stage, `/api/v1/metadata-keys/${METADATA_KEY}/promote`, { display_key: METADATA_KEY }, signal),
    undo: async (stage) => {
      await runJob(stage, `/api/v1/metadata-keys/${METADATA_KEY}/demote`, {}, new AbortController().signal).catch(
        () => {},
      );
    },
  },
  { name: 'verification', run: (stage, signal) => runJob(stage, '/api/v1/verify', {}, signal) },
];
