/** A restore gives numbers of people to others: no session of before goes on under them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { noteSignIn, readPasswordHash, writePasswordHash } from '../../src/control/store/people.ts';
import { ADMIN_TOKEN, type AdminDatabase, startAdminDatabase } from '../support/admin-database.ts';
import { backUp, restoreFile } from '../support/backup-stage.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const Invited = z.object({ person: z.object({ id: z.number() }), link: z.object({ url: z.string() }) });
let db: AdminDatabase;

beforeAll(async () => {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no PostgreSQL to test with');
  db = await startAdminDatabase(kind);
}, 60_000);
afterAll(async () => {
  await db.stop();
});

async function signIn(body: object): Promise<string> {
  const answer = await fetch(`${db.url}/api/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: db.url },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(204);
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

async function invite(email: string, role: string) {
  const { status, body } = await db.send('POST', '/people', { email, role });
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  const { person, link } = Invited.parse(body);
  return { id: person.id, cookie: await signIn({ person: link.url.split('=').at(-1) }) };
}

async function statusOf(cookie: string): Promise<number> {
  return (await fetch(`${db.url}/api/v1/session`, { headers: { cookie } })).status;
}

test('whoever was signed in is nobody after a restore that gives their number to another, and only the operator goes on', async () => {
  const staged = { url: db.databaseUrl, pool: db.pool };
  const ann = await invite('ann@example.com', 'owner');
  await db.pool.query("update people set password_hash = 'x', sessions_from = now() - interval '1 day'");
  const file = await backUp(staged);
  await db.pool.query('delete from people');
  await db.pool.query(`alter table people alter id restart with ${ann.id}`);
  const bob = await invite('bob@example.com', 'viewer');
  expect(bob.id).toBe(ann.id);
  await db.pool.query("update people set password_hash = 'y'");
  const operator = await signIn({ token: ADMIN_TOKEN });
  const proved = await readPasswordHash(db.pool, 'bob@example.com');
  if (proved === null) throw new Error('bob has a password');
  expect([await statusOf(bob.cookie), await statusOf(operator)]).toEqual([200, 200]);

  await restoreFile(staged, file, { replaces: true });
  expect((await db.pool.query('select id, email from people')).rows).toEqual([
    { id: bob.id, email: 'ann@example.com' },
  ]);
  expect([await statusOf(bob.cookie), await statusOf(operator)]).toEqual([401, 200]);
  // Nor is one that ann had when the backup was made, since she may have been signed out after it.
  expect(await statusOf(ann.cookie)).toBe(401);

  // What bob had proved before the restore, and was waiting for its end, is not ann's doing.
  expect(await noteSignIn(db.pool, proved)).toBe(null);
  await writePasswordHash(db.pool, proved, 'z');
  expect((await readPasswordHash(db.pool, 'ann@example.com'))?.hash).toBe('x');
}, 240_000);
