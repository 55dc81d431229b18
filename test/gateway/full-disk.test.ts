/** The disk of a gateway is full to the last byte for a while; calls go on, and nothing is missing afterwards. */
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chooseShape, planCall } from '../../bench/kill/call-plan.ts';
import { clientFaults } from '../../bench/kill/kill-phase.ts';
import { openStage, type Stage } from '../../bench/kill/stage.ts';
import { asRecord, waitUntil } from './start-gateway.ts';

const dir = mkdtempSync(join(tmpdir(), 'tg-'));
const dataDir = join(dir, 'data');
let stage: Stage;

/** The whole data directory is on it, as where a gateway stands alone on a disk. */
beforeAll(async () => {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400m,mode=755', 'tmpfs', dir], { stdio: 'pipe' });
  } catch (cause) {
    throw new Error('this test needs root, and a system that lets it mount a tmpfs', { cause });
  }
  stage = await openStage({ seed: 5, clients: 8, dataDir, planOf: (n) => planCall(n, chooseShape(n, 5)) });
});
afterAll(async () => {
  await stage?.close();
  execFileSync('umount', ['-l', dir]);
  rmSync(dir, { recursive: true, force: true });
});

/** Takes every byte, and each that becomes free. */
function startFilling(): () => Promise<void> {
  const path = join(dir, 'filler');
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

function listStandbys(): string[] {
  const folder = join(dataDir, 'standby');
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

async function readProcess(role: 'postgres' | 'proxy') {
  const processes = await stage
    .gateway()
    .processes()
    .catch(() => []);
  return processes.find((found) => found.role === role);
}

async function kill(role: 'postgres' | 'proxy'): Promise<void> {
  const pid = (await readProcess(role))?.pid;
  if (pid === undefined || pid === null) throw new Error(`no ${role}`);
  process.kill(pid, 'SIGKILL');
  await waitUntil(`the ${role} is gone`, async () => ((await readProcess(role))?.pid === pid ? undefined : true));
}

it('PostgreSQL is killed on a full disk, and has every record when there is room again', async () => {
  const sinceMs = Date.now();
  const load = stage.startLoad();
  await sleep(500);
  const stopFilling = startFilling();
  await kill('postgres');
  // It starts or not, as the last freed block is taken: calls go on either way.
  await sleep(3_000);
  await stopFilling();
  await waitUntil(
    'PostgreSQL is back',
    async () => ((await readProcess('postgres'))?.state === 'ready' ? true : undefined),
    120_000,
  );
  await sleep(500);
  const settled = await stage.settle(load, sinceMs);
  // Among them: differences between roll-ups and records.
  expect([...settled.faults, ...clientFaults(settled)]).toEqual([]);
  expect(settled.tally.outcomes).toEqual({ ok: settled.tally.calls });
});

it('a proxy is killed on a full disk, twice, and every call has its record or its account', async () => {
  await waitUntil('directories are laid out', () => (listStandbys().includes('04') ? true : undefined));
  const sinceMs = Date.now();
  const load = stage.startLoad();
  await sleep(500);
  const stopFilling = startFilling();
  for (let kills = 0; kills < 2; kills += 1) {
    await sleep(500);
    await kill('proxy');
    await waitUntil('a proxy is ready', async () =>
      (await readProcess('proxy'))?.state === 'ready' ? true : undefined,
    );
  }
  await sleep(1_000);
  const [firstLeft] = listStandbys();
  await stopFilling();
  expect(firstLeft).toBe('03');
  const settled = await stage.settle(load, sinceMs);
  expect(settled.faults).toEqual([]);
  const { accounts } = asRecord(await stage.gateway().api('/api/v1/status'));
  const nothing = { spooled: 0, in_flight: 0, set_aside: 0, lost: 0, missing: 0, difference: 0, unaccounted_total: 0 };
  expect(accounts).toMatchObject({ ...nothing, accepted: asRecord(accounts)['stored'] });
});
