/** A gateway as a pod has it: a user that is a bare number, without a home, on a volume of the group's; its log is collected. */
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findFreePort, waitUntil } from './start-gateway.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
const USER = 54_321;
// Only root can become somebody else; others are in a pod as themselves.
const asUser = process.getuid?.() === 0 ? ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'] : [];

test('it starts, and neither key nor link come into the log of a pod; a command in it makes a key', async () => {
  const volume = mkdtempSync(join(tmpdir(), 'pod-'));
  if (asUser.length > 0) chownSync(volume, 0, USER);
  chmodSync(volume, 0o2775);
  mkdirSync(join(volume, 'lost+found'), { mode: 0o700 });
  const env = {
    PATH: process.env['PATH'],
    KUBERNETES_SERVICE_HOST: '10.96.0.1',
    TOLLGATE_WORKERS: '1',
    TOLLGATE_DATA_DIR: join(volume, 'tollgate'),
    TOLLGATE_STOP_DELAY_SECONDS: '0',
    TOLLGATE_PORT: String(await findFreePort()),
    TOLLGATE_ADMIN_PORT: String(await findFreePort()),
  };
  function run(...words: readonly string[]) {
    const [command = '', ...rest] = [...asUser, process.execPath, MAIN, ...words];
    const child = spawn(command, rest, { env, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    return { child, ended, text: () => text };
  }
  const gateway = run('start');
  try {
    await waitUntil(
      'the banner or the end',
      () => {
        if (gateway.child.exitCode !== null) throw new Error(gateway.text());
        return gateway.text().includes('Base address') ? true : undefined;
      },
      60_000,
    );
    expect(gateway.text()).not.toMatch(/tgk_|code=/);
    const made = run('keys', 'create', 'my-app');
    expect(await made.ended).toBe(0);
    expect(made.text()).toMatch(/tgk_\w+/);
  } finally {
    gateway.child.kill('SIGTERM');
    await gateway.ended;
    rmSync(volume, { recursive: true });
  }
});
