/** The snapshot of the keys where it cannot be written, against a real database. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKeyPublisher } from '../../src/control/process/key-publisher.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';

let postgres: TestPostgres;
let pool: pg.Pool;
let root: string;

beforeAll(async () => {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no PostgreSQL');
  postgres = await startPostgres(kind);
  pool = openTestPool(await postgres.createDatabase('keys'));
  root = mkdtempSync(join(tmpdir(), 'key-publisher-'));
});
afterAll(async () => {
  await pool?.end();
  await postgres?.remove();
  rmSync(root, { recursive: true, force: true });
});

test('a file that cannot be written is said once, however often it is tried; and once more when it is written', async () => {
  const folder = join(root, 'not-there-yet');
  const file = join(folder, 'keys.json');
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  let sent = 0;
  const keys = createKeyPublisher({
    pool,
    file,
    log,
    send: ({ version }) => {
      sent += 1;
      setImmediate(() => keys.onPublished(version, true));
    },
  });
  for (let poll = 0; poll < 5; poll += 1) await keys.poll();
  expect([sent, lines]).toEqual([5, ['the key snapshot cannot be written']]);
  mkdirSync(folder);
  for (let poll = 0; poll < 5; poll += 1) await keys.poll();
  expect([sent, existsSync(file)]).toEqual([6, true]);
  expect(lines).toEqual(['the key snapshot cannot be written', 'the key snapshot is written again']);
});
