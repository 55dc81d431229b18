/** One data directory, one owner, one PostgreSQL: with gateways that cannot see each other's processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listDescendants } from '../../bench/proxy/process-figures.ts';
import { openDataDirectory } from '../../src/supervisor/data-directory.ts';
import { startEmbeddedPostgres } from '../../src/supervisor/postgres/embedded-postgres.ts';
import { isAlive, readStartTime } from '../../src/supervisor/process-identity.ts';
import { createLog } from '../../src/vocabulary/log.ts';

const HOLDER = join(import.meta.dirname, '../support/hold-data-directory.ts');
/** Of its own: pids, and the shared memory by which two PostgreSQL servers on one machine would notice each other. */
const UNSHARE = ['--pid', '--ipc', '--fork', '--kill-child', '--mount-proc'];

let path = '';
let namespace: ChildProcess | null = null;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'tg-'));
  chmodSync(path, 0o755);
});
afterEach(async () => {
  namespace?.kill('SIGKILL');
  namespace = null;
  rmSync(path, { recursive: true, force: true });
});

/** Starts the holder in another pid namespace, beneath a shell that outlives it; gives its pid as it is seen here. */
async function holdElsewhere(what: string): Promise<number> {
  const command = `"${process.execPath}" "${HOLDER}" "${path}" ${what} & while :; do sleep 1; done`;
  const child = spawn('unshare', [...UNSHARE, 'sh', '-c', command], { stdio: ['ignore', 'pipe', 'pipe'] });
  namespace = child;
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`this needs root, to make a pid namespace with unshare: ${output}`)));
    child.stderr.on('data', (bytes: Buffer) => {
      output += bytes.toString();
    });
    child.stdout.once('data', () => resolve());
  });
  const pid = listDescendants(child.pid ?? -1).find((one) =>
    readFileSync(`/proc/${one}/cmdline`, 'utf8').startsWith(`${process.execPath}\0${HOLDER}`),
  );
  if (pid === undefined) throw new Error('the holder is not found');
  return pid;
}

function open(silenceMs: number) {
  return openDataDirectory({ path, onWait: () => {}, onLost: () => {}, silenceMs });
}

test('an owner in another pid namespace is refused while it lives, also suspended, and followed at once when it is dead', async () => {
  const pid = await holdElsewhere('');
  await expect(open(60_000)).rejects.toThrow(/is in use by the gateway on \S+ \(pid \d+ there\)/);
  process.kill(pid, 'SIGSTOP');
  await expect(open(300)).rejects.toThrow('says nothing, but processes of it still run on this machine');
  process.kill(pid, 'SIGKILL');
  const directory = await open(60_000);
  expect(directory.tookOver).toBe(true);
  directory.release();
});

test('a PostgreSQL that was left alive in another pid namespace is ended before the cluster is opened here', async () => {
  const holder = await holdElsewhere('postgres');
  const server = listDescendants(namespace?.pid ?? -1).find((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('bin/postgres\0'),
  );
  const identity = { pid: server ?? -1, startTime: readStartTime(server ?? -1) ?? 'gone' };
  process.kill(holder, 'SIGKILL');
  const directory = await open(60_000);
  expect(isAlive(identity)).toBe(true);
  const options = {
    dataDir: path,
    log: createLog({ level: 'error', role: 'test' }),
    mayBeAway: false,
    onMoved: () => {},
    mayRun: directory.isOurs,
  };
  const postgres = await startEmbeddedPostgres(options);
  expect(isAlive(identity)).toBe(false);
  const inLog = readFileSync(join(path, 'postgres.log'), 'utf8');
  await postgres.stop();
  directory.release();
  expect(inLog).not.toMatch(/was interrupted|not properly shut down/);
});
