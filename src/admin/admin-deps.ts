/** What the admin API needs of the process it lives in. It starts nothing and keeps no state of its own. */

import type pg from 'pg';
import type { Logger } from 'pino';
import type { RestoreResult } from '../backup/restore-backup.ts';
import type { RestartStatus, SupervisorStatus } from '../channel.ts';
import type { Setting } from '../config.ts';
import type { CurrentPriceBook } from '../prices/current-price-book.ts';
import type { PriceCatalogs } from '../prices/price-catalogs.ts';
import type { QuarantinedItem } from '../quarantined-item.ts';
import type { StoredNode } from '../store/nodes.ts';
import type { JsonValue } from '../token-usage.ts';
import type { AdminAccess } from './admin-access.ts';
import { databaseUnavailable } from './api-error.ts';
import type { DashboardFiles } from './dashboard-files.ts';
import type { EndedSessions } from './ended-sessions.ts';

/** The files that records wait in. */
export interface SpoolStatus {
  readonly bytes: number;
  /** Near it bodies are dropped first, then records. */
  readonly limitBytes: number;
  readonly isDiskLow: boolean;
}

/** What became of calls: the first is the sum of the others. */
export interface AccountSums {
  /** Calls that have a record to be kept. */
  readonly accepted: number;
  readonly stored: number;
  /** Their ending lies in the spool and is not stored. */
  readonly spooled: number;
  readonly inFlight: number;
  /** The database refused their record in every form. */
  readonly setAside: number;
  readonly lost: number;
}

/** All calls since the data directory began to keep accounts. */
export interface AccountsReading extends AccountSums {
  /** Of those that were lost: nothing says why. */
  readonly missing: number;
  /** Calls that have ended and are nowhere to be found now: 0, unless something is wrong. */
  readonly difference: number;
  /** Calls that have ended, by what the proxies said last. */
  readonly ended: number;
  /** Endings that were found, stored and waiting. */
  readonly found: number;
  /** False: more waits in the spool than was counted. */
  readonly isWhole: boolean;
  /** When the oldest call that waits began; null when none waits. */
  readonly oldestWaitingMs: number | null;
  /** Stored calls by how they ended. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Those whose process directory is still there. */
  readonly processes: readonly (AccountSums & { readonly name: string; readonly isLive: boolean })[];
  /** Process directories whose calls cannot be counted, with the reason. */
  readonly unaccounted: readonly { readonly name: string; readonly reason: string }[];
  readonly unaccountedTotal: number;
  /** What was lost, by minute, key and model, the latest first. */
  readonly losses: readonly LossSums[];
}

/** All null but the first, the calls and the usage: of several, and of what is not known any more. */
export interface LossSums {
  readonly minuteMs: number;
  readonly accountId: number | null;
  readonly keyId: number | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly calls: number;
  readonly usage: Readonly<Record<string, number>>;
}

/** What the proxies have counted while this process lived, also those that are gone. */
export interface ProxyCounts {
  readonly callsTotal: number;
  readonly rejectedTotal: number;
  readonly bodiesDropped: number;
  readonly compactedTotal: number;
  readonly droppedConnections: number;
  readonly failedHandshakes: number;
  /** By code. */
  readonly refusals: Readonly<Record<string, number>>;
}

export interface AccountsDep {
  /** Null when the files cannot be read. */
  readonly read: () => Promise<AccountsReading | null>;
  /** The latest first; empty when the folder cannot be read. */
  readonly listQuarantine: () => Promise<readonly QuarantinedItem[]>;
  readonly countOfProxies: () => ProxyCounts;
  /** Null before it runs. */
  readonly readShipper: () => ShipperFigures | null;
}

/** The numbers of the shipper since it began. */
export interface ShipperFigures {
  readonly rows: number;
  readonly batches: number;
  readonly failures: number;
  readonly sanitised: number;
  readonly quarantined: number;
  readonly interrupted: number;
  readonly corruptBytes: number;
  /** Why the database cannot be used now. */
  readonly waitingFor: string | null;
  /** When everything in the spool had last been stored. */
  readonly drainedAtMs: number | null;
}

/** Example calls that can be put into the log and taken out again. */
export interface DemoDataDep {
  readonly countCalls: () => Promise<number>;
  /** The key that they are under; null when none were ever loaded, or all are removed. */
  readonly readKeyId: () => Promise<number | null>;
  /** Calls added; none when they are there already. */
  readonly load: () => Promise<number>;
  readonly remove: () => Promise<number>;
}

/** A restore that is done, and what followed from it. */
export interface Restored extends RestoreResult {
  /** Every local proxy has the restored keys, and no others. */
  readonly areKeysPublished: boolean;
  /** Calls that were under way when the backup was made: they have a row now, as interrupted. */
  readonly interrupted: number;
}

/** This node among those that share the database. */
export interface NodesDep {
  readonly ownId: string;
  /** All that are known, this one too; null when the database does not answer. */
  readonly list: () => Promise<readonly StoredNode[] | null>;
  readonly clock: () => NodeClockState;
  /** Settings of all nodes were changed here. */
  readonly onSettingsChanged: () => Promise<void>;
}

/** The spool of a node that is gone, on its way into that of this one. */
export interface SpoolImportsDep {
  /** Throws an ApiError when it may not be taken, or is not whole; nothing was taken then. */
  readonly receive: (
    source: AsyncIterable<Uint8Array>,
  ) => Promise<{ readonly names: readonly string[]; readonly bytes: number }>;
  /** The name of a node that has one of these and has given a sign of life just now. */
  readonly findLiveNode: (names: readonly string[]) => Promise<string | null>;
  /** Which of these no node is known to have had; none where the node of that id is known. */
  readonly listUnknown: (names: readonly string[], nodeId: string | null) => Promise<readonly string[]>;
  /** Which of these are in the spool still. */
  readonly listWaiting: (names: readonly string[]) => Promise<readonly string[]>;
}

export interface NodeClockState {
  /** The machine's clock less that of the database; null before that answered. */
  readonly skewMs: number | null;
  /** When the machine's clock last jumped while this process lived. */
  readonly steppedAtMs: number | null;
  readonly stepMs: number | null;
}

/** The whole database as one file, and back. */
export interface BackupsDep {
  /** The file's bytes, of one moment after this call. Ending the iteration early frees the database. */
  readonly open: () => AsyncGenerator<Buffer>;
  /** `packed` is the file. Throws a BackupError when it or the gateway is at fault; nothing was changed then. */
  readonly restore: (packed: AsyncIterable<Uint8Array>, replaces: boolean, signal: AbortSignal) => Promise<Restored>;
}

export interface AdminDeps {
  /** Whose keys and records these are: there is one account so far, and no request may name another. */
  readonly accountId: number;
  readonly adminToken: string;
  readonly adminHost: string;
  readonly endedSessions: EndedSessions;
  /** Counts what goes wrong at the door. */
  readonly access: AdminAccess;
  /** The dashboard's own address, an origin; and that of the proxy. Both add a name that the Host check accepts. */
  readonly adminPublicUrl: string | null;
  readonly publicUrl: string | null;
  /** Where clients reach the proxy. */
  readonly baseUrl: string;
  readonly version: string;
  /** `control`: this node has no proxies. */
  readonly role: 'all' | 'control';
  /** Null when it was not built. */
  readonly dashboard: DashboardFiles | null;
  /** The address of it, with its credentials: for who makes another login. */
  readonly databaseUrl: string;
  /** A stop is announced: `readyz` says so. */
  readonly isStopping: () => boolean;
  /** Null until the database answered and its schema is up to date. */
  readonly database: () => pg.Pool | null;
  /** Why not, or what is odd about it, in a sentence; null when there is nothing to say. */
  readonly databaseProblem: () => string | null;
  /** Resolves when every local proxy has this version of the keys, or later; false when one did not say so in time. */
  readonly publishKeys: (version: number) => Promise<boolean>;
  /** Null when the supervisor does not answer. */
  readonly readSupervisorStatus: () => Promise<SupervisorStatus | null>;
  /** Replaces the proxy processes, then this one; gives what is known of restarts then, or null as above. */
  readonly requestRestart: () => Promise<RestartStatus | null>;
  /** How far the records are; null until the shipper runs. */
  readonly readShipperStatus: () => JsonValue;
  /** Null when its folder cannot be read. */
  readonly readSpoolStatus: () => Promise<SpoolStatus | null>;
  readonly accounts: AccountsDep;
  /** Opens `/metrics` and nothing else; null when there is none. */
  readonly metricsToken: string | null;
  /** Jobs that run or wait for their turn; null when that is not known. */
  readonly countRunningJobs: () => Promise<number | null>;
  readonly demoData: DemoDataDep;
  readonly backups: BackupsDep;
  /** Those in force, for people to see. */
  readonly settings: readonly Setting[];
  /** What new calls are priced with. */
  readonly prices: CurrentPriceBook;
  /** Where they are from. */
  readonly catalogs: PriceCatalogs;
  readonly nodes: NodesDep;
  readonly spoolImports: SpoolImportsDep;
  /** The time of this node. Not `Date.now()`: the machine's clock may be wrong. */
  readonly nowMs: () => number;
  readonly log: Logger;
}

export function requireDatabase(deps: AdminDeps): pg.Pool {
  const pool = deps.database();
  if (pool === null) throw databaseUnavailable();
  return pool;
}
