/** Looks at the price feed once a day, on the first node whose time has come, and reports each new result once. */
import type pg from 'pg';
import { type FeedState, readFeedState } from '../prices/declared/check-feed.ts';
import type { PriceCatalogs } from '../prices/declared/price-catalogs.ts';
import { isDatabaseDown } from '../store/database-error.ts';
import { type Repeating, repeat } from './repeat.ts';

const POLL_MS = 60_000;
const DAY_MS = 86_400_000;
/** After a failed look. */
const RETRY_MS = 3_600_000;
/** Spreads gateways that start together. */
const MAX_JITTER_MS = 3_600_000;
const FIRST_JITTER_MS = 30_000;

interface FeedLog {
  info(message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface RepeatFeedOptions {
  readonly pool: pg.Pool;
  readonly isOn: () => boolean;
  readonly nowMs: () => number;
  readonly catalogs: PriceCatalogs;
  readonly log: FeedLog;
}

function isDue({ checkedAt, result }: FeedState, nowMs: number, jitterMs: number): boolean {
  if (checkedAt === null) return true;
  return nowMs - checkedAt.getTime() >= (result === 'failed' ? RETRY_MS : DAY_MS) + jitterMs;
}

/** A new catalog is always reported, anything else only when it changes. */
function report(before: FeedState, after: FeedState, log: FeedLog): void {
  const { result, detail } = after;
  const wasWell = before.result !== 'refused' && before.result !== 'failed';
  if (result === 'activated') log.info('newer prices came from the price feed and are in use');
  else if (result === 'unchanged' && !wasWell) log.info('the price feed is well again; the prices in use are its own');
  else if (result !== before.result || detail !== before.detail) {
    if (result === 'refused')
      log.error(
        { detail },
        'what the price feed has looks wrong; the prices in use stay. See `tollgate prices status`',
      );
    if (result === 'failed') log.warn({ detail }, 'the price feed did not come; the prices in use stay');
  }
}

/** One turn, which looks if it is time; `log` gets news. */
export async function lookWhenDue(
  { pool, catalogs, log }: Pick<RepeatFeedOptions, 'pool' | 'catalogs' | 'log'>,
  nowMs: number,
  jitterMs: number,
): Promise<void> {
  try {
    const before = await readFeedState(pool);
    if (!isDue(before, nowMs, jitterMs)) return;
    const state = await catalogs.lookAtFeed(pool, { actor: 'price feed', acceptsChanges: false }, false);
    if (typeof state === 'object') report(before, state, log);
  } catch (error) {
    if (!isDatabaseDown(error)) log.error({ err: error }, 'the price feed could not be looked at');
  }
}

export function repeatFeed(options: RepeatFeedOptions): Repeating {
  if (options.catalogs.feedSetting === 'off') return repeat(() => Promise.resolve(null));
  const jitterMs = Math.random() * MAX_JITTER_MS;
  return repeat(async () => {
    if (options.isOn()) await lookWhenDue(options, options.nowMs(), jitterMs);
    return POLL_MS;
  }, Math.random() * FIRST_JITTER_MS);
}
