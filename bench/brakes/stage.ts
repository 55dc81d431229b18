/** A database with the shipper and the watch of a node, as they run in its control process. */
import type pg from 'pg';
import { repeatBrakes } from '../../src/control/process/repeat-brakes.ts';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import { openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import type { PriceCall } from '../../src/pricing/billable-call.ts';
import type { SpoolEntry } from '../../src/vocabulary/call-record.ts';
import { createLog } from '../../src/vocabulary/log.ts';
import { priceByToken } from '../../test/support/call-fixtures.ts';
import { openTestPool } from '../../test/support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres } from '../../test/support/postgres.ts';
import { UNPRICED_MODEL } from './make-loop.ts';

export interface BrakeStage {
  readonly pool: pg.Pool;
  readonly store: (entries: readonly SpoolEntry[]) => Promise<void>;
  readonly begin: () => void;
  readonly close: () => Promise<void>;
}

/** A dollar for a million tokens, ten for those of answers: what the rules look at is how it changes. */
const priceCall: PriceCall = (call) => {
  const priced = priceByToken(call);
  if (call.model?.includes(UNPRICED_MODEL) !== true) return priced;
  return { ...priced, costStatus: 'unpriced', totalCost: null, knownCost: 0n, inputCost: null, outputCost: null };
};

export async function openBrakeStage(): Promise<BrakeStage> {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('there is no PostgreSQL to start');
  const server = await startPostgres(kind);
  const pool = openTestPool(await server.createDatabase('brakes'));
  await pool.query(
    "insert into gateway_keys (account_id, name, digest, prefix, last4) values (1, 'bench', decode(repeat('07', 32), 'hex'), '', '')",
  );
  const session = await openIngestSession(pool);
  let watch: ReturnType<typeof repeatBrakes> | null = null;
  return {
    pool,
    store: async (entries) => {
      const { items, failed } = buildBatch(entries, { process: 'bench', priceCall, nowMs: Date.now() });
      if (failed.length > 0) throw new Error('a call has no row', { cause: failed[0]?.error });
      await session.ingest(items);
    },
    begin: () => {
      watch ??= repeatBrakes({
        pool,
        nowMs: Date.now,
        publishPauses: async () => {},
        log: createLog({ level: 'warn', role: 'bench' }),
      });
    },
    close: async () => {
      await watch?.stop();
      session.close();
      await pool.end();
      await server.remove();
    },
  };
}
