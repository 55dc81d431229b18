/** Limits of an account: a change keeps what it does not name. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AdminDatabase, startAdminDatabase } from '../support/admin-database.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const [kind] = POSTGRES_KINDS;
let stage: AdminDatabase;

beforeAll(async () => {
  if (kind === undefined) throw new Error('no server');
  stage = await startAdminDatabase(kind);
}, 60_000);
afterAll(() => stage.stop());

test('what a change leaves out stays, null takes it back, and a limit of nothing is refused', async () => {
  const made = await stage.send('POST', '/limits', { requests_per_minute: 60, tokens_per_minute: 200_000 });
  expect(made).toMatchObject({ status: 201, body: { id: 1 } });
  const edit = async (body: object) => {
    const { status, body: answer } = await stage.send('PATCH', '/limits/1', body);
    return [status, answer];
  };
  const limits = (concurrent: number | null, requests: number | null, tokens: number | null) =>
    expect.objectContaining({
      max_concurrent: concurrent,
      requests_per_minute: requests,
      tokens_per_minute: tokens,
    });
  expect(await edit({ requests_per_minute: 120 })).toEqual([200, limits(null, 120, 200_000)]);
  expect(await edit({ max_concurrent: 5, tokens_per_minute: null })).toEqual([200, limits(5, 120, null)]);
  const refused = expect.objectContaining({ error: expect.objectContaining({ code: 'invalid_request' }) });
  expect(await edit({ max_concurrent: null, requests_per_minute: null })).toEqual([400, refused]);
  expect(await edit({})).toEqual([400, refused]);
  expect(await edit({ requests_per_minute: 60 })).toEqual([200, limits(5, 60, null)]);
  expect((await stage.send('PATCH', '/limits/99', { requests_per_minute: 60 })).status).toBe(404);
});
