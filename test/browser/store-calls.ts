/** Puts made-up calls into a gateway's database by the same code that stores real ones; not through its proxy. */
import type pg from 'pg';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import { openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import type { PriceCall } from '../../src/pricing/billable-call.ts';
import type { SpoolEntry } from '../../src/vocabulary/call-record.ts';
import { priceByToken } from '../support/call-fixtures.ts';
import { openMigrated } from '../support/open-migrated.ts';

export interface CallStore {
  readonly pool: pg.Pool;
  readonly store: (entries: readonly SpoolEntry[]) => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function openCallStore(connectionString: string, priceCall: PriceCall = priceByToken): Promise<CallStore> {
  const pool = await openMigrated(connectionString);
  const session = await openIngestSession(pool);
  return {
    pool,
    store: async (entries) => {
      const { items } = buildBatch(entries, { process: 'test', priceCall, nowMs: Date.now() });
      await session.ingest(items);
    },
    close: async () => {
      session.close();
      await pool.end();
    },
  };
}

/** A UUIDv7 of the given millisecond: by it the call's partition is found. */
export function callIdAt(atMs: number, number: number): string {
  const time = atMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${number.toString(16).padStart(12, '0')}`;
}
