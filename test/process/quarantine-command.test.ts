/** `tollgate quarantine` as a user runs it, against a real admin API without a database, over a folder of files. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAdminApp } from '../../src/control/admin/admin-app.ts';
import { type AdminServer, listenAdmin } from '../../src/control/admin/admin-server.ts';
import { listQuarantine } from '../../src/control/shipper/list-quarantine.ts';
import { quarantineRecord } from '../../src/control/shipper/quarantine.ts';
import { bareAdminDeps, NO_LEDGER_DEP } from '../support/admin-deps.ts';

const ROOT = join(import.meta.dirname, '../..');
const TOKEN = 'test-admin-token';
const ID = '019ac9f0-0000-7000-8000-000000000001';

let api: AdminServer;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-quarantine-'));
  const ledger = { ...NO_LEDGER_DEP, listQuarantine: () => listQuarantine(join(folder, 'quarantine')) };
  api = await listenAdmin(createAdminApp(bareAdminDeps({ adminToken: TOKEN, ledger })), '127.0.0.1', 0);
});
afterAll(async () => {
  await api.close();
  rmSync(folder, { recursive: true });
});

function run(...args: readonly string[]): Promise<{ readonly output: string; readonly errors: string }> {
  const env = {
    PATH: process.env['PATH'],
    TOLLGATE_ADMIN_URL: `http://127.0.0.1:${api.port}`,
    TOLLGATE_ADMIN_TOKEN: TOKEN,
  };
  return new Promise((resolve, reject) => {
    const command = [join(ROOT, 'src/main.ts'), 'quarantine', ...args];
    execFile(process.execPath, command, { cwd: folder, env }, (error, output, errors) => {
      if (error === null) resolve({ output, errors });
      else reject(error);
    });
  });
}

test('an empty quarantine is said to be one', async () => {
  expect(await run()).toEqual({
    output: '',
    errors: 'Nothing was put aside: every record was stored, and every file of the spool could be read.\n',
  });
});

test('the quarantine is listed with its reason, the latest first, and with what to do about it', async () => {
  const dir = join(folder, 'quarantine');
  mkdirSync(dir);
  await quarantineRecord(dir, { id: ID, reason: '23514: new row violates check', record: { provider: 'openai' } });
  writeFileSync(join(dir, 'p1-seg-00000001.log'), Buffer.alloc(2_000));
  utimesSync(join(dir, `record-${ID}.json`), 1_764_331_201, 1_764_331_201);
  utimesSync(join(dir, 'p1-seg-00000001.log'), 1_764_331_200, 1_764_331_200);
  const [plain, json] = await Promise.all([run(), run('--json', '--limit', '1')]);
  expect(plain.output.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['put aside (UTC)', 'kind', 'size', 'call', 'reason'],
    ['2025-11-28 12:00:01', 'record', '140 B', ID, '23514: new row violates check'],
    ['2025-11-28 12:00:00', 'segment', '2.0 kB', 'p1-seg-00000001.log', 'damaged'],
    [''],
  ]);
  expect(plain.errors).toContain('A record was refused by the database in every form');
  expect(plain.errors).toContain('A segment is a damaged file of the spool.');
  expect(plain.errors).toContain('Delete those that you have dealt with');
  expect(json.errors).toBe('');
  expect(JSON.parse(json.output)).toMatchObject({ kind: 'record', id: ID, provider: 'openai', status: null });
});
