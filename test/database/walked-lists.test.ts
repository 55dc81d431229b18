/** Pages whose work is bounded: whatever the filter, the order and the time given, all of them together are the list. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listLogs } from '../../src/control/log/list-logs.ts';
import { listRuns, type RunPosition, type RunSort } from '../../src/control/log/list-runs.ts';
import { parseLogFilter } from '../../src/control/log/log-filter.ts';
import type { LogSort, SortedLogPosition } from '../../src/control/log/log-order.ts';
import type { LogQuery } from '../../src/control/log/read-calls.ts';
import { parseRunFilters } from '../../src/control/log/run-filter.ts';
import { type Slice, type WalkLimits, walkWindow } from '../../src/control/log/walk-window.ts';
import { inSnapshot } from '../../src/control/store/pool.ts';
import { type AdminDatabase, endedCall, startAdminDatabase, tokens } from '../support/admin-database.ts';
import { NOON_MS } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const START_LIMIT_MS = 60_000;
const PROPERTY_LIMIT_MS = 120_000;
const CALLS = 240;
const HOUR_MS = 3_600_000;

/** Dense at noon, sparse over the ten days before, several calls in one millisecond. */
function offsetOf(index: number): number {
  if (index < 100) return Math.floor(index / 3);
  if (index < 200) return -(index - 99) * 60_000;
  return -(index - 199) * 6 * HOUR_MS;
}

interface KnownCall {
  readonly number: number;
  readonly atMs: number;
  readonly team: string | null;
  readonly traceId: string | null;
  /** Tokens; null when the answer said nothing. */
  readonly output: number | null;
}

/** Its number makes a call's id unique; calls of one millisecond are in the order of their numbers. */
const KNOWN: readonly KnownCall[] = Array.from({ length: CALLS }, (_, index) => ({
  number: index + 1,
  atMs: NOON_MS + offsetOf(index),
  team: index % 7 === 0 ? 'red' : index === 230 ? 'rare' : index % 3 === 0 ? 'blue' : null,
  traceId: index % 4 === 0 ? null : `run-${index % 60}`,
  output: index % 11 === 0 ? null : index % 5,
}));

function idOf({ number, atMs }: KnownCall): string {
  const time = atMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

const FILTERS: Readonly<Record<string, (call: KnownCall) => boolean>> = {
  'metadata.Team:eq:red': ({ team }) => team === 'red',
  'metadata.TEAM:eq:rare': ({ team }) => team === 'rare',
  'metadata.team:in:red,rare': ({ team }) => team === 'red' || team === 'rare',
  'metadata.Team:ne:blue': ({ team }) => team !== 'blue',
  'metadata.Team:eq:none': () => false,
  'metadata.Team:has': ({ team }) => team !== null,
  'trace_id:has': ({ traceId }) => traceId !== null,
};

/** Runs whose sums say that they have very many calls, which is why these are looked up by another way. */
const LARGE_RUNS = ['run-1', 'run-30'];
const CALLS_BESIDE = 10_000;

/** Each reading is `stepMs` later than the one before. */
function steppingClock(stepMs: number): () => number {
  let nowMs = 0;
  return () => {
    nowMs += stepMs;
    return nowMs;
  };
}

const Limits = fc.record({
  budgetMs: fc.constantFrom(0, 250),
  firstRows: fc.constantFrom(1, 5, 40, 1_000),
  stepMs: fc.constantFrom(0, 1, 70, 400),
});

function limitsOf({ stepMs, ...limits }: { budgetMs: number; firstRows: number; stepMs: number }): WalkLimits {
  return { ...limits, monotonicMs: steppingClock(stepMs) };
}

const Window = fc.record({
  fromMs: fc.option(fc.constantFrom(NOON_MS - 300 * HOUR_MS, NOON_MS - 50 * 60_000, NOON_MS, NOON_MS + 20)),
  toMs: fc.option(fc.constantFrom(NOON_MS - 24 * HOUR_MS, NOON_MS, NOON_MS + 10, NOON_MS + 34, NOON_MS + HOUR_MS)),
});

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

function isWithin(ms: number, { fromMs, toMs }: { fromMs: number | null; toMs: number | null }): boolean {
  return (fromMs === null || ms >= fromMs) && (toMs === null || ms < toMs);
}

describe.each(POSTGRES_KINDS)('lists in pages of bounded work on $name', (kind) => {
  let db: AdminDatabase;

  beforeAll(async () => {
    db = await startAdminDatabase(kind);
    await db.store(
      ...KNOWN.map((call) =>
        endedCall(
          call.number,
          {
            id: idOf(call),
            requestedAtMs: call.atMs,
            traceId: call.traceId,
            metadata: call.team === null ? [] : [[call.number % 2 === 0 ? 'Team' : 'team', call.team]],
          },
          {
            id: idOf(call),
            respondedAtMs: call.atMs,
            durationMs: 0,
            usage: call.output === null ? null : tokens(1, call.output),
          },
        ),
      ),
    );
    await db.pool.query('update llm_runs set calls = calls + $1 where trace_id = any($2)', [CALLS_BESIDE, LARGE_RUNS]);
  }, START_LIMIT_MS);
  afterAll(() => db.stop());

  test(
    'the pages of calls together are every call that matches, once, in order',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.subarray(Object.keys(FILTERS), { maxLength: 2 }),
          fc.constantFrom<LogSort>('-requested_at', 'requested_at', '-output_tokens', 'output_tokens', '-duration_ms'),
          Window,
          fc.constantFrom(3, 7, 50),
          Limits,
          async (filters, sort, window, limit, limits) => {
            const query: LogQuery = {
              accountId: 1,
              filters: filters.map(parseLogFilter),
              search: null,
              from: dateOf(window.fromMs),
              to: dateOf(window.toMs),
              excludeRuns: false,
              sort,
              columns: ['id'],
            };
            const seen: string[] = [];
            let after: SortedLogPosition | null = null;
            do {
              const page = await listLogs(db.pool, query, after, limit, limitsOf(limits));
              expect(page.records.length).toBeLessThanOrEqual(limit);
              // A page that says how far it came is to be continued.
              if (page.searchedTo !== null) expect(page.next).not.toBeNull();
              else if (page.next !== null) expect(page.records).toHaveLength(limit);
              seen.push(...page.records.map((record) => String(record.id)));
              after = page.next;
            } while (after !== null);
            const measureOf = ({ output }: KnownCall) => (sort.endsWith('output_tokens') ? (output ?? -1) : 0);
            const expected = KNOWN.filter(
              (call) => isWithin(call.atMs, window) && filters.every((filter) => FILTERS[filter]?.(call)),
            )
              .sort((a, b) => measureOf(a) - measureOf(b) || (idOf(a) < idOf(b) ? -1 : 1))
              .map(idOf);
            expect(seen).toEqual(sort.startsWith('-') ? expected.reverse() : expected);
          },
        ),
        { numRuns: 40 },
      );
    },
    PROPERTY_LIMIT_MS,
  );

  test(
    'the pages of runs together are every run that matches, once, in order',
    async () => {
      const runs = [...Map.groupBy(KNOWN, ({ traceId }) => traceId)].flatMap(([traceId, calls]) =>
        traceId === null
          ? []
          : [
              {
                traceId,
                calls,
                startedMs: Math.min(...calls.map(({ atMs }) => atMs)),
                endedMs: Math.max(...calls.map(({ atMs }) => atMs)),
              },
            ],
      );
      await fc.assert(
        fc.asyncProperty(
          fc.subarray(Object.keys(FILTERS), { maxLength: 2 }),
          fc.constantFrom<RunSort>('-ended_at', 'ended_at', '-started_at', 'started_at', '-calls', 'duration_ms'),
          Window,
          fc.constantFrom(3, 7, 50),
          Limits,
          async (filters, sort, window, limit, limits) => {
            const query = {
              accountId: 1,
              ...parseRunFilters(filters),
              search: null,
              from: dateOf(window.fromMs),
              to: dateOf(window.toMs),
              sort,
            };
            const seen: string[] = [];
            let after: RunPosition | null = null;
            do {
              const page = await listRuns(db.pool, query, after, limit, limitsOf(limits));
              if (page.searchedTo !== null) expect(page.next).not.toBeNull();
              seen.push(...page.runs.map((run) => run.trace_id));
              after = page.next;
            } while (after !== null);
            const placeOf = ({ traceId, calls, startedMs, endedMs }: (typeof runs)[number]): number => {
              if (sort === '-calls') return calls.length + (LARGE_RUNS.includes(traceId) ? CALLS_BESIDE : 0);
              if (sort === 'duration_ms') return endedMs - startedMs;
              return sort.endsWith('ended_at') ? endedMs : startedMs;
            };
            const expected = runs
              .filter(
                (run) =>
                  isWithin(run.endedMs, window) &&
                  (filters.length === 0 ||
                    run.calls.some((call) => filters.every((filter) => FILTERS[filter]?.(call)))),
              )
              .sort((a, b) => placeOf(a) - placeOf(b) || (a.traceId < b.traceId ? -1 : 1))
              .map(({ traceId }) => traceId);
            expect(seen).toEqual(sort.startsWith('-') ? expected.reverse() : expected);
          },
        ),
        { numRuns: 40 },
      );
    },
    PROPERTY_LIMIT_MS,
  );

  async function walk(limits: WalkLimits, ask: (slice: Slice, asked: number) => Promise<boolean>) {
    const slices: Slice[] = [];
    const end = await inSnapshot(db.pool, (client) =>
      walkWindow(
        client,
        { over: 'calls', accountId: 1, direction: 'newest_first', from: null, to: null },
        limits,
        async (slice) => {
          slices.push(slice);
          return ask(slice, slices.length);
        },
      ),
    );
    return { slices, end };
  }

  test('quick slices grow; they follow each other and end where the window does', async () => {
    const { slices, end } = await walk(
      { budgetMs: 250, firstRows: 10, monotonicMs: steppingClock(1) },
      async () => false,
    );
    expect(end).toEqual({ type: 'whole' });
    expect(slices[0]).toEqual({ from: new Date(NOON_MS + 29), to: null });
    for (const [index, slice] of slices.slice(1).entries()) expect(slice.to).toEqual(slices[index]?.from);
    expect(slices.at(-1)?.from).toBeNull();
    // Ten days in steps that are sixteen times as wide each.
    expect(slices.length).toBeLessThanOrEqual(8);
  });

  test('the walk ends with what was found, or when its time is spent', async () => {
    const enough = await walk(
      { budgetMs: 250, firstRows: 10, monotonicMs: steppingClock(1) },
      async (_, asked) => asked === 2,
    );
    expect(enough.end).toEqual({ type: 'enough' });
    expect(enough.slices).toHaveLength(2);
    const spent = await walk({ budgetMs: 250, firstRows: 10, monotonicMs: steppingClock(300) }, async () => false);
    expect(spent.slices).toHaveLength(1);
    expect(spent.end).toEqual({ type: 'time_spent', searchedTo: new Date(NOON_MS + 29) });
  });

  test('a slice that takes too long is undone and asked again in parts', async () => {
    let isFirst = true;
    const found = await inSnapshot(db.pool, async (client) => {
      const widths: number[] = [];
      const end = await walkWindow(
        client,
        { over: 'calls', accountId: 1, direction: 'newest_first', from: new Date(NOON_MS - HOUR_MS), to: null },
        { budgetMs: 250, firstRows: 10, monotonicMs: steppingClock(1) },
        async ({ from, to }) => {
          if (to === null) return false;
          widths.push(to.getTime() - (from?.getTime() ?? 0));
          if (isFirst) {
            isFirst = false;
            await client.query('select pg_sleep(60)');
          }
          return false;
        },
      );
      const { rows } = await client.query<{ limit: string }>("select current_setting('statement_timeout') as limit");
      return { end, widths, limit: rows[0]?.limit };
    });
    expect(found.end).toEqual({ type: 'whole' });
    expect(found.widths[1]).toBeLessThan(found.widths[0] ?? 0);
    // The limit of the connection holds again.
    expect(found.limit).toBe('1min');
  });
});
