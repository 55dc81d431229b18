/** The admin API over a real database that a test fills with calls: nothing is proxied, and nothing but the test writes. */

import type pg from 'pg';
import { createAdminApp } from '../../src/control/admin/admin-app.ts';
import { listenAdmin } from '../../src/control/admin/admin-server.ts';
import { createDemoData } from '../../src/control/demo-log/demo-data.ts';
import { type CurrentPriceBook, createCurrentPriceBook } from '../../src/control/prices/declared/current-price-book.ts';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import { openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import { raiseAccountWall } from '../../src/control/store/account-wall.ts';
import type { PriceCall } from '../../src/pricing/billable-call.ts';
import type { CallBegin, CallEnd, SpoolEntry } from '../../src/vocabulary/call-record.ts';
import { bareAdminDeps } from './admin-deps.ts';
import { callBegin, callEnd, NOON_MS, priceByToken } from './call-fixtures.ts';
import { openTestPool } from './open-migrated.ts';
import { type PostgresKind, startPostgres } from './postgres.ts';

export const ADMIN_TOKEN = 'test-admin-token';

/** A UUIDv7 of the call's own millisecond, by which its partition is found. */
export function idAt(number: number): string {
  const time = (NOON_MS + number).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

export function begunCall(number: number, begin: Partial<CallBegin> = {}): SpoolEntry {
  return { type: 'begin', begin: callBegin(number, { id: idAt(number), ...begin }) };
}

/** It arrives `number` milliseconds after noon and takes 1.5 s unless said otherwise. */
export function endedCall(number: number, begin: Partial<CallBegin> = {}, end: Partial<CallEnd> = {}): SpoolEntry {
  return {
    type: 'end',
    begin: callBegin(number, { id: idAt(number), ...begin }),
    end: callEnd(number, { id: idAt(number), ...end }),
  };
}

export function tokens(input: number, output: number): CallEnd['usage'] {
  return { classes: { input, output }, reasoning: null, native: {} };
}

export interface AdminDatabase {
  readonly url: string;
  readonly databaseUrl: string;
  readonly pool: pg.Pool;
  readonly store: (...entries: SpoolEntry[]) => Promise<void>;
  /** The price book in force, as the database has it. */
  readonly prices: CurrentPriceBook;
  /** As `store`, at the prices in force. */
  readonly storePriced: (...entries: SpoolEntry[]) => Promise<void>;
  readonly ask: (path: string, init?: { signal?: AbortSignal; lastId?: string }) => Promise<Response>;
  /** A change: the JSON answer and its status, whatever that is. */
  readonly send: (
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<{ readonly status: number; readonly body: unknown }>;
  /** The JSON of a 200; anything else throws with the answer's text. */
  readonly read: (path: string) => Promise<unknown>;
  readonly stop: () => Promise<void>;
}

export async function startAdminDatabase(kind: PostgresKind): Promise<AdminDatabase> {
  const server = await startPostgres(kind);
  const databaseUrl = await server.createDatabase('lists');
  const pool = openTestPool(databaseUrl, { max: 8 });
  const wall = await raiseAccountWall(pool);
  if (wall.kind !== 'up') throw new Error(`the wall between accounts is ${wall.kind}`);
  const session = await openIngestSession(pool);
  const prices = createCurrentPriceBook();
  const app = createAdminApp(
    bareAdminDeps({
      adminToken: ADMIN_TOKEN,
      databaseUrl,
      database: () => pool,
      wallRole: () => wall,
      demoData: createDemoData({
        pool,
        accountId: 1,
        priceCall: priceByToken,
        retentionRowsDays: 90,
        retentionBodiesDays: 14,
        now: () => NOON_MS,
      }),
      prices,
    }),
  );
  const api = await listenAdmin(app, '127.0.0.1', 0);
  const url = `http://127.0.0.1:${api.port}`;

  const ask: AdminDatabase['ask'] = (path, { signal, lastId } = {}) =>
    fetch(`${url}/api/v1${path}`, {
      ...(signal === undefined ? {} : { signal }),
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, ...(lastId === undefined ? {} : { 'last-event-id': lastId }) },
    });

  async function ingest(entries: readonly SpoolEntry[], priceCall: PriceCall): Promise<void> {
    await session.ingest(buildBatch(entries, { process: 'test', priceCall, nowMs: NOON_MS + 3_600_000 }).items);
  }

  return {
    url,
    databaseUrl,
    pool,
    prices,
    store: (...entries) => ingest(entries, priceByToken),
    storePriced: async (...entries) => {
      await prices.refresh(pool);
      await ingest(entries, prices.book(1).priceCall);
    },
    ask,
    send: async (method, path, body, headers = {}) => {
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    },
    read: async (path) => {
      const response = await ask(path);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
      return JSON.parse(text);
    },
    stop: async () => {
      await api.close();
      session.close();
      await pool.end();
      await server.remove();
    },
  };
}
