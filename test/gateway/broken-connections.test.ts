/**
 * Connections to the database break under every kind of work: a process of the server is killed as the out-of-memory killer
 * does it, which restarts the whole server, or the network hangs and then closes or resets them. The gateway's own
 * processes live on, whoever asks meanwhile is told to come again, and afterwards everything works.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BreakableLine, type SeenQuestion, startBreakableLine } from '../support/breakable-line.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { asRecord, readAdminFile, startGateway, type TestGateway, waitUntil } from './start-gateway.ts';

type Way = 'kill -9' | 'close' | 'reset';
/** `npm run test:long` breaks the network under the same work. */
const WAYS: readonly Way[] = process.env['TEST_BREAKS'] === 'network' ? ['close', 'reset'] : ['kill -9'];
const ADMIN = /^tollgate admin$/;

describe.each(POSTGRES_KINDS)('$name', (kind) => {
  let server: TestPostgres;
  let line: BreakableLine;
  let gateway: TestGateway;
  let control: number | null;
  let traceId: string;
  let backup: Buffer;

  async function readControl(): Promise<number | null> {
    const processes = await gateway.processes();
    return processes.find(({ role }) => role === 'control')?.pid ?? null;
  }

  beforeAll(async () => {
    server = await startPostgres(kind);
    line = await startBreakableLine(await server.createEmptyDatabase('broken'));
    // The migration is the first to meet it.
    const migrating = line.see(/^tollgate shipper$/, /create table if not exists schema_migrations/, true);
    void migrating.then(async ({ breakOff }) => {
      await sleep(200);
      breakOff('reset');
    });
    gateway = await startGateway({
      env: { DATABASE_URL: line.connectionString, TOLLGATE_UPSTREAM_OPENAI: 'http://127.0.0.1:9' },
    });
    await migrating;
    control = await readControl();
    await gateway.api('/api/v1/demo-data', { method: 'POST' });
    const runs = asRecord(await gateway.api('/api/v1/runs?limit=1'))['data'];
    traceId = String(asRecord(Array.isArray(runs) ? runs[0] : null)['trace_id']);
    backup = Buffer.from(await (await ask('/api/v1/backup')).arrayBuffer());
  });
  afterAll(async () => {
    await gateway?.stop();
    await line?.close();
    await server?.remove();
  });

  function ask(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${readAdminFile(gateway.dataDir).token}`);
    return fetch(`${gateway.adminBase}${path}`, { ...init, headers });
  }

  /** Status and, where the client is to come again, after how long; `cut` when the answer does not come to its end. */
  async function outcomeOf(path: string, init: RequestInit = {}): Promise<string> {
    try {
      const answer = await ask(path, init);
      await answer.arrayBuffer();
      const again = answer.headers.get('retry-after');
      return again === null ? String(answer.status) : `${answer.status}, again in ${again} s`;
    } catch {
      return 'cut';
    }
  }

  async function breakAt(
    way: Way,
    applicationName: RegExp,
    text: RegExp,
    work: () => Promise<unknown>,
  ): Promise<unknown> {
    const seen = line.see(applicationName, text, true);
    const answer = work();
    return breakOffAt(way, await seen, answer);
  }

  /** The job's id. A request that meets a connection which the test before has broken is sent again. */
  async function startJob(path: string, asked: Readonly<Record<string, unknown>>): Promise<unknown> {
    const body = JSON.stringify(asked);
    for (;;) {
      const answer = await ask(path, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
      if (answer.status !== 503) return asRecord(await answer.json())['job_id'];
      await sleep(200);
    }
  }

  /** As `breakAt` for a question; one that meets a connection which the test before has broken is asked again. */
  async function askAndBreak(way: Way, text: RegExp, path: string): Promise<unknown> {
    const seen = line.see(ADMIN, text, true);
    for (;;) {
      const answer = outcomeOf(path);
      const met = await Promise.race([seen, answer.then(() => null)]);
      if (met !== null) return breakOffAt(way, met, answer);
      await sleep(200);
    }
  }

  async function breakOffAt(
    way: Way,
    { backendPid, breakOff }: SeenQuestion,
    answer: Promise<unknown>,
  ): Promise<unknown> {
    if (way === 'kill -9') process.kill(backendPid, 'SIGKILL');
    else {
      await sleep(300);
      breakOff(way);
    }
    return answer;
  }

  async function expectWell(path: string, init: RequestInit = {}): Promise<void> {
    await waitUntil(`${path} works again`, async () => ((await outcomeOf(path, init)) === '200' ? true : undefined));
    expect(await readControl()).toBe(control);
  }

  const PAGES: readonly (readonly [page: string, text: RegExp, path: () => string])[] = [
    ['a run', /from llm_runs r where r.account_id = \$1 and r.trace_id/, () => `/api/v1/run?trace_id=${traceId}`],
    ['costs', /select min\(hour\) as first/, () => '/api/v1/costs'],
    [
      'the sums of runs',
      /runs_with_errors/,
      () => '/api/v1/runs/summary?from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z',
    ],
    ['the list of calls', /from llm_requests[\s\S]*order by/, () => '/api/v1/logs'],
    ['an export', /declare piecewise/, () => '/api/v1/export?kind=logs'],
  ];

  describe.each(WAYS)('%s', (way) => {
    test.each(PAGES)('%s', async (_, text, path) => {
      expect(await askAndBreak(way, text, path())).toBe('503, again in 2 s');
      await expectWell(path());
    });

    test('an export between two pieces', async () => {
      const outcome = await breakAt(way, ADMIN, /^.{0,8}fetch \d+ from piecewise/s, () =>
        outcomeOf('/api/v1/export?kind=logs'),
      );
      expect(['cut', '503, again in 2 s']).toContain(outcome);
      await expectWell('/api/v1/export?kind=logs');
    });

    test('a job', async () => {
      const id = await breakAt(way, /^tollgate jobs$/, /for update/, () => startJob('/api/v1/verify', {}));
      await waitUntil('the job is done', async () => {
        const job = await ask(`/api/v1/jobs/${String(id)}`);
        return job.status === 200 && asRecord(await job.json())['state'] === 'done' ? true : undefined;
      });
      expect(await readControl()).toBe(control);
    });

    test('a backup', async () => {
      const outcome = await breakAt(way, /^tollgate backup$/, /copy \(select/, () => outcomeOf('/api/v1/backup'));
      expect(['cut', '503, again in 2 s']).toContain(outcome);
      await expectWell('/api/v1/backup');
    });

    test('a restore', async () => {
      const init = { method: 'POST', body: new Uint8Array(backup) };
      const path = '/api/v1/restore?replace=true';
      const outcome = await breakAt(way, /^tollgate restore$/, /copy llm_requests .* from stdin/, () =>
        outcomeOf(path, init),
      );
      expect(outcome).toBe('503, again in 2 s');
      await expectWell(path, init);
    });

    test('prices that are looked at every second', async () => {
      await breakAt(way, ADMIN, /select version from price_book_version/, async () => {});
      await expectWell('/api/v1/costs');
    });

    test('estimates', async () => {
      await breakAt(way, /^tollgate estimates$/, /pg_try_advisory_lock/, async () => {});
      await expectWell('/api/v1/costs');
    });

    test('the sign of life of a node', async () => {
      await breakAt(way, /^tollgate node$/, /nodes/, async () => {});
      await expectWell('/api/v1/costs');
    });

    test('records that are being stored', async () => {
      const call = async () => {
        const headers = { 'x-gateway-key': gateway.key, authorization: 'Bearer sk-test' };
        const answer = await fetch(`${gateway.base}/v1/models`, { headers });
        return answer.headers.get('x-gateway-request-id');
      };
      const id = await breakAt(way, /^tollgate shipper$/, /copy ingest_rows/, call);
      expect(await gateway.waitForLog(String(id))).toMatchObject({ outcome: 'upstream_unreachable' });
      expect(await readControl()).toBe(control);
    });
  });

  /** Every second or more often, on connections that pages use too. */
  const LOOKED_AT: readonly (readonly [string, RegExp])[] = [
    ['budgets', /from budget_version/],
    ['what is paused', /from brake_hits/],
    ['calls that brakes have not seen', /from brake_facts/],
    ['alerts', /from alerts where is_on/],
    ['messages of alerts that wait', /from alert_deliveries/],
    ['kept credentials', /provider_credentials/],
    ['sums that are not folded yet', /llm_facet_deltas|llm_cost_deltas/],
  ];
  test.each(LOOKED_AT)('a server that is killed while it is asked for %s', async (_, text) => {
    // What is asked under a name has its text with it on a new connection alone.
    line.breakAll('reset');
    await breakAt('kill -9', /^tollgate/, text, async () => {});
    await expectWell('/api/v1/costs');
  });

  const AUDIT: readonly (readonly [string, string])[] = [
    ['read', '/api/v1/audit'],
    ['verified', '/api/v1/audit/verification'],
  ];
  test.each(AUDIT)('a server that is killed while the audit log is %s', async (_, path) => {
    expect(await askAndBreak('kill -9', /from audit_log/, path)).toBe('503, again in 2 s');
    await expectWell(path);
  });

  test('a server that is killed while a job erases: the job ends', async () => {
    const erase = () => startJob('/api/v1/erasures', { trace_id: 'nobody has this', dry_run: false });
    const id = await breakAt('kill -9', /^tollgate jobs$/, /select id, requested_at from llm_requests/, erase);
    await waitUntil('the job is done', async () => {
      const job = await ask(`/api/v1/jobs/${String(id)}`);
      return job.status === 200 && asRecord(await job.json())['state'] === 'done' ? true : undefined;
    });
    expect(await readControl()).toBe(control);
  });

  test.each(['close', 'reset'] as const)('a network that hangs and then breaks: %s', async (how) => {
    line.hang();
    await sleep(1_500);
    line.breakAll(how);
    await expectWell('/api/v1/costs');
    expect(line.openConnections()).toBeGreaterThan(0);
  });

  test('no process had to be begun anew', async () => {
    const processes = await gateway.processes();
    expect(processes.map(({ role, restarts }) => `${role} ${restarts}`)).toEqual(['proxy 0', 'control 0']);
  });
});
