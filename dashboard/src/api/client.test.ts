import { afterEach, expect, test, vi } from 'vitest';
import { sendJson } from './client.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** What was sent, in the place of the browser's own `fetch`. */
function watchFetch(): { readonly url: string; readonly init: RequestInit }[] {
  const sent: { url: string; init: RequestInit }[] = [];
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    sent.push({ url, init });
    return new Response('{}');
  });
  return sent;
}

test('a number that could not be read is never sent, since JSON would make "none" of it', async () => {
  const sent = watchFetch();
  for (const number of [Number.NaN, Number.POSITIVE_INFINITY])
    await expect(sendJson('post', '/keys', {}, { name: 'one', tokens_per_minute: number })).rejects.toThrow(
      'tokens_per_minute: this is no number. Nothing was saved.',
    );
  expect(sent).toEqual([]);
  await sendJson('post', '/keys', {}, { name: 'one', tokens_per_minute: null });
  expect(sent.map(({ init }) => init.body)).toEqual(['{"name":"one","tokens_per_minute":null}']);
});
