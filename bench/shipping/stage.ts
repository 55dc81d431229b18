/** A spool directory, the shipper on it and the embedded PostgreSQL with its own settings. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import pino from 'pino';
import { foldRollups } from '../../src/control/log/fold-rollups.ts';
import { type Shipper, startShipper } from '../../src/control/shipper/shipper.ts';
import { migrate } from '../../src/control/store/migrate.ts';
import { openPool } from '../../src/control/store/pool.ts';
import { openSpoolWriter, type SpoolWriter } from '../../src/spool/spool-writer.ts';
import { startEmbeddedPostgres } from '../../src/supervisor/postgres/embedded-postgres.ts';
import { fixedPrices } from '../../test/support/fixed-prices.ts';
import { listDescendants, readCpuNs } from '../proxy/process-figures.ts';
import type { MadeCall } from './made-calls.ts';

/** So many are open at a time. */
const CALLS_AT_ONCE = 20;
const DRAIN_LIMIT_MS = 600_000;
const MIGRATIONS = join(import.meta.dirname, '..', '..', 'migrations');

export interface Figures {
  readonly controlUs: number;
  readonly databaseUs: number;
  readonly walBytes: number;
  readonly tookMs: number;
}

export interface ShippingStage {
  readonly keyId: number;
  readonly pool: pg.Pool;
  /** Writes beginnings and nothing more, and ships them. */
  readonly begin: (calls: readonly MadeCall[]) => Promise<Figures>;
  /** Writes whole calls, or only endings of those that have begun, and ships them. The writing is not counted. */
  readonly ship: (calls: readonly MadeCall[], hasBegun: boolean) => Promise<Figures>;
  /** What all nodes together do once a few seconds. */
  readonly fold: () => Promise<Figures>;
  readonly close: () => Promise<void>;
}

export async function openStage({ keepsTexts }: { readonly keepsTexts: boolean }): Promise<ShippingStage> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-shipping-'));
  const spoolDir = join(dataDir, 'spool');
  mkdirSync(spoolDir, { recursive: true });
  const log = pino({ level: 'silent' });
  const server = await startEmbeddedPostgres({ dataDir, log, mayBeAway: false, onMoved: () => {} });
  const pool = openPool({
    connectionString: server.connectionString(),
    max: 4,
    statementTimeoutMs: 60_000,
    applicationName: 'bench',
    onIdleError: () => {},
  });
  await migrate(pool, MIGRATIONS);
  const keyId = await prepareAccount(pool);
  const complain = pino({ level: 'warn' }, pino.destination(2));
  const writer = openSpoolWriter({ dir: join(spoolDir, 'proxy-1'), durability: 'process', log: complain });
  const shipper = startShipper({ pool, spoolDir, prices: fixedPrices(), log: complain, keepsTexts: () => keepsTexts });

  /** Reading the meters is not counted. */
  async function measure(work: () => Promise<unknown>): Promise<Figures> {
    const before = await readDatabaseMeters(pool, server.status().pid);
    const controlBeforeUs = readControlUs();
    const startedMs = performance.now();
    await work();
    const tookMs = performance.now() - startedMs;
    const controlUs = readControlUs() - controlBeforeUs;
    const after = await readDatabaseMeters(pool, server.status().pid);
    return {
      controlUs,
      databaseUs: after.databaseUs - before.databaseUs,
      walBytes: after.walBytes - before.walBytes,
      tookMs,
    };
  }

  return {
    keyId,
    pool,
    begin: async (calls) => {
      await settle(calls, (call, done) => writer.begin(call.begin, done));
      return measure(() => drain(shipper));
    },
    ship: async (calls, hasBegun) => {
      for (let first = 0; first < calls.length; first += CALLS_AT_ONCE) {
        const some = calls.slice(first, first + CALLS_AT_ONCE);
        if (!hasBegun) await settle(some, (call, done) => writer.begin(call.begin, done));
        await settle(some, (call, done) => writer.end(call.begin, call.end, call.bodies, done));
      }
      return measure(() => drain(shipper));
    },
    fold: () => measure(() => foldRollups(pool)),
    close: async () => {
      await shipper.stop();
      await writer.close();
      await pool.end();
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

type Write = (call: MadeCall, done: Parameters<SpoolWriter['begin']>[1]) => void;

function settle(calls: readonly MadeCall[], write: Write): Promise<unknown> {
  return Promise.all(
    calls.map(
      (call) =>
        new Promise<void>((resolve, reject) => {
          write(call, (isSpooled) => (isSpooled ? resolve() : reject(new Error('a record was not spooled'))));
        }),
    ),
  );
}

async function drain(shipper: Shipper): Promise<void> {
  if (!(await shipper.drain(DRAIN_LIMIT_MS))) throw new Error('the spool was not stored in time');
}

/** A key of the gateway, and two promoted keys of metadata. */
async function prepareAccount(pool: pg.Pool): Promise<number> {
  await pool.query(
    `insert into metadata_keys (account_id, key_lower, display_key, state, promoted_at)
     values (1, 'feature', 'Feature', 'promoted', now()), (1, 'team', 'Team', 'promoted', now())`,
  );
  const { rows } = await pool.query<{ id: number }>(
    `insert into gateway_keys (account_id, name, digest, prefix, last4)
     values (1, 'bench', sha256('bench'), 'tg', 'ench') returning id`,
  );
  return rows[0]?.id ?? 1;
}

function readControlUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** The checkpointer and the writers count too. */
async function readDatabaseMeters(pool: pg.Pool, postmaster: number | null) {
  if (postmaster === null) throw new Error('PostgreSQL does not run');
  const { rows } = await pool.query<{ bytes: string }>("select pg_current_wal_insert_lsn() - '0/0' as bytes");
  return {
    databaseUs: readCpuNs([postmaster, ...listDescendants(postmaster)]) / 1_000,
    walBytes: Number(rows[0]?.bytes),
  };
}
