/**
 * Backups of this gateway's database and what surrounds them: the spool is emptied before; after a restore keys are
 * published, prices read, dead calls closed and budgets published. `backup/` makes the file.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { BackupsDep, SpoolStatus } from '../admin/admin-deps.ts';
import { packBackup, unpackBackup } from '../backup/pack-backup.ts';
import { restoreBackup } from '../backup/restore-backup.ts';
import { writeBackup } from '../backup/write-backup.ts';
import type { CurrentPriceBook } from '../prices/declared/current-price-book.ts';
import type { Shipper } from '../shipper/shipper.ts';
import { renewSums } from '../store/renew-sums.ts';
import { closeConnection, openSingleConnection } from '../store/single-connection.ts';
import { closeOpenCalls, listOpenUntil } from './close-open-calls.ts';

/** Records that are stored later are not in the backup, which says so. */
const SPOOL_LIMIT_MS = 10_000;

export interface BackupsOptions {
  readonly databaseUrl: string;
  readonly pool: pg.Pool;
  readonly accountId: number;
  readonly tollgateVersion: string;
  readonly quarantineDir: string;
  readonly prices: CurrentPriceBook;
  readonly shipper: () => Shipper | null;
  readonly readSpoolStatus: () => Promise<SpoolStatus | null>;
  readonly publishKeys: (version: number) => Promise<boolean>;
  readonly publishBudgets: () => Promise<void>;
  readonly nowMs: () => number;
  readonly log: Logger;
}

export function createBackups(options: BackupsOptions): BackupsDep {
  const { databaseUrl, pool, accountId, prices, shipper, quarantineDir, log } = options;

  async function emptySpool(): Promise<{ readonly is_stored: boolean; readonly left_bytes: number | null }> {
    if ((await shipper()?.drain(SPOOL_LIMIT_MS)) === true) return { is_stored: true, left_bytes: 0 };
    return { is_stored: false, left_bytes: (await options.readSpoolStatus())?.bytes ?? null };
  }

  /** The restore stands even if this fails; a failure is logged and in the answer. */
  async function followUp<T>(what: string, work: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await work();
    } catch (error) {
      log.error({ err: error }, `after a restore: ${what}`);
      return otherwise;
    }
  }

  return {
    async *open() {
      const spool = await emptySpool();
      const client = await openSingleConnection({ connectionString: databaseUrl, applicationName: 'tollgate backup' });
      try {
        yield* packBackup(writeBackup(client, { tollgateVersion: options.tollgateVersion, spool }));
      } finally {
        await closeConnection(client);
      }
    },
    async restore(packed, replaces, signal) {
      // Earlier records belong to the log that is replaced.
      await emptySpool();
      const plain = unpackBackup(packed);
      const result = await restoreBackup({ connectionString: databaseUrl, plain, replaces, accountId, signal });
      const areKeysPublished = await options.publishKeys(result.keysVersion);
      await followUp('the prices could not be read', () => prices.refresh(pool), false);
      const interrupted = await followUp(
        'calls that were under way could not be closed',
        () =>
          closeOpenCalls({
            pool,
            prices,
            quarantineDir,
            log,
            nowMs: options.nowMs,
            listIds: listOpenUntil(Date.parse(result.header.created_at)),
          }),
        0,
      );
      // What the closed calls held is spent now, and perhaps of this node.
      if (interrupted > 0)
        await followUp('the sums of budgets could not be announced', () => renewSums(pool), undefined);
      await followUp('the budgets could not be published', options.publishBudgets, undefined);
      // Wakes the shipper; nobody waits for it.
      void shipper()?.drain(SPOOL_LIMIT_MS);
      return { ...result, areKeysPublished, interrupted };
    },
  };
}
