import { expect, test } from 'vitest';
import type { Status } from '../../../../src/control/admin/status-body.ts';
import { findProblems } from './find-problems.ts';

const NOW_MS = Date.parse('2026-11-28T12:00:00Z');
const PROXY: Status['processes'][number] = {
  role: 'proxy',
  pid: 7,
  state: 'ready',
  started_at: '2026-11-28T11:00:00Z',
  restarts: 0,
  recent_exits: 0,
  last_exit: null,
  metrics: { open_calls: 0, calls_total: 30, rejected_total: 0, records_lost: 0, rss_bytes: 1 },
};
const ACCOUNTS = {
  accepted: 30,
  stored: 30,
  spooled: 0,
  in_flight: 0,
  set_aside: 0,
  lost: 0,
  missing: 0,
  difference: 0,
  ended: 30,
  found: 30,
  is_whole: true,
  oldest_waiting_at: null,
  outcomes: {},
  processes: [],
  unaccounted: [],
  unaccounted_total: 0,
  losses: [],
};
const WELL: Status = {
  version: '1.0.0',
  role: 'all',
  base_url: 'http://127.0.0.1:4141',
  started_at: '2026-11-28T11:00:00Z',
  price_version: null,
  processes: [PROXY],
  database: {
    state: 'up',
    version: '18',
    size_bytes: 1,
    calls: 30,
    oldest_requested_at: null,
    search_days_waiting: 0,
    problem: null,
  },
  records: null,
  jobs_running: 0,
  restart: null,
  spool: null,
  settings: [],
  accounts: ACCOUNTS,
  clock: { skew_ms: 12, is_trusted: true, stepped_at: null, step_ms: null },
  access: { wrong_tokens: 0, latest_wrong_token: null, closed_connections: 0 },
  brakes: { paused_runs: 0, paused_keys: 0, hits_last_hour: 0 },
  alerts: { in_trouble: 0, waiting: 0, retried: 0, undelivered: 0 },
  tls: null,
};
const LOSS = { account_id: 1, key_id: 1, provider: 'openai', model: 'm', calls: 3, usage: {} };

test('nothing is wrong with a gateway that works', () => {
  expect(findProblems(WELL, 0, NOW_MS)).toEqual([]);
});

test('a clock that is wrong by the database’s needs attention', () => {
  const clock = { skew_ms: 8_640_000_000, is_trusted: false, stepped_at: null, step_ms: null };
  expect(findProblems({ ...WELL, clock }, 0, NOW_MS)).toEqual([
    'The clock of this machine is 100 days ahead by the database’s. Calls are dated by that one, and this node deletes nothing; set the clock.',
  ]);
});

test('a loss needs attention for a day, one without a trace always', () => {
  const lost = (minute: string, missing = 0) =>
    findProblems({ ...WELL, accounts: { ...ACCOUNTS, lost: 3, missing, losses: [{ ...LOSS, minute }] } }, 0, NOW_MS);
  const problem = 'Calls whose records are lost: 3. Is the disk of the data directory full?';
  expect(lost('2026-11-28T11:30:00Z')).toEqual([problem]);
  expect(lost('2026-11-27T11:30:00Z')).toEqual([]);
  expect(lost('2026-11-27T11:30:00Z', 1)).toEqual([problem]);
});

test('damaged files of the spool, crash loops and records that no account knows need attention', () => {
  const metrics = { open_calls: 0, calls_total: 30, rejected_total: 0, records_lost: 30, rss_bytes: 1 };
  const processes = [{ ...PROXY, recent_exits: 5, last_exit: 'SIGKILL', metrics }];
  expect(findProblems({ ...WELL, processes }, 1, NOW_MS)).toEqual([
    "The proxy process ended 5 times in the last five minutes (SIGKILL); its own lines in the gateway's log say why.",
    'The proxy process could not write 30 records. Make room on the disk of the data directory.',
    '1 file is in the quarantine: see Quarantine below.',
  ]);
});

test('wrong tokens need attention for a day', () => {
  const guessed = (at: string) =>
    findProblems(
      { ...WELL, access: { wrong_tokens: 600, latest_wrong_token: { at, from: '10.0.0.1' }, closed_connections: 0 } },
      0,
      NOW_MS,
    );
  expect(guessed('2026-11-28T11:30:00Z')).toEqual([
    '600 wrong tokens were sent to this port, most recently from 10.0.0.1. If that was not one of you, check who can reach this port.',
  ]);
  expect(guessed('2026-11-27T11:30:00Z')).toEqual([]);
});

test('a certificate that ends within three weeks needs attention, and files that cannot come into force', () => {
  const tls = {
    valid_from: '2026-09-01T00:00:00Z',
    valid_to: '2026-12-31T00:00:00Z',
    names: ['localhost'],
    problem: null,
    failed_handshakes: 0,
    latest_failed_handshake: null,
  };
  expect(findProblems({ ...WELL, tls }, 0, NOW_MS)).toEqual([]);
  expect(findProblems({ ...WELL, tls: { ...tls, valid_to: '2026-12-19T00:00:00Z' } }, 0, NOW_MS)).toEqual([
    'The certificate of the proxy port ends on 2026-12-19. Renew it.',
  ]);
  expect(
    findProblems({ ...WELL, tls: { ...tls, valid_to: '2026-11-01T00:00:00Z', problem: 'no whole key' } }, 0, NOW_MS),
  ).toEqual([
    'The certificate of the proxy port ended on 2026-11-01, and clients refuse it. Renew it.',
    'The previous certificate stays in use: no whole key.',
  ]);
});

test('alerts that reach nobody need attention, a paused run does not', () => {
  const brakes = { paused_runs: 2, paused_keys: 1, hits_last_hour: 3 };
  const alerts = { in_trouble: 1, waiting: 4, retried: 4, undelivered: 2 };
  expect(findProblems({ ...WELL, brakes, alerts }, 0, NOW_MS)).toEqual([
    '1 alert could not be looked at: see Brakes & alerts.',
    '2 deliveries of alerts of the last day did not reach anybody: see Brakes & alerts.',
  ]);
});
