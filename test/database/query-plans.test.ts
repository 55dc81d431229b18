/**
 * The main questions of the API read a part of the log that does not grow with it: every statement that they send is
 * explained, with what it really read, over a log of 20 days.
 */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { QUESTIONS, type Question } from '../../bench/queries/questions.ts';
import { seedLog } from '../../bench/queries/seed-log.ts';
import { createAdminApp } from '../../src/control/admin/admin-app.ts';
import { createSeededRandom } from '../../src/control/demo-log/seeded-random.ts';
import { bareAdminDeps } from '../support/admin-deps.ts';
import { openMigrated, openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';

const CALLS = 20_000;
const DAYS = 20;
const UNTIL_MS = Date.UTC(2026, 10, 28, 12);
/** Half a minute, on a machine that does nothing else. */
const SEED_TIMEOUT_MS = 600_000;
const TOKEN = 'tga_test';
/** A scan of the account's calls reads 12,000; a filter with another order may sort 5,000 of them (`read-by-measure.ts`). */
const MOST_ROWS = 6_000;
/** A day has a thousand calls here, which the planner may take for quicker to read than an index of them. */
const MOST_SCANNED_DAYS = 8;

/** No index or roll-up knows these: an answer ends when its time is spent, and says how far it came (`walk-window.ts`). */
const BOUNDED_BY_TIME = [
  'flag',
  'cost over a dollar',
  'duration over a minute',
  'metadata absent',
  'metadata contains',
  'metadata begins with',
  'span_name, 30 d',
  'provider,metadata.Feature, 30 d',
];
/** Groups of runs are not among them: their sums are from hours, but runs are counted in calls as long as there is time. */
const GROUPS = ['logs', 'strip', 'runs', 'run facets', 'run strip', 'costs'];
const MAIN = QUESTIONS.filter(
  ({ group, name, pagesBefore }) =>
    GROUPS.includes(group) && pagesBefore === undefined && !BOUNDED_BY_TIME.includes(name),
);

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string | undefined;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number | undefined;
  readonly 'Rows Removed by Index Recheck'?: number | undefined;
  readonly Plans?: readonly PlanNode[] | undefined;
}

const PlanNode: z.ZodType<PlanNode> = z.lazy(() =>
  z.object({
    'Node Type': z.string(),
    'Relation Name': z.string().optional(),
    'Actual Rows': z.number(),
    'Actual Loops': z.number(),
    'Rows Removed by Filter': z.number().optional(),
    'Rows Removed by Index Recheck': z.number().optional(),
    Plans: z.array(PlanNode).optional(),
  }),
);
const Explained = z.array(z.object({ 'QUERY PLAN': z.array(z.object({ Plan: PlanNode })) }));

function listNodes(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(listNodes)];
}

function rowsRead(node: PlanNode): number {
  const each =
    node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  return each * node['Actual Loops'];
}

interface Read {
  rows: number;
  readonly scannedDays: Set<string>;
  statements: number;
}

/** Explains each statement about calls in the transaction that it is asked in, before it is asked. */
function explainAll(pool: pg.Pool, read: Read): void {
  pool.on('connect', (client) => {
    const ask = client.query.bind(client);
    const explaining = async (...given: unknown[]): Promise<unknown> => {
      const [first, values] = given;
      const text = typeof first === 'string' ? first : '';
      if (/^\s*(?:select|with)\b/i.test(text) && text.includes('llm_requests')) {
        const bound = Array.isArray(values) ? values : [];
        const { rows } = await ask(`explain (analyze, timing off, format json) ${text}`, bound);
        for (const { 'QUERY PLAN': plans } of Explained.parse(rows)) for (const { Plan } of plans) note(read, Plan);
      }
      return Reflect.apply(ask, undefined, given);
    };
    Object.assign(client, { query: explaining });
  });
}

function note(read: Read, plan: PlanNode): void {
  read.statements += 1;
  for (const node of listNodes(plan)) {
    const table = node['Relation Name'];
    if (table?.startsWith('llm_requests') !== true || node['Actual Loops'] === 0) continue;
    read.rows += rowsRead(node);
    if (node['Node Type'] === 'Seq Scan' && rowsRead(node) > 0) read.scannedDays.add(table);
  }
}

describe.each(POSTGRES_KINDS)('over 20 days of calls in $name', (kind) => {
  const read: Read = { rows: 0, scannedDays: new Set(), statements: 0 };
  let postgres: TestPostgres;
  let pool: pg.Pool;
  let ask: (question: Question) => Promise<number>;

  beforeAll(async () => {
    postgres = await startPostgres(kind, ['fsync=off', 'jit=off']);
    const url = await postgres.createDatabase('plans');
    const seeding = openTestPool(url);
    await seedLog(seeding, { calls: CALLS, days: DAYS, untilMs: UNTIL_MS, say: () => {} });
    const { rows } = await seeding.query<{ id: string; traceId: string }>(
      `select id, trace_id as "traceId" from llm_requests
       where account_id = 1 and trace_id is not null and requested_at < '2026-11-20' order by requested_at desc limit 1`,
    );
    await seeding.end();
    const [sample = { id: '', traceId: '' }] = rows;
    pool = await openMigrated(url);
    explainAll(pool, read);
    const app = createAdminApp(bareAdminDeps({ adminToken: TOKEN, database: () => pool, nowMs: () => UNTIL_MS }));
    ask = async (question) => {
      const path = question.path({
        random: createSeededRandom(1),
        sample: { ...sample, requestTag: 'none' },
        untilMs: UNTIL_MS,
      });
      const answer = await app.request(path, { headers: { authorization: `Bearer ${TOKEN}`, host: '127.0.0.1' } });
      await answer.text();
      return answer.status;
    };
  }, SEED_TIMEOUT_MS);

  afterAll(async () => {
    await pool.end();
    await postgres.remove();
  });

  test.each(MAIN.map((question) => [`${question.group}: ${question.name}`, question] as const))(
    '%s',
    async (_, question) => {
      Object.assign(read, { rows: 0, statements: 0 });
      read.scannedDays.clear();
      expect(await ask(question)).toBe(200);
      expect(read.rows).toBeLessThan(MOST_ROWS);
      expect([...read.scannedDays].sort().slice(MOST_SCANNED_DAYS)).toEqual([]);
    },
  );
});
