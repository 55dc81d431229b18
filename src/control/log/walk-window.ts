/**
 * A question asked slice by slice of time, so that its work is bounded whatever it filters by. The first slice covers
 * about `firstRows` rows, each next one as much time as the speed of the last one allows. The walk ends when enough was
 * found, when the window was asked whole, or when its time is spent: then it says how far it came, and another request
 * goes on from there.
 */
import type pg from 'pg';
import { CANCELLED_BY_TIME, errorCode } from '../store/database-error.ts';

/** What is walked over: an index begins with these. */
const TIMES = {
  calls: { table: 'llm_requests', column: 'requested_at' },
  runs_by_end: { table: 'llm_runs', column: 'ended_at' },
  runs_by_start: { table: 'llm_runs', column: 'started_at' },
} as const;

export interface WalkedWindow {
  readonly over: keyof typeof TIMES;
  readonly accountId: number;
  readonly direction: 'newest_first' | 'oldest_first';
  /** Inclusive; null from the beginning. */
  readonly from: Date | null;
  /** Exclusive; null without an end. */
  readonly to: Date | null;
}

/** What is left of a window when it was walked up to `searchedTo`. */
export function windowBehind(window: WalkedWindow, searchedTo: Date): WalkedWindow {
  return { ...window, [window.direction === 'newest_first' ? 'to' : 'from']: searchedTo };
}

/** Slices follow each other without a gap; the outer ends are those of the window. */
export interface Slice {
  readonly from: Date | null;
  readonly to: Date | null;
}

export interface WalkLimits {
  /** A slice under way when it is spent is undone; the first one is always asked. */
  readonly budgetMs: number;
  /** It bounds the work of the first slice, and with it how much progress each request makes at least. */
  readonly firstRows: number;
  /** Windows of a search that are enough to ask at once; in tests fewer. */
  readonly fewWindows?: number;
  readonly monotonicMs: () => number;
}

export const WALK_LIMITS: WalkLimits = {
  budgetMs: 150,
  firstRows: 2_000,
  monotonicMs: () => performance.now(),
};

/** A search may take longer: the index is asked as well, and one looks for something. */
export const SEARCH_LIMITS: WalkLimits = { ...WALK_LIMITS, budgetMs: 700 };

/** All work for one answer shares its time: what is left of it, when the answer was begun at `startedMs`. */
export function limitsLeft(limits: WalkLimits, startedMs: number): WalkLimits {
  return { ...limits, budgetMs: Math.max(0, limits.budgetMs - (limits.monotonicMs() - startedMs)) };
}

export type WalkEnd =
  | { readonly type: 'enough' | 'whole' }
  /** Newest first: all from this time on was asked. Oldest first: all before it. */
  | { readonly type: 'time_spent'; readonly searchedTo: Date };

/**
 * Asks `ask` for a number of rows that grows in the same way. The first time they are `firstRows`, and that is always
 * asked.
 */
export async function walkRows(
  client: pg.ClientBase,
  limits: WalkLimits,
  ask: (rows: number) => Promise<'enough' | 'whole' | 'more'>,
): Promise<'enough' | 'whole' | 'time_spent'> {
  const startedMs = limits.monotonicMs();
  let rows = limits.firstRows;
  for (let asked = 0; ; ) {
    const leftMs = limits.budgetMs - (limits.monotonicMs() - startedMs);
    if (asked > 0 && leftMs < LEAST_MS) return 'time_spent';
    const sliceStartedMs = limits.monotonicMs();
    const answer = asked === 0 ? await ask(rows) : await askWithin(client, leftMs / 2, () => ask(rows));
    if (answer === 'enough' || answer === 'whole') return answer;
    if (answer === 'more') asked += rows;
    rows = Math.max(1, Math.floor(rows * (answer === 'more' ? growthAfter(limits, sliceStartedMs) : SHRINKING)));
  }
}

/** How many times as much the next slice may be, after one that began then. */
export function growthAfter({ monotonicMs }: WalkLimits, sliceStartedMs: number): number {
  return Math.min(MAX_GROWTH, SLICE_MS / Math.max(1, monotonicMs() - sliceStartedMs));
}

/** A slice should take this long; the next one is made longer or shorter accordingly. */
const SLICE_MS = 60;
const MAX_GROWTH = 16;
/** After a slice that took too long: calls may be far denser there. */
export const SHRINKING = 1 / 16;
/** With less time left, another slice is not begun. */
const LEAST_MS = 20;

interface Edges {
  /** Milliseconds; the walk begins at `near` and ends at `far`, both inclusive. */
  readonly near: number;
  readonly far: number;
  /** `firstRows` rows behind `near`; null with fewer rows than that. */
  readonly first: number | null;
}

/** A question about the whole window is dear to plan, since it opens every day: one is asked, two without an end. */
async function readEdges(client: pg.ClientBase, window: WalkedWindow, firstRows: number): Promise<Edges | null> {
  const { over, accountId, direction, from, to } = window;
  const { table, column } = TIMES[over];
  const isNewestFirst = direction === 'newest_first';
  const rows = `select ${column} as time from ${table} where account_id = $1
    and ${column} >= coalesce($2::timestamptz, '-infinity') and ${column} < coalesce($3::timestamptz, 'infinity')
    order by ${column}`;
  const { rows: found } = await client.query<{ rows: number; earliest: Date; latest: Date }>(
    `select count(*) as rows, min(time) as earliest, max(time) as latest
     from (${rows} ${isNewestFirst ? 'desc' : 'asc'} limit $4) nearest`,
    [accountId, from, to, firstRows + 1],
  );
  const [nearest] = found;
  if (nearest === undefined || nearest.rows === 0) return null;
  const [near, last] = isNewestFirst
    ? [nearest.latest.getTime(), nearest.earliest.getTime()]
    : [nearest.earliest.getTime(), nearest.latest.getTime()];
  if (nearest.rows <= firstRows) return { near, far: last, first: null };
  const outer = isNewestFirst ? from?.getTime() : to === null ? undefined : to.getTime() - 1;
  if (outer !== undefined) return { near, far: outer, first: last };
  const { rows: ends } = await client.query<{ time: Date }>(`${rows} ${isNewestFirst ? 'asc' : 'desc'} limit 1`, [
    accountId,
    from,
    to,
  ]);
  return { near, far: ends[0]?.time.getTime() ?? last, first: last };
}

/**
 * The client is in a transaction of one snapshot. `ask` puts the question for a slice and returns whether that is
 * enough; a slice that took too long is undone, `ask` rejects, and the slice is asked again in parts or not at all.
 */
export async function walkWindow(
  client: pg.ClientBase,
  window: WalkedWindow,
  limits: WalkLimits,
  ask: (slice: Slice) => Promise<boolean>,
): Promise<WalkEnd> {
  const startedMs = limits.monotonicMs();
  const edges = await readEdges(client, window, limits.firstRows);
  const isNewestFirst = window.direction === 'newest_first';
  if (edges === null || edges.first === null) return { type: (await ask(window)) ? 'enough' : 'whole' };

  // Times of the walk count from where it begins, in its direction, so that both directions are one. The rows of one
  // instant stay in one slice.
  const { near: nearest, far: farthest, first } = edges;
  const origin = isNewestFirst ? nearest + 1 : nearest;
  const end = Math.abs(farthest - nearest) + 1;
  const timeOf = (distance: number): Date => new Date(isNewestFirst ? origin - distance : origin + distance);
  const sliceOf = (near: number, far: number): Slice => {
    const [begin, stop] = isNewestFirst ? [far, near] : [near, far];
    const isOuter = (distance: number, outer: Date | null): Date | null =>
      distance <= 0 || distance >= end ? outer : timeOf(distance);
    return { from: isOuter(begin, window.from), to: isOuter(stop, window.to) };
  };

  let width = Math.abs(first - nearest) + 1;
  let asked = 0;
  for (;;) {
    const leftMs = limits.budgetMs - (limits.monotonicMs() - startedMs);
    if (asked > 0 && leftMs < LEAST_MS) return { type: 'time_spent', searchedTo: timeOf(asked) };
    const far = Math.min(end, asked + width);
    const sliceStartedMs = limits.monotonicMs();
    const slice = sliceOf(asked, far);
    // Half of the time left: should the slice be too long, a shorter one can still be asked.
    const answer = asked === 0 ? await ask(slice) : await askWithin(client, leftMs / 2, () => ask(slice));
    if (answer === true) return { type: 'enough' };
    if (answer === 'too_long') {
      width = Math.max(1, Math.floor((far - asked) * SHRINKING));
      continue;
    }
    width = Math.max(1, Math.floor((far - asked) * growthAfter(limits, sliceStartedMs)));
    asked = far;
    if (asked >= end) return { type: 'whole' };
  }
}

/** A question that takes longer is undone. The client is in a transaction. */
export async function askWithin<T>(
  client: pg.ClientBase,
  limitMs: number,
  ask: () => Promise<T>,
): Promise<T | 'too_long'> {
  await client.query(`savepoint slice; set local statement_timeout = ${Math.max(LEAST_MS, Math.ceil(limitMs))}`);
  const answer = await ask().catch((error: unknown) => {
    if (errorCode(error) === CANCELLED_BY_TIME) return 'too_long' as const;
    throw error;
  });
  // Brings the former limit back as well.
  await client.query('rollback to savepoint slice; release savepoint slice');
  return answer;
}
