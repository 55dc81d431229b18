/** The index over what calls are found by leaves out no call that a filter finds, and older days get it by a job. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runJobs } from '../../src/control/jobs/run-jobs.ts';
import { createIndexKind, startIndexJob } from '../../src/control/log/index-job.ts';
import { listLogs } from '../../src/control/log/list-logs.ts';
import { type LogFilter, parseLogFilter } from '../../src/control/log/log-filter.ts';
import { filterCondition, indexedCondition } from '../../src/control/log/log-filter-sql.ts';
import { NO_PROMOTED_KEYS } from '../../src/control/log/promoted-keys.ts';
import { runSql } from '../../src/control/log/run-sql.ts';
import { type AdminDatabase, endedCall, idAt, startAdminDatabase } from '../support/admin-database.ts';
import { MIGRATIONS } from '../support/open-migrated.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';

const START_LIMIT_MS = 60_000;
const PROPERTY_LIMIT_MS = 60_000;

const Key = fc.constantFrom('Feature', 'feature', 'FEATURE', 'fEature', 'User-Id', 'user-id', '__proto__', 'É');
const Value = fc.oneof(
  fc.constantFrom('', ', ', 'a, b', 'b', '", "', 'x\\', '\\u001F', 'Ünïcode İ', '{"feature": "b"}'),
  fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !text.includes('\0') && text.isWellFormed()),
  fc.string({ unit: 'grapheme-ascii', minLength: 120, maxLength: 300 }),
);

describe.each(POSTGRES_KINDS)('the index over what calls are found by on $name', (kind) => {
  let db: AdminDatabase;

  beforeAll(async () => {
    db = await startAdminDatabase(kind);
    await db.store(
      endedCall(1, {
        metadata: [['User-Id', 'Ada']],
        client: 'curl',
        spanName: 'plan',
        traceId: 'r',
        traceSource: 'header',
      }),
      endedCall(2, { metadata: [['user-id', 'ada']], modelRequested: 'o9' }, { model: null, modelRequested: 'o9' }),
      endedCall(
        3,
        { metadata: [['User-Id', 'bob']], keyId: 2 },
        { status: 429, outcome: 'upstream_error', errorType: 'rate_limit', usage: null, providerRequestId: 'req_x' },
      ),
      endedCall(
        4,
        {
          metadata: [],
          region: 'eu',
          traceId: 'codex:s1',
          traceSource: 'agents',
          agent: 'a1',
          agentSession: 's1',
          agentPath: 'main/a1',
          agentTurn: 't1',
        },
        { status: 404, outcome: 'ok', usage: null },
      ),
    );
  }, START_LIMIT_MS);
  afterAll(() => db.stop());

  test(
    'every call that has a value is among those of the index, in any spelling and several of them',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(Key, Value), { minLength: 1, maxLength: 4 }), async (pairs) => {
          const raw = `{${pairs.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`;
          const [key = ''] = pairs[0] ?? [];
          const { rows } = await db.pool.query<{ value: string }>('select metadata_value($1, $2) as value', [raw, key]);
          const value = rows[0]?.value ?? '';
          const filters: readonly Omit<LogFilter, 'field'>[] = [
            { op: 'eq', values: [value] },
            { op: 'in', values: ['other', value] },
            { op: 'has', values: [] },
          ];
          for (const filter of filters) {
            const field = { type: 'metadata', key: key.toUpperCase() === 'É' ? key : key.toUpperCase() } as const;
            const found = await runSql(
              db.pool,
              sql`select ${indexedCondition({ ...filter, field }, NO_PROMOTED_KEYS)} as indexed,
                ${filterCondition({ ...filter, field }, NO_PROMOTED_KEYS)} as exact
                from (select ${raw}::jsonb as raw_metadata) call`,
            );
            expect({ filter, raw, found }).toEqual({ filter, raw, found: [{ indexed: true, exact: true }] });
          }
        }),
        { numRuns: 200 },
      );
    },
    PROPERTY_LIMIT_MS,
  );

  /** Without a search by time, so that an index is used where there is one. */
  async function find(filter: string): Promise<number[]> {
    const rows = await runSql(
      db.pool,
      sql`select id from llm_requests where ${filterCondition(parseLogFilter(filter), NO_PROMOTED_KEYS)} order by id`,
    );
    const page = await listLogs(
      db.pool,
      {
        accountId: 1,
        filters: [parseLogFilter(filter)],
        search: null,
        from: null,
        to: null,
        excludeRuns: false,
        sort: 'requested_at',
        columns: ['id'],
      },
      null,
      10,
    );
    expect(page.records.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
    return rows.map(({ id }) => [1, 2, 3, 4].find((number) => idAt(number) === id) ?? 0);
  }

  const CASES: readonly (readonly [string, readonly number[]])[] = [
    ['metadata.user-ID:eq:ada', [2]],
    ['metadata.User-Id:eq:Ada', [1]],
    ['metadata.User-Id:in:Ada,ada,bob', [1, 2, 3]],
    ['metadata.User-Id:has', [1, 2, 3]],
    ['metadata.Team:has', []],
    ['key_id:eq:002', [3]],
    ['client:eq:curl', [1]],
    ['span_name:eq:plan', [1]],
    ['model_requested:eq:o9', [2]],
    ['model_requested:in:o9,gpt-5', [1, 2, 3, 4]],
    ['any_model:eq:o9', [2]],
    // Call 4 asked for gpt-5 too, and another model served it.
    ['any_model:eq:gpt-5', []],
    ['any_model:in:o9,gpt-5-2025-08-07', [1, 2, 3, 4]],
    ['any_model:ne:gpt-5-2025-08-07', [2]],
    ['any_model:prefix:gpt', [1, 3, 4]],
    ['any_model:nohas', []],
    ['status:eq:429', [3]],
    ['status:in:200,404', [1, 2, 4]],
    ['status:gte:400', [3, 4]],
    ['status:gt:428', [3]],
    ['status:gte:300', [3, 4]],
    ['outcome:eq:ok', [1, 2, 4]],
    ['outcome:ne:ok', [3]],
    ['outcome:nin:ok,shutdown_cut', [3]],
    ['outcome:eq:upstream_error', [3]],
    ['error_type:has', [3]],
    ['error_type:eq:rate_limit', [3]],
    ['region:eq:eu', [4]],
    ['agent:eq:a1', [4]],
    ['agent_session:in:s1,s2', [4]],
    ['agent_path:eq:main%2Fa1', [4]],
    ['agent_turn:eq:t1', [4]],
    ['trace_source:eq:agents', [4]],
    ['trace_source:eq:header', [1]],
    ['agent_session:nohas', [1, 2, 3]],
    ['usage_source:in:provider,none', [1, 2, 3, 4]],
    ['provider_request_id:eq:req_x', [3]],
  ];

  test('filters find the same calls with the index and without it', async () => {
    for (const [filter, expected] of CASES)
      expect({ filter, found: await find(filter) }).toEqual({ filter, found: expected });
    // Connections from now on use the index wherever they can.
    await db.pool.query(
      'alter database lists set enable_seqscan = off; alter database lists set enable_indexscan = off',
    );
    await db.pool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'test' and pid <> pg_backend_pid()",
    );
    for (const [filter, expected] of CASES)
      expect({ filter, found: await find(filter) }).toEqual({ filter, found: expected });
  });

  test('days from before the migration get their indexes by a job, once', async () => {
    const migration = readFileSync(join(MIGRATIONS, '0023_call_terms.sql'), 'utf8');
    const creating = [...migration.matchAll(/^create index (\w+)[^;]+;/gm)];
    expect(creating).toHaveLength(4);
    for (const [statement, name] of creating) await db.pool.query(`drop index ${name}; ${statement}`);
    const readState = async () => {
      const { rows } = await db.pool.query<{ name: string; isValid: boolean; days: number }>(
        `select c.relname as name, i.indisvalid as "isValid",
           (select count(*) from pg_inherits h where h.inhparent = c.oid)::int as days
         from pg_index i join pg_class c on c.oid = i.indexrelid
         where i.indrelid = 'llm_requests'::regclass and c.relname = any($1) order by 1`,
        [creating.map(([, name]) => name)],
      );
      return rows;
    };
    expect((await readState()).map(({ isValid, days }) => ({ isValid, days }))).toEqual(
      creating.map(() => ({ isValid: false, days: 0 })),
    );
    expect(await find('metadata.user-ID:eq:ada')).toEqual([2]);

    await startIndexJob(db.pool, 1);
    await startIndexJob(db.pool, 1);
    const runner = runJobs({ pool: db.pool, kinds: [createIndexKind()], log: { ...quietLog(), info: () => {} } });
    const readJobs = async () => (await db.pool.query('select state, done, total, title from jobs')).rows;
    await expect
      .poll(readJobs, { timeout: 30_000 })
      .toEqual([{ state: 'done', done: 4, total: 4, title: 'Index older calls' }]);
    await runner.stop();
    expect((await readState()).map(({ isValid, days }) => ({ isValid, days }))).toEqual(
      creating.map(() => ({ isValid: true, days: 1 })),
    );
    // Nothing is left to do.
    await startIndexJob(db.pool, 1);
    expect(await readJobs()).toHaveLength(1);
    for (const [filter, expected] of CASES)
      expect({ filter, found: await find(filter) }).toEqual({ filter, found: expected });
  });
});
