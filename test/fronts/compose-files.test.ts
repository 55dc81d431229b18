/** What deploy/compose is made of, without an engine: its scripts with a real gateway, and its files in the programs that read them. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAdminFile, startGateway, type TestGateway } from '../gateway/start-gateway.ts';

const root = join(import.meta.dirname, '..', '..');
const compose = join(root, 'deploy', 'compose');
const dir = mkdtempSync(join(tmpdir(), 'tollgate-compose-'));
const backups = join(dir, 'backups');
let gateway: TestGateway;

beforeAll(async () => {
  mkdirSync(backups);
  // The command of the image.
  const command = `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'src', 'main.ts')}" "$@"\n`;
  writeFileSync(join(dir, 'tollgate'), command, { mode: 0o755 });
  gateway = await startGateway();
});
afterAll(async () => {
  await gateway?.stop();
  rmSync(dir, { recursive: true });
});

function run(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const path = `${dir}:${process.env['PATH']}`;
  return spawnSync(program, args, { encoding: 'utf8', env: { PATH: path, HOME: process.env['HOME'] ?? dir, ...env } });
}

function runBackup(command: string, url = gateway.adminBase, keep = '2') {
  return run('sh', [join(compose, 'backup.sh'), command], {
    BACKUP_DIRECTORY: backups,
    KEEP_BACKUPS: keep,
    PAUSE_SECONDS: '0',
    TOLLGATE_ADMIN_URL: url,
    TOLLGATE_ADMIN_TOKEN: readAdminFile(gateway.dataDir).token,
  });
}

test('backup.sh keeps the newest, and none goes when one fails, which it ends with 1 for', async () => {
  for (let made = 0; made < 3; made += 1) {
    expect(runBackup('once')).toMatchObject({ status: 0, stderr: '' });
    // Their names have the second in which they were made.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
  }
  const kept = readdirSync(backups);
  expect(kept.length).toBe(2);
  expect(runBackup('check').status).toBe(0);
  expect(runBackup('once', 'http://127.0.0.1:9', '1')).toMatchObject({ status: 1 });
  expect(readdirSync(backups)).toEqual(kept);
  expect(runBackup('once', gateway.adminBase, '0').stderr).toContain('must be a number, 1 or more');
});

test('backup.sh for ever ends with 1 when the daily one fails', () => {
  for (const name of readdirSync(backups)) rmSync(join(backups, name));
  expect(runBackup('check')).toMatchObject({ status: 1, stdout: 'no backup within 26 hours\n' });
  const { status, stderr } = runBackup('daily', 'http://127.0.0.1:9');
  expect([status, stderr.split('\n').at(-2)]).toEqual([1, 'the backup failed']);
});

test('make-secrets.sh makes them once', () => {
  const secrets = join(dir, 'secrets');
  mkdirSync(secrets);
  const make = () => {
    expect(run('sh', [join(compose, 'make-secrets.sh'), secrets]).status).toBe(0);
    return readdirSync(secrets).map((name) => [name, readFileSync(join(secrets, name), 'utf8').trim()]);
  };
  const made = Object.fromEntries(make());
  expect(Object.keys(made)).toEqual(['admin_token', 'database_password', 'database_url']);
  expect(made['database_password']).toMatch(/^[0-9a-f]{64}$/);
  expect(made['database_url']).toBe(`postgres://tollgate:${made['database_password']}@postgres:5432/tollgate`);
  expect(Object.fromEntries(make())).toEqual(made);
});

const FILLED_IN = { DOMAIN: 'gateway.example.com', EMAIL: 'a@example.com' } as const;

/** Says what cannot be tried, so that nobody takes silence for success. */
function isThere(program: string, args: readonly string[], name: string, how: string): boolean {
  if (run(program, args).status === 0) return true;
  process.stderr.write(`NOT TRIED: ${name} is not installed. ${how}\n`);
  return false;
}

const hasCaddy = isThere('caddy', ['version'], 'Caddy', 'On Debian or Ubuntu: apt-get install -y caddy');
test.skipIf(!hasCaddy)('Caddy accepts its file', () => {
  const { status, stderr } = run(
    'caddy',
    ['validate', '--adapter', 'caddyfile', '--config', join(compose, 'Caddyfile')],
    FILLED_IN,
  );
  expect([status, stderr]).toEqual([0, expect.anything()]);
});

const hasCompose = isThere(
  'docker',
  ['compose', 'version'],
  'docker compose',
  'See https://docs.docker.com/compose/install',
);
test.skipIf(!hasCompose)('docker compose accepts its file, and refuses it while .env is not filled in', () => {
  const config = ['compose', '-f', join(compose, 'compose.yaml'), 'config', '--quiet'];
  expect(run('docker', config, FILLED_IN)).toMatchObject({ status: 0, stderr: '' });
  expect(run('docker', config).status).not.toBe(0);
});
