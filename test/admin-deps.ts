/** What the admin API needs, without anything behind it: for tests of what stands before every route. */
import { pino } from 'pino';
import type { AdminDeps } from '../src/admin/admin-deps.ts';
import { fixedPrices } from './fixed-prices.ts';
import { NO_ACCOUNTS_DEP } from './no-accounts.ts';
import { NO_BACKUPS } from './no-backups.ts';
import { testCatalogs } from './test-catalogs.ts';

export const METRICS_TOKEN = 'a-token-for-the-metrics-alone';

export function bareAdminDeps(adminToken: string, publicUrl: string | null): AdminDeps {
  return {
    ...{ accountId: 1, adminToken, publicUrl, adminHost: '127.0.0.1', version: '0.0.0-test' },
    baseUrl: 'http://127.0.0.1:4141',
    dashboard: null,
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
    settings: [],
    prices: fixedPrices(),
    catalogs: testCatalogs(),
    backups: NO_BACKUPS,
    accounts: NO_ACCOUNTS_DEP,
    metricsToken: METRICS_TOKEN,
    log: pino({ level: 'silent' }),
  };
}
