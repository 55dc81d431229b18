import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../vocabulary/token-usage.ts';
import { NOTHING_REPORTED } from './reported-usage.ts';
import { webFetch, webSearch } from './tool-request.ts';

describe('a search or a fetch that is a call of its own', () => {
  test.each<[string, JsonObject, object]>([
    [
      'counts once, however many results it found',
      { results: [{ url: 'a' }, { url: 'b' }] },
      { web_search_requests: 1 },
    ],
    ['counts nothing when it found nothing', { results: [] }, { web_search_requests: 0 }],
    ['counts nothing when there is no list of results', { id: 'x' }, { web_search_requests: 0 }],
  ])('%s', (_, body, classes) => {
    expect(webSearch.readJson(body, NOTHING_REPORTED)).toMatchObject({ usage: { classes }, terminal: true });
  });

  test.each<[string, JsonObject, object]>([
    ['a page', { content: '# Gate' }, { web_fetch_requests: 1 }],
    ['a page within a result', { result: { markdown: '# Gate' } }, { web_fetch_requests: 1 }],
    ['an empty page', { content: '' }, { web_fetch_requests: 0 }],
  ])('fetches %s', (_, body, classes) => {
    expect(webFetch.readJson(body, NOTHING_REPORTED).usage?.classes).toEqual(classes);
  });

  test('that failed uses nothing', () => {
    const body = { error: { message: 'Insufficient balance', type: 'unknown_error' }, results: [{}] };
    expect(webSearch.readJson(body, NOTHING_REPORTED)).toEqual({
      ...NOTHING_REPORTED,
      error: { type: 'unknown_error', message: 'Insufficient balance' },
      terminal: true,
    });
  });
});
