/** What the admin API needs, without anything behind it: no database, no supervisor, no call. A test names what it needs. */
import { pino } from 'pino';
import { watchAdminAccess } from '../../src/control/admin/admin-access.ts';
import type { AdminDeps, LedgerDep } from '../../src/control/admin/admin-deps.ts';
import { openEndedSessions } from '../../src/control/admin/ended-sessions.ts';
import { fixedPrices } from './fixed-prices.ts';
import { NO_BACKUPS } from './no-backups.ts';
import { testCatalogs } from './test-catalogs.ts';

export const NO_LEDGER_DEP: LedgerDep = {
  read: async () => null,
  listQuarantine: async () => [],
  countOfProxies: () => ({
    callsTotal: 0,
    rejectedTotal: 0,
    bodiesDropped: 0,
    compactedTotal: 0,
    droppedConnections: 0,
    failedHandshakes: 0,
    steps: {},
    refusals: {},
  }),
  readShipper: () => null,
};

export const NO_BUDGETS: AdminDeps['budgets'] = {
  publish: async () => {},
  listUses: async () => ({ period: { startMs: 0, endMs: null }, uses: [] }),
  readState: () => ({ mode: 'sole', endedProcesses: 0 }),
};

export const NO_IMPORTS: AdminDeps['spoolImports'] = {
  receive: async () => ({ names: [], bytes: 0 }),
  findLiveNode: async () => null,
  listUnknown: async () => [],
  listWaiting: async () => [],
};

export const ONE_NODE: AdminDeps['nodes'] = {
  ownId: '00000000-0000-4000-8000-000000000001',
  list: async () => [
    {
      id: '00000000-0000-4000-8000-000000000001',
      name: 'a',
      host: 'h',
      version: '1.2.3',
      role: 'all',
      state: 'live',
      startedAt: new Date(0),
      seenAt: new Date(0),
      silentMs: 0,
      stoppedAt: null,
      isDoubled: false,
      clockSkewMs: 0,
      clockSteppedAt: null,
      clockStepMs: null,
      ownSettings: {},
      recordsWaiting: 0,
      openCalls: 0,
      shownOpen: 0,
    },
  ],
  clock: () => ({ skewMs: 0, steppedAtMs: null, stepMs: null }),
  onSettingsChanged: async () => {},
};

export function bareAdminDeps(given: Partial<AdminDeps> & Pick<AdminDeps, 'adminToken'>): AdminDeps {
  return {
    publicUrl: null,
    adminPublicUrl: null,
    oidc: null,
    adminHost: '127.0.0.1',
    version: '1.2.3',
    role: 'all',
    metricsToken: null,
    credentialKeys: { keys: [], problem: null },
    publishCredentials: async () => {},
    baseUrl: 'http://127.0.0.1:4141',
    dashboard: null,
    databaseUrl: 'postgres://tollgate:secret@127.0.0.1/tollgate',
    isStopping: () => false,
    database: () => null,
    wallRole: () => null,
    databaseProblem: () => null,
    keepsTexts: () => true,
    requestRestart: async () => null,
    publishKeys: async () => true,
    publishPauses: async () => {},
    alertSending: {
      alerts: { smtpUrl: null, smtpFrom: 'tollgate@localhost', hosts: [] },
      egress: { httpProxy: null, httpsProxy: null, noProxy: null },
      dashboardUrl: null,
    },
    readSupervisorStatus: async () => null,
    readSpoolStatus: async () => null,
    countRunningJobs: async () => 0,
    readBrakeAndAlertFigures: async () => null,
    readBudgetOverview: async () => null,
    demoData: {
      countCalls: async () => 0,
      readKeyId: async () => null,
      load: async () => 0,
      remove: async () => 0,
    },
    ledger: NO_LEDGER_DEP,
    settings: [],
    prices: fixedPrices(),
    catalogs: testCatalogs(),
    budgets: NO_BUDGETS,
    backups: NO_BACKUPS,
    nodes: ONE_NODE,
    spoolImports: NO_IMPORTS,
    nowMs: Date.now,
    endedSessions: openEndedSessions(null, pino({ level: 'silent' })),
    access: watchAdminAccess(pino({ level: 'silent' })),
    log: pino({ level: 'silent' }),
    ...given,
  };
}
