/** What the admin API needs, without anything behind it: no database, no supervisor, no call. A test names what it needs. */
import { pino } from 'pino';
import { watchAdminAccess } from '../src/admin/admin-access.ts';
import type { AccountsDep, AdminDeps } from '../src/admin/admin-deps.ts';
import { openEndedSessions } from '../src/admin/ended-sessions.ts';
import { fixedPrices } from './fixed-prices.ts';
import { NO_BACKUPS } from './no-backups.ts';
import { testCatalogs } from './test-catalogs.ts';

export const NO_ACCOUNTS_DEP: AccountsDep = {
  read: async () => null,
  listQuarantine: async () => [],
  countOfProxies: () => ({
    ...{ callsTotal: 0, rejectedTotal: 0, bodiesDropped: 0, compactedTotal: 0, droppedConnections: 0 },
    refusals: {},
  }),
  readShipper: () => null,
};

export function bareAdminDeps(given: Partial<AdminDeps> & Pick<AdminDeps, 'adminToken'>): AdminDeps {
  return {
    ...{ accountId: 1, publicUrl: null, adminHost: '127.0.0.1', version: '1.2.3', metricsToken: null },
    baseUrl: 'http://127.0.0.1:4141',
    dashboard: null,
    databaseUrl: 'postgres://tollgate:secret@127.0.0.1/tollgate',
    database: () => null,
    requestRestart: async () => null,
    publishKeys: async () => true,
    readSupervisorStatus: async () => null,
    readShipperStatus: () => null,
    readSpoolStatus: async () => null,
    countRunningJobs: async () => 0,
    demoData: {
      countCalls: async () => 0,
      readKeyId: async () => null,
      load: async () => 0,
      remove: async () => 0,
    },
    accounts: NO_ACCOUNTS_DEP,
    settings: [],
    prices: fixedPrices(),
    catalogs: testCatalogs(),
    backups: NO_BACKUPS,
    endedSessions: openEndedSessions(null, pino({ level: 'silent' })),
    access: watchAdminAccess(pino({ level: 'silent' })),
    log: pino({ level: 'silent' }),
    ...given,
  };
}
