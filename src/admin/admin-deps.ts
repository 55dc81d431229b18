/** What the admin API needs of the process it lives in. It starts nothing and keeps no state of its own. */

import type pg from 'pg';
import type { Logger } from 'pino';
import type { RestoreResult } from '../backup/restore-backup.ts';
import type { RestartStatus, SupervisorStatus } from '../channel.ts';
import type { Setting } from '../config.ts';
import type { CurrentPriceBook } from '../prices/current-price-book.ts';
import type { PriceCatalogs } from '../prices/price-catalogs.ts';
import type { JsonValue } from '../token-usage.ts';
import { databaseUnavailable } from './api-error.ts';
import type { DashboardFiles } from './dashboard-files.ts';

/** The files that records wait in. */
export interface SpoolStatus {
  readonly bytes: number;
  /** Near it bodies are dropped first, then records. */
  readonly limitBytes: number;
  readonly isDiskLow: boolean;
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
  /** Adds a name to those that the Host check accepts. */
  readonly publicUrl: string | null;
  /** Where clients reach the proxy. */
  readonly baseUrl: string;
  readonly version: string;
  /** Null when it was not built. */
  readonly dashboard: DashboardFiles | null;
  /** Null until the database answered and its schema is up to date. */
  readonly database: () => pg.Pool | null;
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
  readonly log: Logger;
}

export function requireDatabase(deps: AdminDeps): pg.Pool {
  const pool = deps.database();
  if (pool === null) throw databaseUnavailable();
  return pool;
}
