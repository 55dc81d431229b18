/** While the next answer is on its way a page may show the one before, but never under another name. */
import { keepPreviousData, QueryClient, QueryObserver, type QueryObserverOptions } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { costsQuery } from './costs.ts';
import { repriceDaysQuery } from './reprice.ts';
import { runGroupsQuery } from './runs.ts';

beforeEach(() => {
  vi.stubGlobal('fetch', () => new Promise(() => {}));
});
afterEach(() => {
  vi.unstubAllGlobals();
});

/** What is shown of the first question's answer, `1`, when the second one is asked. */
function shownOf(first: object, second: object): unknown {
  // As the dashboard has it.
  const queries = new QueryClient({ defaultOptions: { queries: { placeholderData: keepPreviousData } } });
  const [asked, next] = [first, second].map((options) => ({ queryKey: [], ...options }) satisfies QueryObserverOptions);
  if (asked === undefined || next === undefined) return undefined;
  queries.setQueryData(asked.queryKey, 1);
  const observer = new QueryObserver(queries, asked);
  const leave = observer.subscribe(() => {});
  observer.setOptions(next);
  const { data } = observer.getCurrentResult();
  leave();
  queries.clear();
  return data;
}

const WINDOW = { from: '2026-11-28T00:00:00.000Z', to: '2026-11-29T00:00:00.000Z' };

test('costs of other groups are not shown under the new names, those of another filter are', () => {
  const by = (...dimensions: readonly string[]) => ({
    ...WINDOW,
    by: dimensions,
    interval: 'auto' as const,
    tz: 'UTC',
    f: [],
    limit: 20,
    wait_ms: undefined,
  });
  expect(shownOf(costsQuery(by('model')), costsQuery(by('provider')))).toBeUndefined();
  expect(shownOf(costsQuery(by('model', 'key')), costsQuery(by('key', 'model')))).toBeUndefined();
  expect(shownOf(costsQuery(by('model')), costsQuery({ ...by('model'), f: ['provider:eq:openai'] }))).toBe(1);
});

test('groups of runs by something else are not shown under the new name', () => {
  const question = { ...WINDOW, f: [], q: undefined };
  const groups = (by: string, waitMs?: number) => runGroupsQuery(question, by, waitMs);
  expect(shownOf(groups('model'), groups('provider'))).toBeUndefined();
  expect(shownOf(groups('model', 2_000), groups('provider', 2_000))).toBeUndefined();
  expect(shownOf(groups('model'), groups('model', 2_000))).toBe(1);
});

test('days of another job are not shown under the one that was just started', () => {
  expect(shownOf(repriceDaysQuery(1, false), repriceDaysQuery(2, true))).toBeUndefined();
  expect(shownOf(repriceDaysQuery(1, true), repriceDaysQuery(1, false))).toBe(1);
});
