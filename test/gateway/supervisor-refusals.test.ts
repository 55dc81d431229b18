/** Starts that cannot work: one line that names the setting, exit code 1, and nothing left running. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  createTestDir,
  type GatewayOptions,
  listProcesses,
  removeTestDir,
  runGateway,
  untilNoProcess,
} from './run-gateway.ts';

let dir = '';
beforeEach(() => {
  dir = createTestDir();
});
afterEach(() => removeTestDir(dir));

/** What is said to the operator: everything on stderr that is not a log entry. */
async function refusal(options: GatewayOptions): Promise<string> {
  const run = runGateway(options);
  expect(await run.exited).toEqual({ code: 1, signal: null });
  expect(run.stdout()).toBe('');
  const lines = run
    .stderr()
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('{'));
  expect(lines).toHaveLength(1);
  expect(listProcesses(options.dataDir)).toEqual([]);
  return lines[0] ?? '';
}

function listen(): Promise<{ server: Server; port: string }> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address: AddressInfo | string | null = server.address();
      resolve({ server, port: String(typeof address === 'object' ? address?.port : address) });
    });
  });
}

test('a wrong setting is named with what is allowed', async () => {
  expect(await refusal({ dataDir: join(dir, 'data'), env: { TOLLGATE_WORKERS: 'many' } })).toBe(
    'tollgate: TOLLGATE_WORKERS: "many" is not allowed; it must be a whole number from 1 to 64',
  );
});

test('a proxy port in use is named, with one worker and with two', async () => {
  const { server, port } = await listen();
  const line = `tollgate: TOLLGATE_PORT: port ${port} on 127.0.0.1 is already in use; stop the program that has it, or set another port`;
  for (const workers of ['1', '2']) {
    const env = { TOLLGATE_PORT: port, TOLLGATE_WORKERS: workers };
    expect(await refusal({ dataDir: join(dir, 'data'), env })).toBe(line);
  }
  server.close();
});

test('an admin port in use is named', async () => {
  const { server, port } = await listen();
  expect(await refusal({ dataDir: join(dir, 'data'), env: { TOLLGATE_ADMIN_PORT: port } })).toContain(
    `TOLLGATE_ADMIN_PORT: port ${port} on 127.0.0.1 is already in use`,
  );
  server.close();
});

test('an address of another machine is named', async () => {
  expect(await refusal({ dataDir: join(dir, 'data'), env: { TOLLGATE_HOST: '192.0.2.1' } })).toBe(
    'tollgate: TOLLGATE_HOST: 192.0.2.1 is not an address of this machine',
  );
});

test('a data directory that is a file is named', async () => {
  writeFileSync(join(dir, 'file'), '');
  expect(await refusal({ dataDir: join(dir, 'file') })).toBe(
    `tollgate: TOLLGATE_DATA_DIR: cannot use ${join(dir, 'file')}: it is a file, not a directory; set it to a directory that this user can write`,
  );
});

test('a data directory that this user may not write is named', async () => {
  mkdirSync(join(dir, 'closed'), { mode: 0o555 });
  // Root may write everywhere but there; another user not even below a folder without write permission.
  const dataDir = process.getuid?.() === 0 ? '/proc/tollgate' : join(dir, 'closed', 'data');
  expect(await refusal({ dataDir })).toMatch(
    /^tollgate: TOLLGATE_DATA_DIR: cannot use \/\S+: .+; set it to a directory that this user can write$/,
  );
});

test('a second start on the same data names the first one and how to stop it', async () => {
  const dataDir = join(dir, 'data');
  const first = runGateway({ dataDir });
  await first.logged('ready');
  const second = runGateway({ dataDir });
  expect(await second.exited).toEqual({ code: 1, signal: null });
  expect(second.stderr()).toBe(
    `tollgate: TOLLGATE_DATA_DIR: ${dataDir} is in use by the gateway with pid ${first.pid}; stop that one (kill ${first.pid}) or set another directory\n`,
  );
  first.kill('SIGTERM');
  expect((await first.exited).code).toBe(0);
  await untilNoProcess(dataDir);
});

test('an unreachable DATABASE_URL is named without its password', async () => {
  // Nothing listens on the first port, and nothing is given it.
  const env = { DATABASE_URL: 'postgresql://me:s3cret@127.0.0.1:1/calls' };
  expect(await refusal({ dataDir: join(dir, 'data'), env })).toBe(
    'tollgate: DATABASE_URL: no connection to 127.0.0.1:1/calls (connect ECONNREFUSED 127.0.0.1:1)',
  );
});

test('a child that cannot start ends the first start with one line', async () => {
  writeFileSync(join(dir, 'fail-proxy'), '');
  expect(await refusal({ dataDir: join(dir, 'data'), cwd: dir })).toBe(
    'tollgate: the proxy process cannot start (exit 7); its own lines above say why',
  );
});
