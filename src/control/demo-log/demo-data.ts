/** Loads demo data by the shipper's own code, all under one unusable key, and takes it out again. */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { PriceCallOf } from '../../pricing/billable-call.ts';
import { buildBatch } from '../shipper/build-batch.ts';
import { type IngestSession, openIngestSession } from '../shipper/ingest-session.ts';
import { deleteKey, ensureUnusableKey, readKeyByDigest, touchKeys } from '../store/gateway-keys.ts';
import type { StoredKey } from '../store/key-row.ts';
import { DAY_MS, dayOf } from '../store/partitions.ts';
import { inTransaction } from '../store/pool.ts';
import { makeDemoEntries } from './make-demo-entries.ts';

/** The number is arbitrary and stays the same in every version. */
const DEMO_LOCK = 7_461_014;
const REACH_MS = 3 * DAY_MS;
const KEY_NAME = 'Demo data';
const NODE = 'demo';

export interface DemoDataOptions {
  readonly pool: pg.Pool;
  readonly accountId: number;
  readonly priceCall: PriceCallOf;
  readonly retentionRowsDays: number;
  readonly retentionBodiesDays: number;
  readonly now: () => number;
}

export interface DemoData {
  readonly countCalls: () => Promise<number>;
  readonly readKeyId: () => Promise<number | null>;
  /** Returns the number of added calls; 0 when they are there already. */
  readonly load: () => Promise<number>;
  readonly remove: () => Promise<number>;
}

/** The digest of a text that is no gateway key, so no client can send it. */
function demoDigest(accountId: number): string {
  return createHash('sha256').update(`demo data of account ${accountId}`).digest('hex');
}

export function createDemoData(options: DemoDataOptions): DemoData {
  const { pool, accountId } = options;
  const digest = demoDigest(accountId);

  async function alone<T>(work: (session: IngestSession) => Promise<T>): Promise<T> {
    const session = await openIngestSession(pool);
    try {
      // Closing the session frees the lock.
      await session.client.query('select pg_advisory_lock($1)', [DEMO_LOCK]);
      return await work(session);
    } finally {
      session.close();
    }
  }

  async function load(session: IngestSession): Promise<number> {
    const nowMs = options.now();
    const key = await inTransaction(pool, (client) =>
      ensureUnusableKey(client, {
        accountId,
        digest,
        name: KEY_NAME,
        prefix: 'tgk_demo',
        last4: 'data',
        createdAtMs: nowMs,
      }),
    );
    if ((await countCallsOf(pool, key)) > 0) return 0;
    const firstDay = (days: number) => dayOf(days === 0 ? nowMs + DAY_MS : nowMs - days * DAY_MS);
    const firstRows = firstDay(options.retentionRowsDays);
    const firstBodies = firstDay(options.retentionBodiesDays);
    const entries = makeDemoEntries({
      accountId,
      nowMs,
      keyId: key.keyId,
      node: NODE,
      keepsCall: (requestedAtMs) => dayOf(requestedAtMs) >= firstRows,
      keepsBodies: (requestedAtMs) => dayOf(requestedAtMs) >= firstBodies,
    });
    const { items, failed } = buildBatch(entries, { process: NODE, priceCall: options.priceCall, nowMs });
    const [failure] = failed;
    if (failure !== undefined) throw new Error('a call of the demo data has no row', { cause: failure.error });
    // Comes before the calls, since removing looks no further than this.
    await touchKeys(pool, new Map([[key.keyId, nowMs]]));
    return session.ingest(items);
  }

  async function remove(session: IngestSession): Promise<number> {
    const key = await readKeyByDigest(pool, accountId, digest);
    if (key === null) return 0;
    const removed = await session.remove({ accountId, keyId: key.keyId, ...reachOf(key) });
    await inTransaction(pool, (client) => deleteKey(client, accountId, key.keyId));
    return removed;
  }

  return {
    countCalls: async () => {
      const key = await readKeyByDigest(pool, accountId, digest);
      return key === null ? 0 : countCallsOf(pool, key);
    },
    readKeyId: async () => (await readKeyByDigest(pool, accountId, digest))?.keyId ?? null,
    load: () => alone(load),
    remove: () => alone(remove),
  };
}

/** The days of the key's calls; others are not read. */
function reachOf({ createdAtMs, lastUsedAtMs }: StoredKey): { readonly fromMs: number; readonly toMs: number } {
  return { fromMs: createdAtMs - REACH_MS, toMs: Math.max(createdAtMs, lastUsedAtMs ?? 0) + DAY_MS };
}

async function countCallsOf(pool: pg.Pool, key: StoredKey): Promise<number> {
  const { fromMs, toMs } = reachOf(key);
  const { rows } = await pool.query<{ calls: number }>(
    `select count(*) as calls from llm_requests
     where account_id = $1 and key_id = $2 and requested_at between $3 and $4`,
    [key.accountId, key.keyId, new Date(fromMs), new Date(toMs)],
  );
  return rows[0]?.calls ?? 0;
}
