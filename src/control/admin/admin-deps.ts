/** What the admin API needs of its process. */

import type pg from 'pg';
import type { Logger } from 'pino';
import type { RestartStatus, StepHistogram, SupervisorStatus } from '../../vocabulary/channel.ts';
import type { Config, OidcConfig, Setting } from '../../vocabulary/config.ts';
import type { QuarantinedItem } from '../../vocabulary/quarantined-item.ts';
import type { SendOptions } from '../alerts/send-message.ts';
import type { RestoreResult } from '../backup/restore-backup.ts';
import type { BudgetOverview } from '../budgets/budget-overview.ts';
import type { listUses, UsesOfBudget } from '../budgets/list-uses.ts';
import type { BudgetState } from '../budgets/node-budgets.ts';
import type { CurrentPriceBook } from '../prices/declared/current-price-book.ts';
import type { PriceCatalogs } from '../prices/declared/price-catalogs.ts';
import type { WallRole } from '../store/account-wall.ts';
import type { StoredNode } from '../store/nodes.ts';
import type { AdminAccess } from './admin-access.ts';
import { databaseUnavailable } from './api-error.ts';
import type { BrakeAndAlertFigures } from './brake-and-alert-figures.ts';
import type { DashboardFiles } from './dashboard-files.ts';
import type { EndedSessions } from './ended-sessions.ts';

export interface SpoolStatus {
  readonly bytes: number;
  /** Near it bodies are dropped first, then records. */
  readonly limitBytes: number;
  readonly isDiskLow: boolean;
}

/** What became of calls; `accepted` is the sum of the others. */
export interface LedgerSums {
  readonly accepted: number;
  readonly stored: number;
  readonly spooled: number;
  readonly inFlight: number;
  /** The database refused their record in every form. */
  readonly setAside: number;
  readonly lost: number;
}

/** All calls since the data directory was made. */
export interface LedgerSnapshot extends LedgerSums {
  readonly missing: number;
  /** Calls that have ended and cannot be found; 0 unless something is wrong. */
  readonly difference: number;
  /** By what the proxies said last. */
  readonly ended: number;
  /** Endings found, stored or waiting. */
  readonly found: number;
  /** False when more waits in the spool than was counted. */
  readonly isWhole: boolean;
  /** When the oldest waiting call began; null when none waits. */
  readonly oldestWaitingMs: number | null;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Processes whose directory still exists. */
  readonly processes: readonly (LedgerSums & { readonly name: string; readonly isLive: boolean })[];
  readonly unaccounted: readonly { readonly name: string; readonly reason: string }[];
  readonly unaccountedTotal: number;
  readonly losses: readonly LossSums[];
}

/** The identifying fields are null for a sum over several, and for what is no longer known. */
export interface LossSums {
  readonly minuteMs: number;
  readonly accountId: number | null;
  readonly keyId: number | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly calls: number;
  readonly usage: Readonly<Record<string, number>>;
}

/** What the proxies have counted while this process lived, including those that are gone. */
export interface ProxyCounts {
  readonly callsTotal: number;
  readonly rejectedTotal: number;
  readonly bodiesDropped: number;
  readonly compactedTotal: number;
  readonly droppedConnections: number;
  readonly failedHandshakes: number;
  readonly refusals: Readonly<Record<string, number>>;
  readonly steps: Readonly<Record<string, StepHistogram>>;
}

export interface LedgerDep {
  readonly read: () => Promise<LedgerSnapshot | null>;
  readonly listQuarantine: () => Promise<readonly QuarantinedItem[]>;
  readonly countOfProxies: () => ProxyCounts;
  readonly readShipper: () => ShipperFigures | null;
}

/** Counts since the shipper began. */
export interface ShipperFigures {
  readonly rows: number;
  readonly batches: number;
  readonly failures: number;
  readonly sanitised: number;
  readonly quarantined: number;
  readonly interrupted: number;
  readonly corruptBytes: number;
  readonly unreadTexts: number;
  readonly directories: number;
  readonly brokenDirectories: number;
  /** Why the database cannot be used now; null when it works. */
  readonly waitingFor: string | null;
  readonly drainedAtMs: number | null;
}

export interface DemoDataDep {
  readonly countCalls: () => Promise<number>;
  /** Null without demo data. */
  readonly readKeyId: () => Promise<number | null>;
  readonly load: () => Promise<number>;
  readonly remove: () => Promise<number>;
}

export interface Restored extends RestoreResult {
  readonly areKeysPublished: boolean;
  /** Calls under way when the backup was made, which have an interrupted row now. */
  readonly interrupted: number;
}

/** This node among those that share the database. */
export interface NodesDep {
  readonly ownId: string;
  readonly list: () => Promise<readonly StoredNode[] | null>;
  readonly clock: () => NodeClockState;
  readonly onSettingsChanged: () => Promise<void>;
}

export interface SpoolImportsDep {
  /** Throws an ApiError, having taken nothing, when the spool may not be taken or is not whole. */
  readonly receive: (
    source: AsyncIterable<Uint8Array>,
  ) => Promise<{ readonly names: readonly string[]; readonly bytes: number }>;
  /** The name of a live node that has one of these directories. */
  readonly findLiveNode: (names: readonly string[]) => Promise<string | null>;
  /** The directories that no node is known to have had; none for a known `nodeId`. */
  readonly listUnknown: (names: readonly string[], nodeId: string | null) => Promise<readonly string[]>;
  readonly listWaiting: (names: readonly string[]) => Promise<readonly string[]>;
}

export interface NodeClockState {
  /** The machine's clock minus the database's; null before the database answered. */
  readonly skewMs: number | null;
  readonly steppedAtMs: number | null;
  readonly stepMs: number | null;
}

export interface BackupsDep {
  /** The file's bytes, in one snapshot. Ending the iteration early frees the database. */
  readonly open: () => AsyncGenerator<Buffer>;
  /** Throws a BackupError for a fault of the file or gateway; nothing was changed then. */
  readonly restore: (packed: AsyncIterable<Uint8Array>, replaces: boolean, signal: AbortSignal) => Promise<Restored>;
}

export interface BudgetsDep {
  /** Puts the database's budgets in force on this node, also for calls that begin right after; others notice them by themselves. */
  readonly publish: () => Promise<void>;
  readonly listUses: (
    budget: Parameters<typeof listUses>[0],
    only: { readonly most: number; readonly value?: string },
  ) => Promise<UsesOfBudget>;
  /** How this node takes part in spending; null for one without proxies. */
  readonly readState: () => BudgetState | null;
}

export interface AdminDeps {
  readonly adminToken: string;
  readonly oidc: OidcConfig | null;
  readonly adminHost: string;
  readonly endedSessions: EndedSessions;
  readonly access: AdminAccess;
  /** Origins of the dashboard and of the proxy, whose names the Host check accepts. */
  readonly adminPublicUrl: string | null;
  readonly publicUrl: string | null;
  readonly baseUrl: string;
  readonly version: string;
  /** A `control` node has no proxies. */
  readonly role: 'all' | 'control';
  readonly dashboard: DashboardFiles | null;
  /** Has credentials, for making another login. */
  readonly databaseUrl: string;
  readonly isStopping: () => boolean;
  readonly database: () => pg.Pool | null;
  /** The role of people and API tokens in the database; null where there is none. */
  readonly wallRole: () => WallRole | null;
  readonly databaseProblem: () => string | null;
  /** Whether the text of bodies may be stored, searched and shown. */
  readonly keepsTexts: () => boolean;
  /** Resolves to true when every local proxy has this version of the keys or a later one, false after a time limit. */
  readonly publishKeys: (version: number) => Promise<boolean>;
  /** How alerts leave. */
  readonly alertSending: SendOptions;
  readonly credentialKeys: Config['credentialKeys'];
  /** Brings the kept credentials of the database to this node's proxies; other nodes look every second. */
  readonly publishCredentials: () => Promise<void>;
  /** Sends this node's proxies what is paused, if that has changed; the other nodes look by themselves. */
  readonly publishPauses: () => Promise<void>;
  readonly readSupervisorStatus: () => Promise<SupervisorStatus | null>;
  /** Replaces the proxies, then this process. Null when the supervisor does not answer. */
  readonly requestRestart: () => Promise<RestartStatus | null>;
  readonly readSpoolStatus: () => Promise<SpoolStatus | null>;
  readonly ledger: LedgerDep;
  /** Opens `/metrics` only. */
  readonly metricsToken: string | null;
  readonly countRunningJobs: () => Promise<number | null>;
  /** Null while the database does not answer, and on a node that only takes calls: the others say it. */
  readonly readBrakeAndAlertFigures: () => Promise<BrakeAndAlertFigures | null>;
  /** As of a minute ago at most. Null while the database does not answer, and on a node that only takes calls. */
  readonly readBudgetOverview: () => Promise<BudgetOverview | null>;
  readonly demoData: DemoDataDep;
  readonly backups: BackupsDep;
  readonly budgets: BudgetsDep;
  readonly settings: readonly Setting[];
  readonly prices: CurrentPriceBook;
  readonly catalogs: PriceCatalogs;
  readonly nodes: NodesDep;
  readonly spoolImports: SpoolImportsDep;
  /** This node's corrected clock. */
  readonly nowMs: () => number;
  readonly log: Logger;
}

export function requireDatabase(deps: Pick<AdminDeps, 'database'>): pg.Pool {
  const pool = deps.database();
  if (pool === null) throw databaseUnavailable();
  return pool;
}
