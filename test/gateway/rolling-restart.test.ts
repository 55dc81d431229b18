/** The processes of a gateway are replaced, or asked to end, while it has two hundred open streams. */
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { planCall } from '../../bench/kill/call-plan.ts';
import { clientFaults } from '../../bench/kill/kill-phase.ts';
import { openStage, type Stage } from '../../bench/kill/stage.ts';
import { type MutePostgres, startMutePostgres } from '../support/mute-postgres.ts';
import { asRecord, COMPILE_CACHE, waitUntil } from './start-gateway.ts';

const STREAMS = 200;
const KINDS = ['openai-stream', 'anthropic-stream', 'openai-stream-with-usage'] as const;

/** The machine may be busy with other tests. */
const LIMIT_MS = 120_000;

let stage: Stage;
let hold = (): Promise<void> => Promise.resolve();
let mute: MutePostgres | null = null;

beforeAll(async () => {
  stage = await openStage({
    seed: 1,
    clients: STREAMS,
    afterFirstPiece: () => hold(),
    // Three seconds each, so that many are open whenever a process is replaced.
    planOf: (n) => planCall(n, { kind: KINDS[n % KINDS.length] ?? 'openai-stream', events: 60, pauseMs: 50 }),
  });
});
afterAll(async () => {
  await stage.close();
  await mute?.close();
});

/** New connections one after another, each for one question. */
function startKnocking(port: number) {
  let isOver = false;
  const answers: Record<string, number> = {};
  const knock = () =>
    new Promise<string>((resolve) => {
      let text = '';
      const socket = connect({ port, host: '127.0.0.1' }, () =>
        socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
      );
      socket.on('data', (bytes) => {
        text += bytes.toString();
      });
      socket.on('error', (error) => resolve(error.message));
      socket.on('close', () => resolve(text.slice(0, 12)));
    });
  const knocking = (async () => {
    while (!isOver) {
      const answer = await knock();
      answers[answer] = (answers[answer] ?? 0) + 1;
      await sleep(5);
    }
  })();
  return async () => {
    isOver = true;
    await knocking;
    return answers;
  };
}

async function readRestart(): Promise<Record<string, unknown>> {
  return asRecord(asRecord(await stage.gateway().api('/api/v1/status'))['restart']);
}

async function untilRestarted(number: number): Promise<void> {
  await waitUntil(
    `restart ${number} is over`,
    async () => {
      const restart = await readRestart().catch(() => null);
      return Number(restart?.['finished'] ?? 0) >= number ? true : undefined;
    },
    LIMIT_MS,
  );
}

/** Holds every stream after its first event from now on, until it is let go. */
function holdStreams() {
  let arrived = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  hold = () => {
    arrived += 1;
    return promise;
  };
  return {
    allOpen: () => waitUntil('all streams are open', () => (arrived === STREAMS ? true : undefined), LIMIT_MS),
    letGo: () => {
      hold = () => Promise.resolve();
      resolve();
    },
  };
}

async function proxyPids(): Promise<readonly (number | null)[]> {
  const processes = await stage.gateway().processes();
  return processes.filter(({ role, state }) => role === 'proxy' && state === 'ready').map(({ pid }) => pid);
}

it('two restarts refuse no connection, cut no stream and lose no record', async () => {
  const gateway = stage.gateway();
  const sinceMs = Date.now();
  const before = await proxyPids();
  const load = stage.startLoad();
  const stopKnocking = startKnocking(gateway.port);
  await sleep(500);
  gateway.process.kill('SIGHUP');
  await untilRestarted(1);
  const between = await proxyPids();
  expect(await gateway.api('/api/v1/restart', { method: 'POST' })).toMatchObject({ requested: 2 });
  await untilRestarted(2);
  const answers = await stopKnocking();
  const settled = await stage.settle(load, sinceMs);
  const pids = [...before, ...between, ...(await proxyPids())];
  expect([pids.length, new Set(pids).size]).toEqual([3, 3]);
  expect([...settled.faults, ...clientFaults(settled)]).toEqual([]);
  expect(settled.tally.outcomes).toEqual({ ok: settled.tally.calls });
  expect(Object.keys(answers)).toEqual(['HTTP/1.1 200']);
  expect(await readRestart()).toEqual({ requested: 2, finished: 2, problem: null });
});

/** Starts the gateway on the data of the stage with a database that takes connections and says nothing. */
async function startWithMuteDatabase() {
  const former = stage.gateway();
  await former.stop({ remove: false });
  mute ??= await startMutePostgres({ greets: false });
  const args = former.process.spawnargs.slice(1);
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      TOLLGATE_DATA_DIR: former.dataDir,
      TOLLGATE_WORKERS: '1',
      DATABASE_URL: mute.connectionString,
      TOLLGATE_PORT: String(former.port),
      TOLLGATE_ADMIN_PORT: String(former.adminPort),
      TOLLGATE_STOP_DELAY_SECONDS: '0',
      ...stage.env,
    },
  });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  for (const base of [former.base, former.adminBase]) {
    await waitUntil(
      `${base} is ready`,
      async () => {
        const answer = await fetch(`${base}/readyz`).catch(() => null);
        return answer?.status === 200 ? true : undefined;
      },
      LIMIT_MS,
    );
  }
  return { child, exited, output: () => output };
}

it('SIGTERM lets every open stream end, waits for no database, and keeps every record', async () => {
  const { child, exited, output } = await startWithMuteDatabase();
  const sinceMs = Date.now();
  const streams = holdStreams();
  const load = stage.startCallsAtOnce();
  await streams.allOpen();
  child.kill('SIGTERM');
  await sleep(300);
  streams.letGo();
  expect(await exited).toBe(0);
  expect(output()).toContain('all records wait in the spool for the next start');
  await stage.restart();
  const { tally, faults } = await stage.settle(load, sinceMs);
  expect(faults).toEqual([]);
  expect(tally).toMatchObject({ calls: STREAMS, complete: STREAMS, clientErrors: 0, outcomes: { ok: STREAMS } });
});

it('a second SIGTERM cuts what is open and writes down that it did', async () => {
  const { child, exited } = await startWithMuteDatabase();
  const sinceMs = Date.now();
  const streams = holdStreams();
  const load = stage.startCallsAtOnce();
  await streams.allOpen();
  child.kill('SIGTERM');
  await sleep(1_000);
  child.kill('SIGTERM');
  expect(await exited).toBe(1);
  streams.letGo();
  await stage.restart();
  const { tally, faults } = await stage.settle(load, sinceMs);
  expect(faults).toEqual([]);
  expect(tally.outcomes).toEqual({ shutdown_cut: STREAMS });
});
