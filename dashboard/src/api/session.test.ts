import { QueryClient } from '@tanstack/react-query';
import { afterEach, expect, test, vi } from 'vitest';
import { forgetSession, isSignedIn, sessionQuery } from './session.ts';

let asked = 0;

function answerWith(status: number): void {
  vi.stubGlobal('fetch', async () => {
    asked += 1;
    return new Response('{"kind":"operator","name":"operator","person_id":null,"account":{"id":1}}', { status });
  });
}

afterEach(() => {
  asked = 0;
  vi.unstubAllGlobals();
});

test('who is signed in is asked for once, and then known without waiting', async () => {
  const queries = new QueryClient();
  answerWith(200);
  expect([await isSignedIn(queries), await isSignedIn(queries)]).toEqual([true, true]);
  expect(asked).toBe(1);
});

test('a session that was read long ago is read again behind the navigation', async () => {
  const queries = new QueryClient();
  answerWith(200);
  await isSignedIn(queries);
  queries.setQueryData(sessionQuery.queryKey, (known) => known, { updatedAt: Date.now() - 61_000 });
  expect(await isSignedIn(queries)).toBe(true);
  expect(asked).toBe(2);
});

test('after a refusal it is asked for again, so that the next navigation leads to the sign-in', async () => {
  const queries = new QueryClient();
  answerWith(200);
  await isSignedIn(queries);
  answerWith(401);
  forgetSession(queries);
  expect(await isSignedIn(queries)).toBe(false);
});

test('a gateway that does not answer is no sign-out', async () => {
  answerWith(503);
  await expect(isSignedIn(new QueryClient())).rejects.toMatchObject({ status: 503 });
});
