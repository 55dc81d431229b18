/** The embedded PostgreSQL as its supervisor sees it, when it does not do what it is told. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/supervisor/postgres/embedded-postgres.ts';
import { pingPostgres } from '../../src/supervisor/postgres/postgres-connection.ts';
import { readStartTime } from '../../src/supervisor/process-identity.ts';
import { listProcesses, runGateway } from '../gateway/run-gateway.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-stuck-'));
let postgres: EmbeddedPostgres | null = null;
afterEach(async () => {
  await postgres?.stop();
  postgres = null;
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** Its processes have titles such as `postgres: checkpointer`. */
function findChild(postmaster: number, title: string): number {
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const [, parent] = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8')) ?? [];
      const commandLine = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      if (Number(parent) === postmaster && commandLine.includes(title)) return Number(name);
    } catch {
      // It ended while we looked.
    }
  }
  throw new Error(`no ${title} of ${postmaster}`);
}

async function waitForAnotherPid(server: EmbeddedPostgres, former: number): Promise<number> {
  for (;;) {
    const { pid, state } = server.status();
    if (pid !== null && pid !== former && state === 'ready') return pid;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test.runIf(process.platform === 'linux')('a server that hangs in its shutdown is ended and started again', async () => {
  postgres = await startEmbeddedPostgres({
    dataDir,
    log: pino({ level: 'silent' }),
    mayBeAway: false,
    stuckLimitMs: 500,
    onMoved: () => {},
  });
  const former = postgres.status().pid ?? 0;
  const checkpointer = findChild(former, 'checkpointer');
  // Without it the last checkpoint is never written.
  process.kill(checkpointer, 'SIGSTOP');
  process.kill(former, 'SIGINT');
  await waitForAnotherPid(postgres, former);
  expect(await pingPostgres(postgres.connectionString())).toBeUndefined();
});

/** The server recovers in place from the death of one of its processes; its start-up process is stopped as soon as it is seen. */
async function hangInRecovery(postmaster: number): Promise<void> {
  process.kill(findChild(postmaster, 'walwriter'), 'SIGKILL');
  for (;;) {
    try {
      process.kill(findChild(postmaster, 'postgres: startup'), 'SIGSTOP');
      return;
    } catch {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

test.runIf(process.platform === 'linux')(
  'a server that hangs in its recovery is ended and started again',
  async () => {
    postgres = await startEmbeddedPostgres({
      dataDir,
      log: pino({ level: 'silent' }),
      mayBeAway: false,
      stuckLimitMs: 500,
      onMoved: () => {},
    });
    const client = new pg.Client({ connectionString: postgres.connectionString() });
    client.on('error', () => {});
    await client.connect();
    await client.query('drop table if exists long_recovery');
    await client.query("create table long_recovery as select repeat('x', 1000) from generate_series(1, 50000)");
    const former = postgres.status().pid ?? 0;
    await hangInRecovery(former);
    await waitForAnotherPid(postgres, former);
    expect(await pingPostgres(postgres.connectionString())).toBeUndefined();
  },
  180_000,
);

/** Of a server that has begun to start and is not `former`. */
async function waitForPostmaster(former: number): Promise<number> {
  const file = join(dataDir, 'postgres', 'postmaster.pid');
  for (;;) {
    const [line = ''] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    if (Number(line) > 0 && Number(line) !== former && readStartTime(Number(line)) !== null) return Number(line);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Lets it recover for a moment a few times a second, until `endMs`. */
async function slowDown(postmaster: number, endMs: number): Promise<void> {
  while (performance.now() < endMs) {
    let startup: number;
    try {
      startup = findChild(postmaster, 'postgres: startup');
    } catch {
      await new Promise((resolve) => setImmediate(resolve));
      continue;
    }
    process.kill(startup, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 250));
    process.kill(startup, 'SIGCONT');
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

test.runIf(process.platform === 'linux')(
  'a start is waited for as long as its recovery moves, is said to go on, and is ended only when that stands still',
  async () => {
    const lines: string[] = [];
    postgres = await startEmbeddedPostgres({
      dataDir,
      log: pino({ level: 'info' }, { write: (line) => void lines.push(line) }),
      mayBeAway: false,
      startLimitMs: 1_500,
      onMoved: () => {},
    });
    const client = new pg.Client({ connectionString: postgres.connectionString() });
    client.on('error', () => {});
    await client.connect();
    await client.query('drop table if exists long_recovery');
    await client.query('create table long_recovery (text text)');
    await client.query('checkpoint');
    await client.query("insert into long_recovery select repeat('x', 200) from generate_series(1, 500000)");
    const former = postgres.status().pid ?? 0;
    process.kill(former, 'SIGKILL');
    const second = await waitForPostmaster(former);
    await slowDown(second, performance.now() + 4_000);
    expect(await waitForAnotherPid(postgres, former)).toBe(second);
    expect(lines.join('')).toContain('PostgreSQL recovers after a crash, and moves on');
    expect(lines.join('')).not.toContain('could not be started');

    process.kill(second, 'SIGKILL');
    const third = await waitForPostmaster(second);
    for (let isHeld = false; !isHeld; ) {
      try {
        process.kill(findChild(third, 'postgres: startup'), 'SIGSTOP');
        isHeld = true;
      } catch {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    expect(await waitForAnotherPid(postgres, second)).not.toBe(third);
    expect(lines.join('')).toContain('could not be started');
  },
  120_000,
);

test.runIf(process.platform === 'linux')(
  'a gateway that may do without its database does not wait for a long recovery, which goes on',
  async () => {
    const options = {
      dataDir,
      log: pino({ level: 'silent' }),
      mayBeAway: true,
      startLimitMs: 1_500,
      onMoved: () => {},
    };
    const crashed = await startEmbeddedPostgres({ ...options, startLimitMs: 60_000 });
    const client = new pg.Client({ connectionString: crashed.connectionString() });
    client.on('error', () => {});
    await client.connect();
    await client.query("insert into long_recovery select repeat('x', 200) from generate_series(1, 300000)");
    const former = crashed.status().pid ?? 0;
    await crashed.abandon();
    const starting = startEmbeddedPostgres(options);
    const second = await waitForPostmaster(former);
    const slowing = slowDown(second, performance.now() + 4_000);
    postgres = await starting;
    expect(postgres.status()).toMatchObject({ state: 'starting', pid: null, restarts: 0 });
    await slowing;
    expect(await waitForAnotherPid(postgres, former)).toBe(second);
    expect(await pingPostgres(postgres.connectionString())).toBeUndefined();
  },
  120_000,
);

test.runIf(process.platform === 'linux')('a stop during a start of the server leaves none running', async () => {
  const started = await startEmbeddedPostgres({
    dataDir,
    log: pino({ level: 'silent' }),
    mayBeAway: false,
    onMoved: () => {},
  });
  postgres = started;
  const former = started.status().pid ?? 0;
  // It takes our password no more: from now on no start comes to its end.
  const client = new pg.Client({ connectionString: started.connectionString() });
  client.on('error', () => {});
  await client.connect();
  await client.query("alter role tollgate password 'another'");
  process.kill(former, 'SIGKILL');
  const second = await waitForPostmaster(former);
  await started.stop();
  expect(readStartTime(second)).toBeNull();

  const gateway = runGateway({ dataDir });
  const third = await waitForPostmaster(second);
  gateway.kill('SIGTERM');
  expect(await gateway.exited).toEqual({ code: 0, signal: null });
  expect(readStartTime(third)).toBeNull();
  expect(listProcesses(dataDir)).toEqual([]);
});
