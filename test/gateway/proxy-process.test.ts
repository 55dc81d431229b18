/** The proxy process by itself, as its supervisor starts it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ProxyStart } from '../../src/channel.ts';
import { readConfig } from '../../src/settings/read-config.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
/** Of a start that ends at once; a stop that was not heard is waited for much longer. */
const GRACE_MS = 600_000;

test('a process that is told to stop before it listens ends at once', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'proxy-'));
  const child = fork(MAIN, ['internal-proxy'], { stdio: 'ignore' });
  const start: ProxyStart = {
    ...{ type: 'start', role: 'proxy', listenFd: 99, spoolDir: dir, spoolName: 'p1', keysFile: join(dir, 'keys.json') },
    config: readConfig({ dataDir: dir }, {}),
  };
  child.send(start);
  child.send({ type: 'stop', graceMs: GRACE_MS, isReplaced: false });
  try {
    expect(await once(child, 'exit')).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
    rmSync(dir, { recursive: true });
  }
});
