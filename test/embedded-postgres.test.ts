/** The embedded PostgreSQL as its supervisor sees it, when it does not do what it is told. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../src/supervisor/postgres/embedded-postgres.ts';
import { pingPostgres } from '../src/supervisor/postgres/postgres-connection.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-stuck-'));
let postgres: EmbeddedPostgres | null = null;
afterEach(async () => {
  await postgres?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

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
    ...{ dataDir, log: pino({ level: 'silent' }), mayBeAway: false, shutdownLimitMs: 500 },
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
