/**
 * What a node with the role `all` or `control` does for all nodes: dashboard and API, jobs, retention, price feed,
 * estimates, and closing calls of nodes that are gone. Database locks keep two nodes from doing the same.
 */
import { join } from 'node:path';
import { sealingKeysOf } from '../../keys/envelope.ts';
import { readVersion } from '../../vocabulary/version.ts';
import { createAdminApp } from '../admin/admin-app.ts';
import { readBrakeAndAlertFigures } from '../admin/brake-and-alert-figures.ts';
import { readDashboardFiles } from '../admin/dashboard-files.ts';
import { openEndedSessions } from '../admin/ended-sessions.ts';
import { keepBudgetOverview } from '../admin/keep-budget-overview.ts';

import { listUses } from '../budgets/list-uses.ts';
import { createDemoData } from '../demo-log/demo-data.ts';
import { createPriceCatalogs } from '../prices/declared/price-catalogs.ts';
import { FIRST_ACCOUNT_ID } from '../store/accounts.ts';
import type { SharedSettings } from '../store/shared-settings.ts';
import { createBackups } from './backups.ts';
import type { CreateNodeFace } from './node-face.ts';
import { PROJECT_ROOT } from './own-node.ts';
import { type Repeating, repeatOnDatabase } from './repeat.ts';
import { repeatAlerts } from './repeat-alerts.ts';
import { repeatBrakes } from './repeat-brakes.ts';
import { repeatEstimates } from './repeat-estimates.ts';
import { repeatFeed } from './repeat-feed.ts';
import { repeatFolding } from './repeat-folding.ts';
import { repeatGoneNodes } from './repeat-gone-nodes.ts';
import { repeatIndexing } from './repeat-indexing.ts';
import { repeatPriceUpdates } from './repeat-price-updates.ts';
import { repeatRetention } from './repeat-retention.ts';
import { repeatSearchIndex } from './repeat-search-index.ts';
import { requestRestart } from './request-restart.ts';
import { type JobThread, runJobThread } from './run-job-thread.ts';
import { createSpoolImports } from './spool-imports.ts';

/** For a whole look over a slow line. */
const FEED_TIMEOUT_MS = 30_000;
/** Sessions ended at another node end here as well. */
const SESSION_POLL_MS = 500;

export const workForAllNodes: CreateNodeFace = (node, access) => {
  const { start, channel, log, clock, pools, prices, status, quarantineDir } = node;
  const { config } = start;
  const sharedSettings = (): SharedSettings | null => node.connected()?.presence.shared() ?? null;
  const daysKept = (name: 'retention_rows' | 'retention_bodies', ownDays: number): number =>
    Number(sharedSettings()?.[name].value ?? ownDays);
  const catalogs = createPriceCatalogs({
    accountId: FIRST_ACCOUNT_ID,
    feed: { setting: config.priceFeed, egress: config.egress, timeoutMs: FEED_TIMEOUT_MS, now: clock.nowMs },
  });
  const endedSessions = openEndedSessions(join(config.dataDir, 'ended-sessions.json'), log, clock.nowMs);
  const { priceCall } = prices;
  const alertSending = { alerts: config.alerts, egress: config.egress, dashboardUrl: config.adminPublicUrl };
  const publishPauses = () => node.connected()?.pauses.poll() ?? Promise.resolve();
  const publishKeys = (version: number) => node.connected()?.keys.publish(version) ?? Promise.resolve(false);
  let jobs: JobThread | null = null;
  let repeated: readonly Repeating[] = [];

  function begin(): void {
    repeated = [
      repeatOnDatabase({
        pauseMs: SESSION_POLL_MS,
        failure: 'the ended sessions could not be exchanged',
        log,
        run: () => endedSessions.exchange(pools.api),
      }),
      repeatPriceUpdates(pools.api, prices, log),
      repeatRetention(pools.retention, clock, log),
      repeatSearchIndex({ pool: pools.api, settings: { databaseUrl: start.databaseUrl }, log }),
      repeatAlerts({
        pool: pools.api,
        nowMs: clock.nowMs,
        sending: alertSending,
        keys: sealingKeysOf(config.credentialKeys),
        log,
      }),
      repeatBrakes({ pool: pools.api, nowMs: clock.nowMs, publishPauses, log }),
      repeatFolding(pools.api, log),
      repeatIndexing(pools.api, log),
      repeatFeed({
        pool: pools.api,
        catalogs,
        log,
        nowMs: clock.nowMs,
        isOn: () => sharedSettings()?.price_feed.value === 'on',
      }),
      repeatEstimates({
        pool: pools.estimates,
        own: config.estimates,
        shared: sharedSettings,
        nowMs: clock.nowMs,
        log,
        priceCall,
      }),
      repeatGoneNodes({ pool: pools.api, clock, shared: sharedSettings, prices, quarantineDir, log }),
    ];
    jobs = runJobThread({
      pool: pools.api,
      settings: { databaseUrl: start.databaseUrl, keepsTexts: config.search === 'on' },
      log,
    });
  }

  const database = () => (node.connected() === null ? null : pools.api);
  const app = createAdminApp({
    adminToken: start.adminToken,
    oidc: config.oidc,
    adminHost: config.adminHost,
    endedSessions,
    access,
    adminPublicUrl: config.adminPublicUrl,
    publicUrl: config.publicUrl,
    baseUrl: start.proxyOrigin,
    version: readVersion(),
    role: config.role === 'control' ? 'control' : 'all',
    dashboard: readDashboardFiles(join(PROJECT_ROOT, 'dist', 'dashboard')),
    databaseUrl: start.databaseUrl,
    isStopping: node.isStopping,
    database,
    wallRole: node.wallRole,
    databaseProblem: node.databaseProblem,
    keepsTexts: node.keepsTexts,
    publishKeys,
    credentialKeys: config.credentialKeys,
    publishCredentials: () => node.connected()?.credentials.poll() ?? Promise.resolve(),
    publishPauses,
    alertSending,
    readSupervisorStatus: status.read,
    requestRestart: () => requestRestart(channel, status),
    readSpoolStatus: node.readSpoolStatus,
    ledger: node.ledger,
    metricsToken: config.metricsToken,
    countRunningJobs: () => Promise.resolve(jobs?.countActive() ?? null),
    readBrakeAndAlertFigures: () => readBrakeAndAlertFigures(database()),
    readBudgetOverview: keepBudgetOverview(database, clock.nowMs),
    demoData: createDemoData({
      pool: pools.api,
      accountId: FIRST_ACCOUNT_ID,
      priceCall,
      get retentionRowsDays() {
        return daysKept('retention_rows', config.retentionRowsDays);
      },
      get retentionBodiesDays() {
        return daysKept('retention_bodies', config.retentionBodiesDays);
      },
      now: clock.nowMs,
    }),
    backups: createBackups({
      databaseUrl: start.databaseUrl,
      pool: pools.api,
      accountId: FIRST_ACCOUNT_ID,
      tollgateVersion: readVersion(),
      quarantineDir,
      prices,
      shipper: () => node.connected()?.shipper ?? null,
      readSpoolStatus: node.readSpoolStatus,
      publishKeys,
      publishBudgets: node.budgets.publish,
      nowMs: clock.nowMs,
      log,
    }),
    budgets: {
      publish: () => node.budgets.publish(),
      readState: () => (config.role === 'control' ? null : node.budgets.readState()),
      listUses: (budget, only) =>
        listUses(budget, {
          pool: pools.api,
          node: config.node,
          listOwn: node.budgets.list,
          nowMs: clock.nowMs(),
          ...only,
        }),
    },
    settings: start.settings,
    prices,
    catalogs,
    spoolImports: createSpoolImports({
      importDir: node.importDir,
      spoolDir: start.spoolDir,
      pool: pools.api,
      nodeId: node.id,
      listLiveSpools: node.liveSpools,
      onReceived: (names) => node.connected()?.shipper.adopt(names),
    }),
    nodes: {
      ownId: node.id,
      list: node.listNodes,
      clock: clock.state,
      onSettingsChanged: async () => node.connected()?.presence.refresh(pools.api),
    },
    nowMs: clock.nowMs,
    log,
  });

  return {
    app,
    begin,
    stop: async () => {
      await Promise.all([...repeated.map((one) => one.stop()), jobs?.stop()]);
    },
  };
};
