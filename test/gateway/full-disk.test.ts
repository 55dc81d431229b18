/** The disk of the embedded PostgreSQL is full to the last byte for a while; calls go on, and nothing is missing afterwards. */
import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, cpSync, mkdirSync, mkdtempSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chooseShape, planCall } from '../../bench/kill/call-plan.ts';
import { clientFaults } from '../../bench/kill/kill-phase.ts';
import { openStage, type Stage } from '../../bench/kill/stage.ts';
import { startGateway, waitUntil } from './start-gateway.ts';

const dir = mkdtempSync(join(tmpdir(), 'tg-'));
const dataDir = join(dir, 'data');
const cluster = join(dataDir, 'postgres');
let stage: Stage;

/** A small file system below the cluster, and only there: what is tested is the database, and the spool has room. */
beforeAll(async () => {
  chmodSync(dir, 0o755);
  await (await startGateway({ dataDir })).stop({ remove: false });
  const aside = join(dir, 'aside');
  renameSync(cluster, aside);
  mkdirSync(cluster);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160m', 'tmpfs', cluster], { stdio: 'pipe' });
  } catch (cause) {
    throw new Error('this test needs root, and a system that lets it mount a tmpfs', { cause });
  }
  cpSync(aside, cluster, { recursive: true });
  rmSync(aside, { recursive: true });
  chmodSync(cluster, 0o700);
  stage = await openStage({ seed: 5, clients: 8, dataDir, planOf: (n) => planCall(n, chooseShape(n, 5)) });
});
afterAll(async () => {
  await stage?.gateway().stop({ remove: false });
  execFileSync('umount', ['-l', cluster]);
  await stage?.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Takes every byte, and each that becomes free. */
function startFilling(): () => Promise<void> {
  const path = join(cluster, 'filler');
  const fd = openSync(path, 'w');
  let isOver = false;
  const fill = (bytes: number) => {
    try {
      for (;;) writeSync(fd, Buffer.alloc(bytes));
    } catch {
      // No space left on device.
    }
  };
  const filling = (async () => {
    while (!isOver) {
      for (const bytes of [1_048_576, 4_096, 1]) fill(bytes);
      await sleep(5);
    }
  })();
  return async () => {
    isOver = true;
    await filling;
    closeSync(fd);
    rmSync(path);
  };
}

async function readPostgres() {
  const processes = await stage
    .gateway()
    .processes()
    .catch(() => []);
  return processes.find(({ role }) => role === 'postgres');
}

it('PostgreSQL is killed on a full disk, and has every record when there is room again', async () => {
  const sinceMs = Date.now();
  const load = stage.startLoad();
  await sleep(500);
  const stopFilling = startFilling();
  const pid = (await readPostgres())?.pid;
  if (pid === undefined || pid === null) throw new Error('no PostgreSQL');
  process.kill(pid, 'SIGKILL');
  // It starts or not, as the last freed block is taken: calls go on either way.
  await sleep(3_000);
  await stopFilling();
  await waitUntil(
    'PostgreSQL is back',
    async () => ((await readPostgres())?.state === 'ready' ? true : undefined),
    120_000,
  );
  await sleep(500);
  const settled = await stage.settle(load, sinceMs);
  // Among them: differences between roll-ups and records.
  expect([...settled.faults, ...clientFaults(settled)]).toEqual([]);
  expect(settled.tally.outcomes).toEqual({ ok: settled.tally.calls });
});
