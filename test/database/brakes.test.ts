/** What the brakes keep in the database: facts of calls in any order of commit, leases, and pauses that are one for each subject. */
import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createFactReader, type Fact, forgetOldFacts, insertFacts } from '../../src/control/brakes/brake-facts.ts';
import { insertHit, listPauses, type NewHit, resumeHit } from '../../src/control/brakes/brake-hits.ts';
import { changeRule, listRules } from '../../src/control/brakes/brake-rules.ts';
import { createCallWatch } from '../../src/control/brakes/watch-calls.ts';
import { repeatBrakes } from '../../src/control/process/repeat-brakes.ts';
import { giveLeaseBack, holdLease } from '../../src/control/store/lease.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';

const [A, B] = ['019ac9f0-0000-7000-8000-00000000000a', '019ac9f0-0000-7000-8000-00000000000b'];

function fact(id: string, given: Partial<Fact> = {}): Fact {
  return {
    accountId: 1,
    id,
    atMs: Date.now(),
    keyId: 7,
    run: 'r',
    thread: '',
    cost: '0.01',
    isUnpriced: false,
    isFailed: false,
    attempt: 0,
    promptTokens: null,
    cachedTokens: 0,
    request: id,
    conversation: null,
    toolCalls: null,
    ...given,
  };
}

const HIT: NewHit = {
  accountId: 1,
  rule: 'by_hand',
  scope: 'run',
  value: 'r',
  action: 'pause',
  reason: 'because',
  numbers: {},
  callId: null,
  hitBy: 'me',
};

describe.each(POSTGRES_KINDS)('brakes in $name', (kind) => {
  let server: TestPostgres;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await startPostgres(kind);
    pool = openTestPool(await server.createDatabase('brakes'));
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });
  beforeEach(() => pool.query('truncate brake_facts, brake_hits, brake_rules, leases'));

  /** A key, the one that took its place, the one that took that one's, and another one. */
  async function addRotatedKeys(): Promise<readonly number[]> {
    const { rows } = await pool.query<{ id: number }>(
      `insert into gateway_keys (account_id, name, digest, prefix, last4)
       select 1, 'key ' || n, sha256((random()::text || n)::bytea), 'tgk_0000', '0000' from generate_series(1, 4) n returning id`,
    );
    const ids = rows.map(({ id }) => id);
    await pool.query(
      'update gateway_keys k set replaced_by = r.next from (values ($1::int4, $2::int4), ($2, $3)) r (id, next) where k.id = r.id',
      ids.slice(0, 3),
    );
    return ids;
  }

  test('a pause of a key is one of each half of its rotations, and of no other key', async () => {
    const [first = 0, second = 0, third = 0] = await addRotatedKeys();
    await insertHit(pool, HIT);
    const hit = await insertHit(pool, { ...HIT, scope: 'key', value: String(second) });
    const own = { scope: 'key', hitId: typeof hit === 'string' ? 0 : hit.id };
    expect(await listPauses(pool)).toMatchObject([
      ...[first, second, third]
        .map(String)
        .toSorted()
        .map((value) => ({ ...own, value })),
      { scope: 'run', value: 'r' },
    ]);
    await resumeHit(pool, 1, own.hitId, 'me');
    expect(await listPauses(pool)).toMatchObject([{ scope: 'run', value: 'r' }]);
  });

  test('a batch that commits after a later one is read all the same, and each once', async () => {
    const reader = createFactReader(() => {});
    const read = async () => (await reader.next(pool)).map(({ id }) => id);
    const [slow, quick] = [await pool.connect(), await pool.connect()];
    await insertFacts(quick, [fact('first')]);
    expect(await read()).toEqual(['first']);
    await slow.query('begin');
    await insertFacts(slow, [fact('slow 1'), fact('slow 2\u0000\ud800', { run: 'nul \u0000' })]);
    await insertFacts(quick, [fact('quick')]);
    expect(await read()).toEqual(['quick']);
    expect(await read()).toEqual([]);
    await slow.query('commit');
    expect((await read()).map((id) => id.slice(0, 6))).toEqual(['slow 1', 'slow 2']);
    expect(await read()).toEqual([]);
    await pool.query("update brake_facts set stored_at = now() - interval '61 minutes' where seq = 1");
    await forgetOldFacts(pool);
    expect((await pool.query('select seq from brake_facts')).rowCount).toBe(2);
    slow.release();
    quick.release();
  });

  test('the halves of a rotated key are counted as one key, under its first number', async () => {
    const [first = 0, second = 0, third = 0, other = 0] = await addRotatedKeys();
    await changeRule(pool, 1, { rule: 'retries', scope: 'key' }, { action: 'alarm', settings: { times: 3 } }, 'me');
    const failed = (keyId: number) => fact(A, { request: 'same', isFailed: true, run: null, keyId });
    const client = await pool.connect();
    const watch = createCallWatch({ pool, nowMs: Date.now, log: quietLog() });
    await insertFacts(client, [failed(first), failed(other), failed(second)]);
    expect((await watch.look()).hits).toBe(0);
    await insertFacts(client, [failed(third)]);
    client.release();
    expect((await watch.look()).hits).toBe(1);
    const { rows } = await pool.query('select scope, value from brake_hits');
    expect(rows).toEqual([{ scope: 'key', value: String(first) }]);
  });

  test('a hit that could not be stored is found again, and what was stored with it is not repeated', async () => {
    for (const rule of ['retries', 'same_prefix'] as const)
      await changeRule(pool, 1, { rule, scope: 'run' }, { action: 'alarm', settings: { times: 3 } }, 'me');
    await pool.query(`create function refuse() returns trigger language plpgsql as
      $$ begin if new.rule = 'retries' then raise exception 'not now'; end if; return new; end $$`);
    await pool.query('create trigger refuse before insert on brake_hits for each row execute function refuse()');
    const client = await pool.connect();
    const failed = () => fact(A, { request: 'same', conversation: 'same', isFailed: true });
    await insertFacts(client, [failed(), failed(), failed()]);
    client.release();
    const failures: string[] = [];
    const log = pino({ level: 'error' }, { write: (line: string) => void failures.push(line) });
    const repeating = repeatBrakes({ pool, nowMs: Date.now, publishPauses: async () => {}, log });
    const rules = async () =>
      (await pool.query<{ rule: string }>('select rule from brake_hits order by id')).rows.map(({ rule }) => rule);
    await expect.poll(() => failures.length, { timeout: 10_000 }).toBeGreaterThan(0);
    expect(await rules()).toEqual(['same_prefix']);
    await pool.query('drop trigger refuse on brake_hits');
    await expect.poll(rules, { timeout: 10_000 }).toEqual(['same_prefix', 'retries']);
    await repeating.stop();
    await pool.query('drop function refuse');
  });

  test('facts that this version cannot read are told of, and hold up no others', async () => {
    await pool.query(`insert into brake_facts (account_id, facts) values (1, '[{"id": "of another version"}]')`);
    const client = await pool.connect();
    await insertFacts(client, [fact(A)]);
    client.release();
    const unreadable: number[] = [];
    const reader = createFactReader((seq) => void unreadable.push(seq));
    expect((await reader.next(pool)).map(({ id }) => id)).toEqual([A]);
    expect(await reader.next(pool)).toEqual([]);
    expect(unreadable).toHaveLength(1);
  });

  test('one holds a lease until its end, or until it is given back', async () => {
    expect(await holdLease(pool, 'work', A, 60)).toBe(true);
    expect(await holdLease(pool, 'work', B, 60)).toBe(false);
    expect(await holdLease(pool, 'work', A, 60)).toBe(true);
    await pool.query("update leases set until = now() - interval '1 second'");
    expect(await holdLease(pool, 'work', B, 60)).toBe(true);
    await giveLeaseBack(pool, 'work', A);
    expect(await holdLease(pool, 'work', A, 60)).toBe(false);
    await giveLeaseBack(pool, 'work', B);
    expect(await holdLease(pool, 'work', A, 60)).toBe(true);
  });

  test('a subject has one pause at a time, and there is a bound for all', async () => {
    const first = await insertHit(pool, HIT);
    expect(await insertHit(pool, HIT)).toBe('paused');
    expect(await insertHit(pool, { ...HIT, action: 'alarm' })).toMatchObject({ action: 'alarm' });
    expect(await listPauses(pool)).toMatchObject([{ accountId: 1, scope: 'run', value: 'r', reason: 'because' }]);
    const id = typeof first === 'object' ? first.id : 0;
    expect(await resumeHit(pool, 2, id, 'another account')).toBeNull();
    expect(await resumeHit(pool, 1, id, 'me')).toMatchObject({ resumedBy: 'me' });
    expect(await resumeHit(pool, 1, id, 'someone')).toMatchObject({ resumedBy: 'me' });
    expect(await listPauses(pool)).toEqual([]);
    await pool.query(
      `insert into brake_hits (account_id, rule, scope, value, action, reason)
       select 1, 'by_hand', 'run', 'r' || n, 'pause', '' from generate_series(1, 500) n`,
    );
    expect(await insertHit(pool, HIT)).toBe('full');
  });

  test('a watch that takes over neither repeats what was hit nor counts what was resumed', async () => {
    await changeRule(pool, 1, { rule: 'retries', scope: 'run' }, { action: 'pause', settings: { times: 3 } }, 'me');
    expect((await listRules(pool, 1)).find(({ rule, scope }) => rule === 'retries' && scope === 'run')).toMatchObject({
      action: 'pause',
      settings: { times: 3, window_seconds: 600 },
      changedBy: 'me',
    });
    const look = (watch: ReturnType<typeof createCallWatch>) => watch.look().then(({ hits }) => hits);
    const failures = (count: number) =>
      Array.from({ length: count }, (_, index) => fact(`${index}`, { request: 'same', isFailed: true, id: A }));
    const client = await pool.connect();
    const watch = createCallWatch({ pool, nowMs: Date.now, log: quietLog() });
    await insertFacts(client, failures(2));
    expect(await look(watch)).toBe(0);
    await insertFacts(client, failures(1));
    expect(await look(watch)).toBe(1);
    expect(await look(watch)).toBe(0);
    expect(await look(createCallWatch({ pool, nowMs: Date.now, log: quietLog() }))).toBe(0);
    const [pause] = await listPauses(pool);
    await resumeHit(pool, 1, pause?.hitId ?? 0, 'me');
    // What came before does not count, here or for another that takes over.
    expect(await look(watch)).toBe(0);
    await pool.query("update brake_hits set resumed_at = now() + interval '1 second'");
    expect(await look(createCallWatch({ pool, nowMs: Date.now, log: quietLog() }))).toBe(0);
    client.release();
  });
});
