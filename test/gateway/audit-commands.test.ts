/** `tollgate audit`, `erase` and `credentials` as people type them. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runTollgate } from './run-tollgate.ts';
import { startGateway, type TestGateway } from './start-gateway.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({
    env: {
      TOLLGATE_CREDENTIALS_KEY: Buffer.alloc(32, 7).toString('base64'),
      TOLLGATE_UPSTREAM_OPENAI_TEAM: 'https://api.openai.com',
    },
  });
  await gateway.api('/api/v1/demo-data', { method: 'POST' });
}, 120_000);

afterAll(() => gateway.stop());

function run(...args: readonly string[]) {
  return runTollgate(gateway.dataDir, args);
}

test('the log is listed, exported and verified, and a changed file is found without a gateway', async () => {
  const list = await run('audit', 'list', '--action', 'key');
  expect(list.stdout).toMatch(/key\.create +key \d+ +name="test"/);
  const verified = await run('audit', 'verify', '--json');
  expect(verified.code).toBe(0);
  const { last_hash: hash, entries } = JSON.parse(verified.stdout);
  expect(await run('audit', 'verify')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`${entries} rows hold`),
  });

  const file = join(gateway.dataDir, 'audit.ndjson');
  expect((await run('audit', 'export', '--output', file)).code).toBe(0);
  expect(await run('audit', 'verify', '--file', file, '--expect', hash)).toMatchObject({ code: 0 });
  expect(await run('audit', 'verify', '--file', file, '--expect', 'a'.repeat(64))).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('is not among them'),
  });
  const changed = join(gateway.dataDir, 'changed.ndjson');
  writeFileSync(changed, readFileSync(file, 'utf8').replace('"key.create"', '"key.revoke"'));
  expect(await run('audit', 'verify', '--file', changed)).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^BROKEN at row \d+: it is not as it was written/),
  });
  const lines = readFileSync(file, 'utf8').split('\n');
  writeFileSync(changed, [...lines.slice(0, 1), ...lines.slice(2)].join('\n'));
  expect((await run('audit', 'verify', '--file', changed)).stdout).toContain('rows are missing before it: 2 to 2');
});

test('a run is counted, then erased', async () => {
  const { data } = JSON.parse(JSON.stringify(await gateway.api('/api/v1/runs?limit=1')));
  const { trace_id: trace, calls } = data[0];
  expect((await run('erase', 'run', trace)).stdout).toContain(`${calls} calls would be erased, for good.`);
  expect((await run('erase', 'run', trace, '--apply')).stdout).toContain(`${calls} calls were erased`);
  expect((await run('erase', 'run', trace)).stdout).toBe('No call is meant.\n');
  expect((await run('erase', 'list')).stdout).toMatch(/run +[\da-f]{12} +\d+ +erased/);
});

test('a credential is read from standard input, listed without itself, rotated and deleted', async () => {
  const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
  const child = spawn(process.execPath, [main, 'credentials', 'set', 'openai', 'team', '--data-dir', gateway.dataDir], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'] },
  });
  child.stdin.end('sk-proj-0123456789abcdef\n');
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await new Promise((resolve) => child.once('close', resolve));
  expect(said).toMatch(/^Kept for openai team \(…cdef\)/);
  const list = await run('credentials', 'list');
  expect(list.stdout).toMatch(/openai +team +…cdef +https:\/\/api\.openai\.com .*usable/);
  expect(list.stdout).not.toContain('sk-proj');
  expect((await run('credentials', 'rotate-key')).stdout).toContain('1 kept credentials need only the first key now.');
  expect((await run('credentials', 'delete', 'openai', 'team')).stdout).toContain('Nothing is kept for openai team');
});
