import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { operatorOf, type Principal } from './principal.ts';
import { readActor } from './read-actor.ts';

let principal: Principal = operatorOf(1);
const app = new Hono();
app.use(async (c, next) => {
  c.set('principal', principal);
  await next();
});
app.get('/', (c) => c.text(readActor(c)));
app.onError((error, c) => c.text(error.message, 400));

async function actorOf(headers: Record<string, string>): Promise<string> {
  const response = await app.request('/', { headers });
  return response.text();
}

test('the actor is how the request signed in, and the name that was stated', async () => {
  expect(await actorOf({ cookie: 'tollgate_session=x' })).toBe('dashboard session');
  expect(await actorOf({ authorization: 'Bearer x' })).toBe('admin token');
  expect(await actorOf({ authorization: 'Bearer x', 'x-tollgate-actor': 'ann@desk' })).toBe(
    'admin token, as stated by ann@desk',
  );
});

test('a person and an API token are the actor themselves', async () => {
  principal = { ...operatorOf(1), kind: 'person', name: 'ann@example.com' };
  expect(await actorOf({ 'x-tollgate-actor': 'eve@desk' })).toBe('ann@example.com');
  principal = { ...operatorOf(1), kind: 'token', name: 'ci' };
  expect(await actorOf({ 'x-tollgate-actor': 'eve@desk' })).toBe('API token ci');
  principal = operatorOf(1);
});

test('a stated name is short and printable, or the change is refused', async () => {
  expect(await actorOf({ 'x-tollgate-actor': 'a'.repeat(101) })).toMatch(/at most 100 printable ASCII/);
  expect(await actorOf({ 'x-tollgate-actor': 'ann\u00e9@desk' })).toMatch(/at most 100 printable ASCII/);
});
