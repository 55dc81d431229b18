/** Checks the price feed and has new content judged and imported, in one process at a time. */
import { REMOTE_DATA_JSON_URL } from '@pydantic/genai-prices';
import type pg from 'pg';
import { withConnection } from '../../store/pool.ts';
import type { FeedRequest } from './fetch-feed.ts';
import { holdFeedAlsoOn, type ImportOptions, type ImportOutcome, importCatalog } from './import-catalog.ts';
import type { Refusal } from './judge-catalog.ts';

export type FeedResult = 'unchanged' | 'activated' | 'refused' | 'failed';

export interface FeedState {
  readonly etag: string | null;
  readonly checkedAt: Date | null;
  readonly result: FeedResult | null;
  readonly detail: string | null;
}

export interface FeedOptions extends Omit<FeedRequest, 'url' | 'etag'> {
  readonly setting: string;
  readonly now: () => number;
}

/** An advisory lock, the same in every version. */
const FEED_LOCK = 7_461_006;
const MAX_DETAIL_LINES = 20;
const MAX_DETAIL_LENGTH = 4_000;

/** Null when the feed is off; `on` is the bundled catalog's address. */
export function readFeedUrl(setting: string): string | null {
  if (setting === 'off') return null;
  return setting === 'on' ? REMOTE_DATA_JSON_URL : setting;
}

export async function readFeedState(client: pg.ClientBase | pg.Pool): Promise<FeedState> {
  const { rows } = await client.query<FeedState>(
    'select etag, checked_at as "checkedAt", result, detail from price_feed',
  );
  return rows[0] ?? { etag: null, checkedAt: null, result: null, detail: null };
}

async function keepState(client: pg.ClientBase, state: FeedState): Promise<void> {
  await client.query('update price_feed set etag = $1, checked_at = $2, result = $3, detail = $4', [
    state.etag,
    state.checkedAt,
    state.result,
    state.detail,
  ]);
}

/** Refusals line by line; a long list shows its beginning and length. */
export function describeRefusals(refusals: readonly Refusal[]): string {
  const lines = refusals.slice(0, MAX_DETAIL_LINES).map(({ text }) => text);
  const more = refusals.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n').slice(0, MAX_DETAIL_LENGTH);
}

function describeOutcome(outcome: ImportOutcome): Pick<FeedState, 'result' | 'detail'> {
  switch (outcome.kind) {
    case 'activated':
    case 'unchanged':
      return { result: outcome.kind, detail: null };
    case 'refused':
      return { result: 'refused', detail: describeRefusals(outcome.refusals) };
    case 'unreadable':
    case 'outdated':
      return { result: 'refused', detail: `the file cannot be used: ${outcome.problem}`.slice(0, MAX_DETAIL_LENGTH) };
  }
}

async function look(
  client: pg.PoolClient,
  pool: pg.Pool,
  options: FeedOptions & ImportOptions & { readonly url: string },
  isForced: boolean,
): Promise<FeedState> {
  // Loaded on demand, since most gateways never use the feed.
  const { fetchFeed } = await import('./fetch-feed.ts');
  const before = await readFeedState(client);
  const { url, egress, timeoutMs } = options;
  const answer = await fetchFeed({ url, etag: isForced ? null : before.etag, egress, timeoutMs });
  const checkedAt = new Date(options.now());
  const today = checkedAt.toISOString().slice(0, 10);
  if (answer.kind === 'failed')
    // A failure hides a refusal, so the next check judges the content again.
    return {
      etag: before.result === 'refused' ? null : before.etag,
      checkedAt,
      result: 'failed',
      detail: answer.reason,
    };
  if (answer.kind === 'not_modified') {
    if (before.result === 'refused') return { ...before, checkedAt };
    await holdFeedAlsoOn(pool, today, options);
    return { ...before, checkedAt, result: 'unchanged', detail: null };
  }
  const file = { name: url, origin: 'feed', checkedOn: today, bytes: answer.bytes } as const;
  const outcome = await importCatalog(pool, file, options);
  return { etag: answer.etag, checkedAt, ...describeOutcome(outcome) };
}

/** `isForced` also judges known content. Null when another process is checking. Rejects only for the database. */
export function checkFeed(
  pool: pg.Pool,
  options: FeedOptions & ImportOptions & { readonly url: string },
  isForced: boolean,
): Promise<FeedState | null> {
  // A failure closes the connection, which releases its lock.
  return withConnection(pool, async (client) => {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [FEED_LOCK]);
    if (rows[0]?.locked !== true) return null;
    const state = await look(client, pool, options, isForced);
    await keepState(client, state);
    await client.query('select pg_advisory_unlock($1)', [FEED_LOCK]);
    return state;
  });
}
