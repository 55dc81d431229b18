/** `/metrics`: what it says is valid, is what the docs list, and is open to its own token, which opens nothing else. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { createAdminApp } from '../../src/control/admin/admin-app.ts';
import type { AdminDeps, LedgerSnapshot } from '../../src/control/admin/admin-deps.ts';
import { openEndedSessions } from '../../src/control/admin/ended-sessions.ts';
import { METRICS } from '../../src/control/admin/metrics/metric-list.ts';
import type { BudgetNode } from '../../src/control/budgets/budget-nodes.ts';
import type { BudgetStanding } from '../../src/control/budgets/budget-overview.ts';
import type { ChildStatus, ProxyMetrics } from '../../src/vocabulary/channel.ts';
import { GATEWAY_ERRORS } from '../../src/vocabulary/errors.ts';
import { parseUsd } from '../../src/vocabulary/usd.ts';
import { NO_BUDGETS, NO_IMPORTS, NO_LEDGER_DEP, ONE_NODE } from '../support/admin-deps.ts';
import { HARD_BUDGET } from '../support/budgets/hard-budget.ts';
import { fixedPrices } from '../support/fixed-prices.ts';
import { NO_BACKUPS } from '../support/no-backups.ts';
import { readExposition } from '../support/read-exposition.ts';
import { testCatalogs } from '../support/test-catalogs.ts';

const ADMIN = 'admin-token';
const SCRAPER = 'metrics-token';

const ACCOUNTS: LedgerSnapshot = {
  accepted: 21,
  stored: 10,
  spooled: 5,
  inFlight: 3,
  setAside: 2,
  lost: 1,
  missing: 0,
  difference: 0,
  ended: 18,
  found: 17,
  isWhole: true,
  oldestWaitingMs: null,
  outcomes: { ok: 9, interrupted: 1 },
  processes: [],
  unaccounted: [],
  unaccountedTotal: 4,
  losses: [],
};

const PROXY: ProxyMetrics = {
  openCalls: 3,
  callsTotal: 40,
  rejectedTotal: 2,
  spoolName: 'p1',
  acceptedTotal: 21,
  inFlight: 3,
  endsSpooled: 17,
  recordsLost: 1,
  bodiesDropped: 0,
  compactedTotal: 0,
  spoolPendingBytes: 11,
  refusedFullTotal: 0,
  droppedConnections: 0,
  rssBytes: 1_000,
};

const USED_BUDGET: BudgetStanding = {
  budget: {
    ...HARD_BUDGET,
    id: 7,
    accountId: 2,
    name: 'a name that no label has',
    scope: 'owner',
    amount: parseUsd('3'),
    period: 'month',
    createdAtMs: 0,
  },
  spent: parseUsd('4.5'),
  mostValue: 'ann',
  mostSpent: parseUsd('3.75'),
  near: 1,
  usedUp: 1,
};
const LOST_NODE: BudgetNode = { node: 'n3', mode: 'sharing', silentMs: 1_200_000, isLost: true, holds: [] };

const CHILD: Omit<ChildStatus, 'role'> = {
  pid: 7,
  state: 'ready',
  startedAtMs: 0,
  restarts: 1,
  recentExits: 0,
  lastExit: 'SIGKILL',
  metrics: null,
};

const DEPS: AdminDeps = {
  adminToken: ADMIN,
  metricsToken: SCRAPER,

  credentialKeys: { keys: [], problem: null },
  publishCredentials: async () => {},
  oidc: null,
  adminHost: '127.0.0.1',
  role: 'all',
  publicUrl: null,
  adminPublicUrl: null,
  baseUrl: 'http://127.0.0.1:4141',
  version: '1.2.3',
  dashboard: null,
  database: () => null,
  wallRole: () => null,
  databaseProblem: () => null,
  keepsTexts: () => true,
  isStopping: () => false,
  publishKeys: async () => true,
  publishPauses: async () => {},
  alertSending: {
    alerts: { smtpUrl: null, smtpFrom: 'tollgate@localhost', hosts: [] },
    egress: { httpProxy: null, httpsProxy: null, noProxy: null },
    dashboardUrl: null,
  },
  readSupervisorStatus: async () => ({
    startedAtMs: 0,
    attempts: [],
    attemptsTotal: 0,
    attemptsNotShown: 0,
    restart: { requested: 0, finished: 0, problem: null },
    certificate: { validFromMs: 0, validToMs: 9_000_000, names: ['localhost'], problem: 'half written' },
    children: [
      { ...CHILD, role: 'proxy', metrics: PROXY },
      { ...CHILD, role: 'proxy', metrics: PROXY },
      { ...CHILD, role: 'postgres' },
    ],
  }),
  requestRestart: async () => null,
  readSpoolStatus: async () => ({ bytes: 5, limitBytes: 9, isDiskLow: false }),
  ledger: {
    ...NO_LEDGER_DEP,
    read: async () => ACCOUNTS,
    countOfProxies: () => ({
      callsTotal: 40,
      rejectedTotal: 3,
      bodiesDropped: 1,
      compactedTotal: 2,
      droppedConnections: 3,
      failedHandshakes: 4,
      steps: { route: { counts: [7, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1], seconds: 61.5 } },
      refusals: { key_unknown: 2, 'not a code "of ours"': 1 },
    }),
    readShipper: () => ({
      rows: 10,
      batches: 4,
      failures: 0,
      sanitised: 0,
      quarantined: 2,
      interrupted: 1,
      corruptBytes: 0,
      unreadTexts: 0,
      waitingFor: null,
      directories: 1,
      brokenDirectories: 0,
      drainedAtMs: Date.now(),
    }),
  },
  backups: NO_BACKUPS,
  databaseUrl: 'postgres://127.0.0.1/test',
  endedSessions: openEndedSessions(null, pino({ level: 'silent' })),
  access: {
    noteWrongToken: () => {},
    noteClosedConnection: () => {},
    figures: () => ({ wrongTokens: 6, latestWrongToken: null, closedConnections: 7 }),
  },
  countRunningJobs: async () => 0,
  readBudgetOverview: async () => ({ count: 3, budgets: [USED_BUDGET], nodes: [LOST_NODE] }),
  readBrakeAndAlertFigures: async () => ({
    brakes: { pausedRuns: 2, pausedKeys: 1, hitsLastHour: 3 },
    alerts: { inTrouble: 0, waiting: 5, retried: 4, undelivered: 6 },
  }),
  demoData: {
    countCalls: async () => 0,
    readKeyId: async () => null,
    load: async () => 0,
    remove: async () => 0,
  },
  settings: [],
  prices: fixedPrices(),
  catalogs: testCatalogs(),
  nodes: ONE_NODE,
  budgets: NO_BUDGETS,
  spoolImports: NO_IMPORTS,
  nowMs: Date.now,
  log: pino({ level: 'silent' }),
};

const app = createAdminApp(DEPS);

async function ask(path: string, token: string | null): Promise<Response> {
  const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
  return app.request(`http://127.0.0.1${path}`, { headers: { host: '127.0.0.1', ...authorization } });
}

describe('/metrics', () => {
  test('is valid, and has the account, the refusals of our codes and the processes', async () => {
    const answer = await ask('/metrics', SCRAPER);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const families = readExposition(await answer.text());
    const value = (name: string) => families.get(name)?.samples.map(({ labels, value }) => [labels, value]);
    expect(value('tollgate_calls_accepted_total')).toEqual([['', 21]]);
    expect(value('tollgate_calls_in_flight')).toEqual([['', 3]]);
    expect(value('tollgate_calls_by_outcome_total')).toEqual([
      ['outcome="ok"', 9],
      ['outcome="interrupted"', 1],
    ]);
    const refusals = value('tollgate_refusals_total');
    expect(refusals).toContainEqual(['code="key_unknown"', 2]);
    // One that has not happened yet: an alert on the first needs it.
    expect(refusals).toContainEqual(['code="gateway_busy"', 0]);
    expect(refusals?.map(([labels]) => labels)).toEqual(Object.keys(GATEWAY_ERRORS).map((code) => `code="${code}"`));
    expect(value('tollgate_open_calls')).toEqual([['', 6]]);
    expect(value('tollgate_process_restarts_total')).toEqual([
      ['role="proxy"', 2],
      ['role="postgres"', 1],
    ]);
    expect(value('tollgate_admin_wrong_tokens_total')).toEqual([['', 6]]);
    expect(value('tollgate_admin_connections_closed_total')).toEqual([['', 7]]);
    expect(value('tollgate_tls_handshakes_failed_total')).toEqual([['', 4]]);
    const steps = value('tollgate_step_seconds');
    expect(steps?.[0]).toEqual(['step="route",le="0.000005"', 7]);
    expect(steps?.[1]).toEqual(['step="route",le="0.00002"', 9]);
    expect(steps?.slice(-4)).toEqual([
      ['step="route",le="60"', 9],
      ['step="route",le="+Inf"', 10],
      ['step="route"', 61.5],
      ['step="route"', 10],
    ]);
    expect(value('tollgate_tls_files_refused')).toEqual([['', 1]]);
    // It ended in 1970.
    expect(value('tollgate_tls_certificate_seconds_left')?.[0]?.[1]).toBeLessThan(-1e9);
    expect(value('tollgate_database_up')).toEqual([['', 0]]);
    expect(value('tollgate_paused')).toEqual([
      ['scope="run"', 2],
      ['scope="key"', 1],
    ]);
    expect(value('tollgate_alert_deliveries_undelivered')).toEqual([['', 6]]);
    expect(value('tollgate_build_info')).toEqual([['version="1.2.3"', 1]]);
    expect(families.get('process_resident_memory_bytes')?.type).toBe('gauge');
  });

  test('has what docs/metrics.md lists, and nothing else', async () => {
    const families = readExposition(await (await ask('/metrics', ADMIN)).text());
    const docs = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'metrics.md'), 'utf8');
    const rows = [...docs.matchAll(/^\| `(\w+)` +\| (\w+) +\| ([^|]*?) +\| ([^|]+?) +\|$/gm)];
    const listed = rows.map(([, name, type, labels, help]) => ({ name, type, labels, help }));
    const ours = METRICS.map(({ name, type, labels, help }) => ({
      name,
      type,
      help,
      labels: labels.map((label) => `\`${label}\``).join(', '),
    }));
    expect(listed.filter(({ name }) => name?.startsWith('tollgate_'))).toEqual(ours);
    const names = [...families.keys()].filter((name) => !name.startsWith('tollgate_'));
    expect(listed.flatMap(({ name }) => (name?.startsWith('tollgate_') ? [] : [name])).sort()).toEqual(names.sort());
    for (const { name, type } of listed) expect([name, families.get(name ?? '')?.type]).toEqual([name, type]);
  });

  test('is closed without a token, and its token opens nothing else', async () => {
    const statuses = async (path: string) =>
      Promise.all([null, 'wrong-token', SCRAPER, ADMIN].map(async (token) => (await ask(path, token)).status));
    expect(await statuses('/metrics')).toEqual([401, 401, 200, 200]);
    expect(await statuses('/api/v1/status')).toEqual([401, 401, 401, 200]);
    expect(await statuses('/metrics/')).toEqual([401, 401, 401, 404]);
    expect(await statuses('/api/v1/quarantine')).toEqual([401, 401, 401, 200]);
    const change = await app.request('http://127.0.0.1/metrics', {
      method: 'POST',
      headers: { host: '127.0.0.1', authorization: `Bearer ${SCRAPER}` },
    });
    expect(change.status).toBe(401);
  });
});
