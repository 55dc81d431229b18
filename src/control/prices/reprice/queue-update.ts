/** After new list prices, re-prices calls without a total cost once. Operators' declarations do not trigger it. */
import type pg from 'pg';
import { listYieldingDays } from '../../../pricing/overlay-prices.ts';
import { createPriceBook } from '../../../pricing/price-book.ts';
import { insertJob } from '../../jobs/job-store.ts';
import { inTransaction } from '../../store/pool.ts';
import { describeOutdated, readActiveFacts } from '../declared/catalog-in-use.ts';
import { createRepriceJob, isBusy, type RepriceInput } from './reprice-request.ts';

export type QueuedUpdate =
  | { readonly type: 'queued'; readonly jobIds: readonly number[] }
  /** Prices are unchanged, or every call has a total cost. */
  | { readonly type: 'nothing' }
  /** The previous update's job is running: ask again later. */
  | { readonly type: 'busy' };

/** The version of the bundled prices. Takes a moment, so callers ask once. */
export function readOwnVersion(): string {
  return createPriceBook().version;
}

/** Of what prices calls: a catalog that is too old does not, and with its day others yield to it. */
async function readListVersion(client: pg.ClientBase, ownVersion: string): Promise<string> {
  const active = await readActiveFacts(client);
  if (active === null || describeOutdated(active.name, active.checked_on) !== null) return ownVersion;
  return [ownVersion, active.sha256, ...listYieldingDays(active.checked_on)].join(' ');
}

async function listAccountsWithoutCost(client: pg.ClientBase): Promise<readonly number[]> {
  const { rows } = await client.query<{ id: number }>(
    `select id from accounts a where exists (
       select from llm_requests r where r.account_id = a.id and r.cost_status in ('unpriced', 'partial'))
     order by id`,
  );
  return rows.map(({ id }) => id);
}

/** `bookVersion` is for the reason in the revisions. One of several nodes queues the jobs, one for each account. */
export async function queueUpdate(pool: pg.Pool, ownVersion: string, bookVersion: string): Promise<QueuedUpdate> {
  try {
    return await inTransaction(pool, async (client) => {
      const { rows } = await client.query<{ version: string | null }>(
        'select version from repriced_list_prices for update',
      );
      const version = await readListVersion(client, ownVersion);
      const before = rows[0]?.version ?? null;
      if (before === version) return { type: 'nothing' };
      await client.query('update repriced_list_prices set version = $1', [version]);
      // The first start on an empty log: calls since then have these prices.
      if (before === null) return { type: 'nothing' };
      const accounts = await listAccountsWithoutCost(client);
      if (accounts.length === 0) return { type: 'nothing' };
      const input: RepriceInput = {
        from: null,
        to: null,
        filters: [],
        model: null,
        only: 'unpriced',
        reason: `price book updated to ${bookVersion}`,
        asked_by: null,
        dry_run: false,
      };
      const jobIds: number[] = [];
      for (const accountId of accounts) jobIds.push(await insertJob(client, createRepriceJob(accountId, input, true)));
      return { type: 'queued', jobIds };
    });
  } catch (error) {
    if (isBusy(error)) return { type: 'busy' };
    throw error;
  }
}
