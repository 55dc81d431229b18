import { afterEach, expect, test, vi } from 'vitest';
import { getBytes, getJson, sendJson } from './client.ts';
import { forgetHeld, holdSession } from './tab-session.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  forgetHeld();
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

test('every request names the account that the tab shows, whatever account another tab has chosen since', async () => {
  const sent = watchFetch();
  const accountsAsked = () => sent.splice(0).map(({ init }) => new Headers(init.headers).get('x-tollgate-account'));
  await getJson('/session', {});
  expect(accountsAsked()).toEqual([null]);
  holdSession({ kind: 'operator', name: 'operator', person_id: null, account: { id: 2, name: 'second team' } });
  holdSession({ kind: 'operator', name: 'operator', person_id: null, account: { id: 3, name: 'third team' } });
  await getJson('/session', {});
  await getBytes('/logs/1/request');
  await sendJson('post', '/keys', {}, { name: 'one' });
  await sendJson('delete', '/session', {});
  expect(accountsAsked()).toEqual(['2', '2', '2', '2']);
});
