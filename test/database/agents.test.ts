/** Calls of sub-agents end in the right place of the right run, in whatever order they are stored, and sums stay true. */
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runJobs } from '../../src/control/jobs/run-jobs.ts';
import { createGroupRunsKind } from '../../src/control/log/group-runs-job.ts';
import { verifyRollups } from '../../src/control/log/verify-rollups.ts';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import { type IngestSession, openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import { settleBatch } from '../../src/control/shipper/settle-batch.ts';
import type { CallBegin, SpoolEntry } from '../../src/vocabulary/call-record.ts';
import { type AdminDatabase, endedCall, startAdminDatabase } from '../support/admin-database.ts';
import { NOON_MS, priceByToken } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';

const START_LIMIT_MS = 60_000;

/** As the proxy writes it for a key with runs from agents. */
function agentCall(number: number, client: string, session: string, ...agents: readonly string[]): SpoolEntry {
  const begin: Partial<CallBegin> = {
    client,
    traceId: `${client}:${session}`,
    traceSource: 'agents',
    spanPath: ['main', ...agents.map((agent) => `agent-${agent}`)].join('/'),
    agent: agents.at(-1) ?? 'main',
    agentSession: session,
    agentPath: ['main', ...agents].join('/'),
  };
  return endedCall(number, begin);
}

/** Each names its parent at most. */
const CLAUDE = [
  agentCall(1, 'claude-code', 's1'),
  agentCall(2, 'claude-code', 's1', 'g'),
  agentCall(3, 'claude-code', 's1', 'g', 'p'),
  agentCall(4, 'claude-code', 's1', 'p', 'x'),
  agentCall(5, 'claude-code', 's1', 'x', 'y'),
];
/** Each is a session, and names its parent only. */
const OPENCODE = [
  agentCall(11, 'opencode', 'root'),
  agentCall(12, 'opencode', 'root', 'one'),
  agentCall(13, 'opencode', 'one', 'two'),
  agentCall(14, 'opencode', 'two', 'three'),
];

describe.each(POSTGRES_KINDS)('agents on $name', (kind) => {
  let db: AdminDatabase;
  let session: IngestSession;

  beforeAll(async () => {
    db = await startAdminDatabase(kind);
    session = await openIngestSession(db.pool);
  }, START_LIMIT_MS);
  afterAll(async () => {
    session.close();
    await db.stop();
  });
  beforeEach(async () => {
    await db.pool.query(
      `truncate llm_requests, llm_runs, llm_run_facets, llm_cost_hourly, llm_cost_deltas, llm_metadata_hourly,
         llm_metadata_deltas, llm_facet_hourly, llm_facet_deltas, jobs cascade`,
    );
  });

  async function ship(...entries: readonly SpoolEntry[]): Promise<void> {
    const { items } = buildBatch(entries, { process: 'test', priceCall: priceByToken, nowMs: NOON_MS + 3_600_000 });
    await session.ingest(items);
    const problems: string[] = [];
    await settleBatch(session.client, items, {
      warn: (fields) => problems.push(JSON.stringify(fields)),
      error: () => {},
    });
    expect(problems).toEqual([]);
  }

  async function readPlaces(): Promise<readonly string[]> {
    const { rows } = await db.pool.query<{ place: string }>(
      `select coalesce(trace_id, '-') || ' ' || coalesce(span_path, '-') || ' ' || agent_session || ' ' || agent_path as place
       from llm_requests order by id`,
    );
    return rows.map(({ place }) => place);
  }

  async function readRuns(): Promise<readonly string[]> {
    const { rows } = await db.pool.query<{ run: string }>(
      `select trace_id || ' ' || calls || ' ' || to_char(started_at at time zone 'UTC', 'SS.MS') as run from llm_runs order by 1`,
    );
    return rows.map(({ run }) => run);
  }

  test('in every order, in one batch or in many, the tree is the same, and the roll-ups equal the records', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([...CLAUDE, ...OPENCODE], { minLength: 9, maxLength: 9 }),
        fc.integer({ min: 1, max: 4 }),
        async (entries, size) => {
          await db.pool.query(
            `truncate llm_requests, llm_runs, llm_run_facets, llm_cost_hourly, llm_cost_deltas, llm_metadata_hourly,
               llm_metadata_deltas, llm_facet_hourly, llm_facet_deltas cascade`,
          );
          for (let at = 0; at < entries.length; at += size) await ship(...entries.slice(at, at + size));
          expect(await readPlaces()).toEqual([
            'claude-code:s1 main s1 main',
            'claude-code:s1 main/agent-g s1 main/g',
            'claude-code:s1 main/agent-g/agent-p s1 main/g/p',
            'claude-code:s1 main/agent-g/agent-p/agent-x s1 main/g/p/x',
            'claude-code:s1 main/agent-g/agent-p/agent-x/agent-y s1 main/g/p/x/y',
            'opencode:root main root main',
            'opencode:root main/agent-one root main/one',
            'opencode:root main/agent-one/agent-two root main/one/two',
            'opencode:root main/agent-one/agent-two/agent-three root main/one/two/three',
          ]);
          expect(await readRuns()).toEqual(['claude-code:s1 5 00.001', 'opencode:root 4 00.011']);
          expect(await verifyRollups(db.pool)).toEqual([]);
        },
      ),
      { numRuns: 8 },
    );
  }, 120_000);

  test('what a client says of its run or step itself is not moved', async () => {
    await ship(CLAUDE[1] ?? expect.fail(), CLAUDE[2] ?? expect.fail());
    const call = agentCall(4, 'claude-code', 's1', 'p', 'x');
    if (call.type !== 'end') throw new Error('no call');
    await ship({ ...call, begin: { ...call.begin, traceId: 'mine', traceSource: 'header', spanPath: 'own/step' } });
    expect((await readPlaces()).at(-1)).toBe('mine own/step s1 main/g/p/x');
  });

  test('calls without a run are put into the runs of their sessions and taken out again, dry first', async () => {
    const outside = [...CLAUDE, endedCall(20)].map((entry): SpoolEntry => {
      if (entry.type !== 'end') return entry;
      const { traceSource: _, ...begin } = entry.begin;
      return { ...entry, begin: { ...begin, traceId: null, spanPath: null } };
    });
    await ship(...outside, OPENCODE[0] ?? expect.fail());
    const before = await readPlaces();
    const runner = runJobs({
      pool: db.pool,
      kinds: [createGroupRunsKind()],
      log: { ...quietLog(), info: () => {} },
    });
    async function run(body: Readonly<Record<string, unknown>>): Promise<unknown> {
      expect((await db.send('POST', '/runs/grouping', body)).status).toBe(202);
      const readJobs = async () => (await db.pool.query('select state from jobs order by id desc limit 1')).rows;
      await expect.poll(readJobs, { timeout: 30_000 }).toEqual([{ state: 'done' }]);
      return (await db.pool.query('select result from jobs order by id desc limit 1')).rows[0].result;
    }

    expect(await run({ action: 'group' })).toEqual({ action: 'group', dry_run: true, calls: 5, runs: 1 });
    expect(await readPlaces()).toEqual(before);
    expect(await run({ action: 'group', dry_run: false, f: ['client:eq:codex'] })).toMatchObject({ calls: 0, runs: 0 });
    expect(await run({ action: 'group', dry_run: false })).toMatchObject({ calls: 5, runs: 1 });
    expect(await readPlaces()).toContain('claude-code:s1 main/agent-g/agent-p/agent-x s1 main/g/p/x');
    expect(await readRuns()).toEqual(['claude-code:s1 5 00.001', 'opencode:root 1 00.011']);
    expect(await verifyRollups(db.pool)).toEqual([]);
    expect(await run({ action: 'ungroup', dry_run: false })).toMatchObject({ action: 'ungroup', calls: 5, runs: 1 });
    expect(await readPlaces()).toEqual(before);
    expect(await readRuns()).toEqual(['opencode:root 1 00.011']);
    expect(await verifyRollups(db.pool)).toEqual([]);
    await runner.stop();
  }, 60_000);
});
