/** A gateway as systemd starts it: what its journal gets to read, and what it says to systemd, whose program is stood in for. */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runTollgate } from './run-tollgate.ts';
import { COMPILE_CACHE, findFreePort, makeDataDir, waitUntil } from './start-gateway.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');

test('it says when it is ready and how long a stop may last; no key and no link come into the journal', async () => {
  const folder = makeDataDir();
  const [dataDir, bin, told] = [join(folder, 'data'), join(folder, 'bin'), join(folder, 'told')];
  mkdirSync(bin);
  writeFileSync(join(bin, 'systemd-notify'), `#!/bin/sh\nprintf '%s\\n' "$@" >> ${told}\n`);
  chmodSync(join(bin, 'systemd-notify'), 0o755);
  const port = await findFreePort();
  // The shell becomes the gateway, and so knows its process id before.
  const child = spawn('sh', ['-c', `SYSTEMD_EXEC_PID=$$ exec '${process.execPath}' '${MAIN}' start`], {
    env: {
      PATH: `${bin}:${process.env['PATH']}`,
      HOME: folder,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      NOTIFY_SOCKET: '/run/systemd/notify',
      TOLLGATE_DATA_DIR: dataDir,
      TOLLGATE_WORKERS: '1',
      TOLLGATE_PORT: String(port),
      TOLLGATE_ADMIN_PORT: String(await findFreePort()),
      TOLLGATE_STOP_DELAY_SECONDS: '0',
      TOLLGATE_DRAIN_SECONDS: '600',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    await waitUntil('systemd is told', () => (existsSync(told) ? true : undefined), 60_000);
    expect(printed).toContain('export TOLLGATE_KEY=$(sudo ');
    expect(printed).not.toMatch(/tgk_|code=/);
    const { stdout } = await runTollgate(dataDir, ['keys', 'create', 'laptop']);
    expect(stdout).toMatch(/^tgk_/);
    expect((await runTollgate(dataDir, ['keys', 'list', '--json'])).stdout.trim().split('\n')).toHaveLength(1);
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
  expect(readFileSync(told, 'utf8').split('\n')).toEqual([
    '--ready',
    `--status=calls are taken at http://127.0.0.1:${port}`,
    '--status=stopping',
    'STOPPING=1',
    'EXTEND_TIMEOUT_USEC=625000000',
    '',
  ]);
  rmSync(folder, { recursive: true });
});
