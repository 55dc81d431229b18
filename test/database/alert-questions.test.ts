/** The question of an alert: what it is now, and that the preview says what the alert would have said at each moment. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listDeliveries, noteFindings } from '../../src/control/alerts/alert-events.ts';
import { AlertQuestion } from '../../src/control/alerts/alert-question.ts';
import { listAlerts } from '../../src/control/alerts/alert-store.ts';
import { askNow, previewQuestion } from '../../src/control/alerts/ask-question.ts';
import { LOOKS } from '../../src/control/alerts/find-findings.ts';
import { WALK_LIMITS } from '../../src/control/log/walk-window.ts';
import { OPERATOR_JOBS } from '../../src/control/store/operator-jobs.ts';
import { type AdminDatabase, endedCall, startAdminDatabase, tokens } from '../support/admin-database.ts';
import { NOON_MS } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const START_LIMIT_MS = 60_000;
const HOUR_MS = 3_600_000;
const NOW_MS = NOON_MS + 3 * HOUR_MS;

const ask = (given: object) => AlertQuestion.parse({ window_seconds: 600, threshold: '1', least_count: 3, ...given });

/** The same numbers each time. */
function createNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

describe.each(POSTGRES_KINDS)('questions of alerts on $name', (kind) => {
  let db: AdminDatabase;
  beforeAll(async () => {
    db = await startAdminDatabase(kind);
    const next = createNumbers(7);
    const calls = Array.from({ length: 120 }, (_, number) => {
      // In bursts, some longer than the window.
      const atMs = Math.floor((Math.floor(next() * 9) + next() / 4) * 1_200_000);
      const durationMs = Math.floor(next() < 0.1 ? next() * 1_200_000 : next() * 30_000);
      return endedCall(
        atMs + number,
        { traceId: number % 3 === 0 ? null : `run ${number % 7}`, metadata: [['Team', number % 2 ? 'red' : 'blue']] },
        {
          durationMs,
          respondedAtMs: NOON_MS + atMs + number + durationMs,
          outcome: next() < 0.3 ? 'upstream_error' : 'ok',
          usage: tokens(Math.floor(next() * 5_000), 10),
        },
      );
    });
    await db.store(...calls);
  }, START_LIMIT_MS);
  afterAll(() => db?.stop());

  test.each([
    { measure: 'cost', about: 'calls', threshold: '0.02', filters: ['metadata.Team:eq:red'] },
    { measure: 'error_share', about: 'calls', threshold: '40' },
    { measure: 'p95_duration_ms', about: 'calls', threshold: '25000' },
    { measure: 'errors', about: 'runs', threshold: '2', filters: ['run.calls:gte:12'] },
  ])('the preview of $measure of $about fires when the alert would, looked at every minute', async (given) => {
    const question = ask(given);
    const preview = await previewQuestion(db.pool, 1, question, NOW_MS);
    expect(preview.stepSeconds).toBe(60);
    const fired: string[] = [];
    const seen: number[] = [];
    let wasReached = false;
    for (let atMs = NOW_MS - 3 * HOUR_MS; atMs <= NOW_MS; atMs += 60_000) {
      const value = await askNow(db.pool, 1, question, atMs);
      if (value !== null) seen.push(Number(value));
      const isReached = value !== null && Number(value) >= Number(question.threshold);
      if (isReached && !wasReached) fired.push(new Date(atMs).toISOString());
      wasReached = isReached;
    }
    expect(fired.length).toBeGreaterThan(0);
    expect(preview.fired.map((at) => at.toISOString())).toEqual(fired);
    expect(Number(preview.highest)).toBe(Math.max(...seen));
  });

  test('a share of too few calls is none, and a preview says how far back the log goes or was read', async () => {
    const few = ask({ measure: 'error_share', threshold: '1', least_count: 121 });
    expect(await askNow(db.pool, 1, few, NOW_MS)).toBeNull();
    expect(await previewQuestion(db.pool, 1, few, NOW_MS)).toMatchObject({ fired: [], highest: null });
    const all = ask({ measure: 'calls', threshold: '1', window_seconds: 86_400 });
    expect(await askNow(db.pool, 1, all, NOW_MS)).toBe('120');
    const whole = await previewQuestion(db.pool, 1, all, NOW_MS);
    const first = await db.pool.query<{ at: Date }>('select min(requested_at) as at from llm_requests');
    expect(whole.since).toEqual(first.rows[0]?.at);
    expect(whole.fired).toHaveLength(1);
    const hurried = { ...WALK_LIMITS, firstRows: 10, budgetMs: 0 };
    const part = await previewQuestion(db.pool, 1, { ...all, window_seconds: 60 }, NOW_MS, hurried);
    expect(part.since.getTime()).toBeGreaterThan(NOW_MS - HOUR_MS);
    expect(await previewQuestion(db.pool, 2, all, NOW_MS)).toMatchObject({ since: new Date(NOW_MS), fired: [] });
  });

  test('a filter must be of what the question is about', () => {
    const faultOf = (given: object) => AlertQuestion.safeParse({ window_seconds: 60, threshold: '1', ...given }).error;
    expect(faultOf({ measure: 'runs', about: 'runs', filters: ['run.errors:gte:1', 'model:eq:x'] })).toBeUndefined();
    expect(faultOf({ measure: 'calls', filters: ['run.errors:gte:1'] })?.issues[0]?.path).toEqual(['filters', 0]);
    expect(faultOf({ measure: 'runs' })?.issues[0]?.message).toBe('runs are counted with "about": "runs"');
    expect(faultOf({ measure: 'cost', about: 'calls', threshold: '0' })?.issues[0]?.message).toBe(
      'a decimal number above 0',
    );
  });

  test('an alert about jobs tells only whoever may see them of jobs about all accounts', async () => {
    for (const kind of ['verify', 'index_log', 'texts', 'reprice'])
      await db.pool.query(
        `insert into jobs (account_id, kind, subject, title, unit, input, phase, state, error, finished_at)
         values (1, $1, $1, $1, 'calls', '{}', 'failed', 'failed', 'of all accounts', now() + interval '1 hour')`,
        [kind],
      );
    const { body } = await db.send('POST', '/alerts', { name: 'failed', kind: 'jobs', destinations: [] });
    expect(body).toMatchObject({ created_by: 'admin token' });
    const [alert] = await listAlerts(db.pool, 1);
    if (alert === undefined) throw new Error('no alert');
    const toldTo = async (createdBy: string) => {
      const { findings } = await LOOKS.jobs(db.pool, { ...alert, createdBy }, Date.now());
      return findings.map(({ title }) => /"(.*)"/.exec(title)?.[1]).toSorted();
    };
    const all = ['index_log', 'reprice', 'texts', 'verify'];
    for (const operator of ['admin token', 'dashboard session, as stated by ann@desk'])
      expect(await toldTo(operator)).toEqual(all);
    for (const other of ['ann@example.com', 'API token admin token', 'admin tokens'])
      expect(await toldTo(other)).toEqual(['reprice']);

    const { findings, lasts } = await LOOKS.jobs(db.pool, alert, Date.now());
    await noteFindings(db.pool, alert, findings, lasts);
    const listed = async (hiddenJobs: readonly string[]) =>
      (await listDeliveries(db.pool, 1, { alertId: null, limit: 10, hiddenJobs })).length;
    expect([await listed([]), await listed(OPERATOR_JOBS)]).toEqual([4, 1]);
  });
});
