/** Questions to the lists that are meant to break out of SQL or to keep the database busy, on a real database. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asRecord } from '../gateway/start-gateway.ts';
import { type AdminDatabase, endedCall, startAdminDatabase, tokens } from '../support/admin-database.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

let database: AdminDatabase;
const CALLS = 200;
const START_LIMIT_MS = 60_000;

beforeAll(async () => {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no database');
  database = await startAdminDatabase(kind);
  const long = 'ab'.repeat(2_000);
  await database.store(
    ...Array.from({ length: CALLS }, (_, number) =>
      endedCall(
        number,
        {
          traceId: `t${number % 5}`,
          spanName: long,
          metadata: [
            ['__proto__', 'polluted'],
            ['constructor', 'c'],
            ['toString', 't'],
            ['Feature', long.slice(0, 4_000)],
          ],
        },
        { usage: tokens(1, 1) },
      ),
    ),
  );
}, START_LIMIT_MS);
afterAll(() => database?.stop());

async function count(filter: string): Promise<number> {
  const { data } = asRecord(await database.read(`/logs?limit=500&${filter}`));
  return Array.isArray(data) ? data.length : -1;
}

const f = (text: string) => `f=${encodeURIComponent(text)}`;

test('patterns of a search are text: none of them matches what it does not stand in', async () => {
  const many = '%_'.repeat(250);
  for (const wild of ['%', 'a_a', many, '.*', '(a+)+$', '^(a|a)*$', '\\'.repeat(300), '[[:alpha:]]{1,255}'])
    expect([wild.slice(0, 20), await count(`q=${encodeURIComponent(wild)}`)]).toEqual([wild.slice(0, 20), 0]);
  for (const op of ['contains', 'eq'])
    for (const column of ['span_name', 'metadata.Feature', 'path'])
      expect([op, column, await count(f(`${column}:${op}:${encodeURIComponent(many)}`))]).toEqual([op, column, 0]);
  const longest = f(`span_name:contains:${encodeURIComponent('%_'.repeat(1_000))}`);
  expect(await count(longest)).toBe(0);
  expect(await count(`q=${encodeURIComponent('abab')}`)).toBe(CALLS);
  expect((await database.ask(`/logs?q=${'x'.repeat(501)}`)).status).toBe(400);
});

test('names and values that are SQL are found nowhere, or refused, and change nothing', async () => {
  const sql = [
    "'",
    "' or 1=1 --",
    "x'::text",
    '"; drop table llm_requests; --',
    "'; select pg_sleep(9); --",
    '$1',
    '\\',
    '%27',
  ];
  for (const text of sql) {
    for (const question of [
      `/logs?${f(`metadata.${text}:eq:1`)}`,
      `/logs?${f(`span_name:eq:${text}`)}`,
      `/logs?${f(`${text}:eq:1`)}`,
      `/logs?sort=${encodeURIComponent(text)}`,
      `/logs?cursor=${encodeURIComponent(text)}`,
      `/runs?${f(`trace_id:eq:${text}`)}`,
      `/run?trace_id=${encodeURIComponent(text)}`,
      `/costs?group_by=${encodeURIComponent(`metadata.${text}`)}`,
      `/costs?group_by=${encodeURIComponent(text)}`,
      `/costs?group_by=model&tz=${encodeURIComponent(text)}`,
      `/export?kind=logs&columns=${encodeURIComponent(encodeURIComponent(text))}`,
      `/logs/${encodeURIComponent(text)}`,
      `/jobs/${encodeURIComponent(text)}`,
    ]) {
      const answer = await database.ask(question);
      await answer.arrayBuffer();
      expect([question, [200, 400, 404].includes(answer.status)]).toEqual([question, true]);
    }
  }
  const { rows } = await database.pool.query<{ calls: number }>('select count(*)::int as calls from llm_requests');
  expect(rows).toEqual([{ calls: CALLS }]);
});

test('metadata named like members of every object is data like any other', async () => {
  const { data } = asRecord(await database.read('/logs?limit=1'));
  const [first] = Array.isArray(data) ? data : [];
  const { raw_metadata: metadata } = asRecord(await database.read(`/logs/${String(asRecord(first)['id'])}`));
  expect(
    Object.entries(asRecord(metadata))
      .map(([name]) => name)
      .sort(),
  ).toEqual(['Feature', '__proto__', 'constructor', 'toString']);
  expect(Object.getOwnPropertyDescriptor(metadata, '__proto__')?.value).toBe('polluted');
  for (const name of ['__proto__:eq:polluted', 'constructor:eq:c', 'toString:eq:t'])
    expect(await count(f(`metadata.${name}`))).toBe(CALLS);
  expect('polluted' in {}).toBe(false);
});
