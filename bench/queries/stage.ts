/** A gateway on a seeded data directory, which is kept for the next time when it was named. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { z } from 'zod';
import { verifyRollups } from '../../src/control/log/verify-rollups.ts';
import { hasWork } from '../../src/control/search/index-next.ts';
import { openPool } from '../../src/control/store/pool.ts';
import { startGateway, type TestGateway, waitUntil } from '../../test/gateway/start-gateway.ts';
import { embeddedUrl } from '../kill/gateway-database.ts';
import { readPostmaster, signal } from '../soak/gateway-processes.ts';
import { fillOldHours } from './fill-rollups.ts';
import { HOUR_MS } from './plain-calls.ts';
import { SEED_DAYS, seedLog } from './seed-log.ts';

const STATEMENT_TIMEOUT_MS = 3_600_000;
const START_TIMEOUT_MS = 600_000;
const JOB_POLL_MS = 5_000;
const RESTART_TIMEOUT_MS = 120_000;
/** Nothing is to go while we look at it. */
const ENV = { TOLLGATE_RETENTION_ROWS: '3650', TOLLGATE_RETENTION_BODIES: '3650' };

const Seeded = z.object({ calls: z.number(), untilMs: z.number() });

export interface Stage {
  readonly gateway: TestGateway;
  readonly pool: pg.Pool;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Stops PostgreSQL and waits until it is back. */
  readonly restartDatabase: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface StageOptions {
  readonly calls: number;
  /** Where data is kept; null for a temporary place. */
  readonly dataDir: string | null;
  readonly verify: boolean;
  readonly say: (text: string) => void;
  /** More settings of the gateway. */
  readonly env?: Readonly<Record<string, string>>;
}

export function formatCalls(calls: number): string {
  return calls % 1_000_000 === 0 ? `${calls / 1_000_000}m` : `${calls / 1_000}k`;
}

export async function openStage({ calls, dataDir, verify, say, env = {} }: StageOptions): Promise<Stage> {
  const root = dataDir ?? mkdtempSync(join(tmpdir(), 'tollgate-queries-'));
  const folder = join(root, formatCalls(calls));
  mkdirSync(folder, { recursive: true });
  const note = join(root, `${formatCalls(calls)}.json`);
  const gateway = await startGateway({ dataDir: folder, env: { ...ENV, ...env }, timeoutMs: START_TIMEOUT_MS });
  const open = (): pg.Pool =>
    openPool({
      connectionString: embeddedUrl(folder),
      max: 4,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      applicationName: 'bench',
      onIdleError: () => {},
    });
  const pool = open();
  const close = async (): Promise<void> => {
    await pool.end();
    await gateway.stop({ remove: false });
    if (dataDir === null) rmSync(root, { recursive: true, force: true });
  };
  try {
    if (!existsSync(note)) {
      const untilMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
      await seedLog(pool, { calls, untilMs, say });
      // Written last: a seed that was broken off is not taken for a whole one.
      writeFileSync(note, JSON.stringify({ calls, untilMs }));
    }
    const { untilMs } = Seeded.parse(JSON.parse(readFileSync(note, 'utf8')));
    say('filling the sums of hours');
    await fillOldHours(pool);
    await waitForJobs(gateway, say);
    await waitForSearch(pool, say);
    if (verify) await requireEqualRollups(pool, say);
    return {
      gateway,
      pool,
      fromMs: untilMs - SEED_DAYS * 24 * HOUR_MS,
      untilMs,
      restartDatabase: () => restartDatabase(gateway),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const Jobs = z.object({
  data: z.array(z.object({ state: z.string(), title: z.string(), done: z.number(), error: z.string().nullish() })),
});

/** A newer release fills in what older data lacks. */
async function waitForJobs(gateway: TestGateway, say: (text: string) => void): Promise<void> {
  for (;;) {
    const { data } = Jobs.parse(await gateway.api('/api/v1/jobs'));
    const failed = data.find(({ state }) => state === 'failed');
    if (failed !== undefined) throw new Error(`the job "${failed.title}" failed: ${failed.error ?? 'unknown'}`);
    const active = data.find(({ state }) => state === 'queued' || state === 'running');
    if (active === undefined) return;
    say(`waiting for the job "${active.title}", ${active.done} done`);
    await sleep(JOB_POLL_MS);
  }
}

async function waitForSearch(pool: pg.Pool, say: (text: string) => void): Promise<void> {
  while (await hasWork(pool)) {
    say('waiting for the index of the search');
    await sleep(JOB_POLL_MS);
  }
}

async function requireEqualRollups(pool: pg.Pool, say: (text: string) => void): Promise<void> {
  const [first, ...others] = await verifyRollups(pool);
  if (first !== undefined)
    throw new Error(`${others.length + 1} differences: ${first.rollup} ${first.side} ${first.row}`);
  say('all roll-ups equal the records');
}

const Ready = z.object({ database: z.literal('up') });

async function restartDatabase(gateway: TestGateway): Promise<void> {
  const before = readPostmaster(gateway.dataDir);
  if (before === null) throw new Error('there is no database to restart');
  signal(before, 'SIGINT');
  await waitUntil(
    'the database is back',
    async () => {
      const now = readPostmaster(gateway.dataDir);
      if (now === null || now === before) return undefined;
      const answer = await gateway.api('/readyz').catch(() => undefined);
      return Ready.safeParse(answer).success ? true : undefined;
    },
    RESTART_TIMEOUT_MS,
  );
}
