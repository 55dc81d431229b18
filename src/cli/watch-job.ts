/** Shows a job until it ends. The gateway owns the job and continues it unwatched and after a restart. */

import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { OperatorError } from '../vocabulary/errors.ts';
import { formatCount, formatDuration } from '../vocabulary/format-amounts.ts';
import { formatProgress, shareDone } from './format-progress.ts';
import type { GatewayClient } from './gateway-client.ts';
import { withOwnCommands } from './hints.ts';
import { createOutput } from './output.ts';
import { cutText, terminalText } from './terminal-text.ts';

const POLL_MS = 500;
/** Without a terminal: one line per interval or per share. */
const LINE_INTERVAL_MS = 10_000;
const LINE_SHARE = 0.05;
/** A crashed control process is back within seconds. */
const ABSENCE_LIMIT_MS = 60_000;
const USUAL_WIDTH = 120;
const INTERRUPTED_EXIT = 130;

export const WatchedJob = z.looseObject({
  id: z.number(),
  title: z.string(),
  phase: z.string(),
  done: z.number(),
  total: z.number().nullable(),
  unit: z.string(),
  rate_per_second: z.number().nullable(),
  eta_seconds: z.number().nullable(),
  state: z.string(),
  error: z.string().nullable(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
});
export type WatchedJob = z.infer<typeof WatchedJob>;

/** The answer to a request that begins a job. */
export const StartedJob = z.object({ job_id: z.number() });

const ENDED: ReadonlySet<string> = new Set(['done', 'failed', 'cancelled']);

/** Progress goes to standard error, with `isJson` to standard output. Throws unless the job is done. */
export async function watchJob(client: GatewayClient, id: number, isJson: boolean): Promise<void> {
  const job = await followJob(client, id, isJson);
  if (!isJson) await sayDone(job);
}

export async function followJob(client: GatewayClient, id: number, isJson = false): Promise<WatchedJob> {
  const show = isJson ? showJson() : process.stderr.isTTY ? showLine(process.stderr) : showLines(process.stderr);
  const onInterrupt = (): void => {
    process.stderr.write(
      withOwnCommands(
        `\nThe job goes on in the gateway; the same command shows it again, \`tollgate jobs cancel ${id}\` stops it.\n`,
      ),
    );
    process.exit(INTERRUPTED_EXIT);
  };
  process.once('SIGINT', onInterrupt);
  try {
    for (;;) {
      const job = await readJob(client, id);
      await show(job);
      if (ENDED.has(job.state)) return checkEnd(job);
      await sleep(POLL_MS);
    }
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

async function readJob(client: GatewayClient, id: number): Promise<WatchedJob> {
  const deadlineMs = performance.now() + ABSENCE_LIMIT_MS;
  for (;;) {
    try {
      return await client.ask(WatchedJob, `/api/v1/jobs/${id}`);
    } catch (error) {
      if (!(error instanceof OperatorError) || performance.now() > deadlineMs) throw error;
      await sleep(POLL_MS);
    }
  }
}

type Show = (job: WatchedJob) => void | Promise<void>;

function showLine(stream: NodeJS.WriteStream): Show {
  return (job) => {
    stream.write(`\r\u001b[K${cutText(formatProgress(job), (stream.columns ?? USUAL_WIDTH) - 1)}`);
    if (ENDED.has(job.state)) stream.write('\r\u001b[K');
  };
}

function showLines(stream: NodeJS.WriteStream): Show {
  let shownMs = Number.NEGATIVE_INFINITY;
  let shownShare = 0;
  let shownPhase = '';
  return (job) => {
    const share = shareDone(job) ?? 0;
    const isDue = performance.now() - shownMs >= LINE_INTERVAL_MS || share - shownShare >= LINE_SHARE;
    if (!isDue && job.phase === shownPhase) return;
    shownMs = performance.now();
    shownShare = share;
    shownPhase = job.phase;
    stream.write(`${formatProgress(job)}\n`);
  };
}

function showJson(): Show {
  const output = createOutput(process.stdout);
  let shown = '';
  return async (job) => {
    const text = JSON.stringify(job);
    if (text !== shown) await output.line(text);
    shown = text;
  };
}

function checkEnd(job: WatchedJob): WatchedJob {
  const title = terminalText(job.title);
  if (job.state === 'failed')
    throw new OperatorError(
      `${title} failed: ${terminalText(job.error ?? 'unknown')}; \`tollgate jobs resume ${job.id}\` tries again`,
    );
  if (job.state === 'cancelled')
    throw new OperatorError(`${title} was cancelled; \`tollgate jobs resume ${job.id}\` goes on`);
  return job;
}

async function sayDone(job: WatchedJob): Promise<void> {
  const tookMs = Date.parse(job.finished_at ?? '') - Date.parse(job.started_at ?? '');
  const took = Number.isNaN(tookMs) ? '' : ` in ${formatDuration(tookMs)}`;
  await createOutput(process.stdout).line(
    `${terminalText(job.title)}: done, ${formatCount(job.done)} ${terminalText(job.unit)}${took}.`,
  );
}
