import { expect, test } from 'vitest';
import { judgeStatus } from './findings.ts';

const STATUS = {
  ...{ version: '1.2.3', base_url: 'http://gate', processes: [], records: null, accounts: null, price_version: null },
  role: 'all',
  database: { state: 'up', version: '18', size_bytes: 1 },
} as const;

function judge(spool: { bytes: number; limit_bytes: number; is_disk_low: boolean } | null): string[] {
  return [...judgeStatus({ ...STATUS, spool }, null, 0)]
    .filter(({ text }) => /^(spool|disk):/.test(text))
    .map(({ level, text }) => `${level} ${text}`);
}

test('how full the spool is, and what is given up for it', () => {
  expect(judge({ bytes: 69_999, limit_bytes: 100_000, is_disk_low: false })).toEqual([
    'ok spool: 70.0 kB of 100.0 kB (69 %)',
  ]);
  expect(judge({ bytes: 70_000, limit_bytes: 100_000, is_disk_low: false })).toEqual([
    'problem spool: 70.0 kB of 100.0 kB (70 %): bodies are not kept, at 85 % details neither, at 95 % no records; see why they wait',
  ]);
});

test('a disk that is nearly full is said, however little the spool holds', () => {
  expect(judge({ bytes: 0, limit_bytes: 100_000, is_disk_low: true })).toEqual([
    'ok spool: 0 B of 100.0 kB (0 %)',
    'problem disk: the one of the data directory is nearly full, so that bodies are not kept; make room on it',
  ]);
  expect(judge(null)).toEqual([]);
});

test('why a database is not used is said, and what is odd about one that is', () => {
  const of = (state: 'up' | 'down', problem: string | null) =>
    [...judgeStatus({ ...STATUS, database: { ...STATUS.database, state, problem }, spool: null }, null, 0)]
      .filter(({ text }) => text.startsWith('database:'))
      .map(({ level, text }) => `${level} ${text}`);
  expect(of('down', 'waiting for the lock of the migrations, which process 7 holds')).toEqual([
    'problem database: not used, because: waiting for the lock of the migrations, which process 7 holds. Calls are proxied and their records wait in the spool; check the database’s log, or DATABASE_URL',
  ]);
  expect(of('up', 'the database d is in SQL_ASCII')).toEqual([
    'note database: the database d is in SQL_ASCII',
    'ok database: PostgreSQL 18, 1 B',
  ]);
});

test('days that a search must read are said while there are any', () => {
  const of = (days: number) =>
    [...judgeStatus({ ...STATUS, database: { ...STATUS.database, search_days_waiting: days }, spool: null }, null, 0)]
      .filter(({ text }) => text.startsWith('search:'))
      .map(({ level, text }) => `${level} ${text}`);
  expect(of(2)).toEqual([
    'note search: 2 days wait for the index, the newest first; until then a search reads them, and takes longer',
  ]);
  expect(of(0)).toEqual([]);
});

test('records are all stored when none waits, not when the last look at them was short ago', () => {
  const of = (spooled: number) =>
    [
      ...judgeStatus(
        {
          ...{ ...STATUS, spool: null },
          records: { waiting_for: null, drained_at: '2026-11-01T00:00:00.000Z' },
          accounts: {
            ...{
              accepted: spooled,
              stored: 0,
              spooled,
              in_flight: 0,
              set_aside: 0,
              lost: 0,
              missing: 0,
              difference: 0,
            },
            ...{ ended: spooled, found: spooled, is_whole: true, oldest_waiting_at: null, unaccounted: [] },
            ...{ unaccounted_total: 0, losses: [] },
          },
        },
        null,
        Date.parse('2026-11-01T00:00:01.000Z'),
      ),
    ]
      .filter(({ text }) => text.startsWith('records:'))
      .map(({ level, text }) => `${level} ${text}`);
  expect(of(0)).toEqual(['ok records: all stored']);
  expect(of(216)).toEqual(['ok records: are being stored']);
});

test('a node without proxies is no problem because nothing answers there', () => {
  const [, first] = judgeStatus({ ...STATUS, role: 'control', spool: null }, 'ECONNREFUSED', 0);
  expect(first).toEqual({
    level: 'note',
    text: 'this node takes no calls (role control), and nothing answers at http://gate/healthz from here; TOLLGATE_PUBLIC_URL says where the nodes with the role proxy are reached',
  });
  const [, other] = judgeStatus({ ...STATUS, spool: null }, 'ECONNREFUSED', 0);
  expect(other?.level).toBe('problem');
});

test('what is paused is noted, and alerts that reach nobody are a problem', () => {
  const brakes = { paused_runs: 1, paused_keys: 2, hits_last_hour: 0 };
  const alerts = { in_trouble: 0, waiting: 3, retried: 1, undelivered: 2 };
  const found = [...judgeStatus({ ...STATUS, spool: null, brakes, alerts }, null, 0)]
    .filter(({ text }) => /^(?:brakes|alerts):/.test(text))
    .map(({ level, text }) => `${level} ${text}`);
  expect(found).toEqual([
    'note brakes: 1 run and 2 keys paused, whose calls are refused: tollgate brakes list --paused',
    'note alerts: 1 delivery not taken yet, tried again: tollgate alerts deliveries says why',
    'problem alerts: 2 deliveries of the last day given up: tollgate alerts deliveries says why',
  ]);
});
