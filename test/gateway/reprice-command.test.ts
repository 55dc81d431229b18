/** Re-pricing in a whole gateway: the command line, the API behind it, and the control process killed in the middle. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { embeddedUrl } from '../../bench/kill/gateway-database.ts';
import { idAt } from '../support/admin-database.ts';
import { callId } from '../support/call-fixtures.ts';
import { declarePrice, openStage, type Stage, storeCalls } from './reprice-stage.ts';
import { runTollgate } from './run-tollgate.ts';
import { startGateway, type TestGateway, waitUntil } from './start-gateway.ts';

let gateway: TestGateway;
let stage: Stage;

beforeAll(async () => {
  gateway = await startGateway();
  stage = await openStage(embeddedUrl(gateway.dataDir));
  // Calls that are there before would be priced again by themselves.
  await waitUntil('the first start is noted', async () => {
    const { rows } = await stage.pool.query('select from repriced_list_prices where version is not null');
    return rows.length === 1 ? true : undefined;
  });
});
afterAll(async () => {
  await stage.close();
  await gateway.stop();
});

const tollgate = (...args: readonly string[]) => runTollgate(gateway.dataDir, args);

async function refusal(path: string, body?: object): Promise<string> {
  const init = {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  return gateway.api(path, init).then(
    () => 'no refusal',
    (error: unknown) => String(error),
  );
}

test('first what would change, then the change, and afterwards the call shows what its cost was', async () => {
  await storeCalls(stage, [
    {
      number: 1,
      begin: { id: idAt(1), modelRequested: 'house-1' },
      end: { id: idAt(1), modelRequested: 'house-1', model: 'house-1' },
    },
    { number: 2 },
  ]);
  await declarePrice(stage.pool, 'house-1', { input: '2', cache_read: '1', output: '4' });
  const dry = await tollgate('reprice', '--model', 'house-1');
  // The command is named for the shell and the gateway at hand.
  expect(dry.stdout.replace(/\S+tollgate reprice(.*) --data-dir \S+/, 'tollgate reprice$1')).toBe(
    [
      'day (UTC)   provider  model    calls  changed   before     after  difference  unpriced',
      '2026-11-28  openai    house-1      1        1  ≥ $0.00  $0.00025   +$0.00025     1 → 0',
      'total                              1        1  ≥ $0.00  $0.00025   +$0.00025     1 → 0',
      'No changes yet. To do it:',
      "  tollgate reprice --model house-1 --apply --reason 'why'",
      '',
    ].join('\n'),
  );
  expect(await tollgate('reprice', '--apply')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'tollgate: --apply needs --reason: it stands in the history of every call that changes\n',
  });
  const applied = await tollgate('reprice', '--apply', '--reason', 'the contract', '--json');
  expect(
    applied.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    {
      day: '2026-11-28',
      provider: 'openai',
      model: 'house-1',
      calls: 1,
      changed: 1,
      old_cost: '0',
      new_cost: '0.00025',
      old_unpriced: 1,
      new_unpriced: 0,
    },
    {
      job_id: expect.any(Number),
      dry_run: false,
      calls: 1,
      changed: 1,
      old_cost: '0',
      new_cost: '0.00025',
      old_unpriced: 1,
      new_unpriced: 0,
    },
  ]);
  const [job] = (await tollgate('jobs', 'list', '--json')).stdout.split('\n');
  expect(JSON.parse(job ?? '')).toMatchObject({ input: { reason: 'the contract', only: 'unpriced', dry_run: false } });
  expect((await tollgate('reprice', '--only', 'all', '--provider', 'openai')).stdout).toContain(
    'Nothing would change.',
  );
  const shown = (await tollgate('logs', idAt(1))).stdout;
  expect(shown).toMatch(/\ncost +\$0\.00025\n/);
  expect(shown).toMatch(/\n2026-\d\d-\d\d \d\d:\d\d:\d\d +unpriced +\$0\.00025 +the contract\n/);
});

test('a wrong question is refused in words', async () => {
  expect(await refusal('/api/v1/reprice', { dry_run: false })).toContain('reason: say why');
  expect(await refusal('/api/v1/reprice', { f: ['colour:eq:red'] })).toContain('There is no column \\"colour\\"');
  expect(await refusal('/api/v1/reprice', { from: '2026-11-28', to: '2026-11-27' })).toContain('must be later');
  expect(await refusal('/api/v1/reprice', { only: 'some' })).toContain('only:');
  expect(await refusal('/api/v1/reprice/999/days')).toContain('There is no re-pricing with this job id.');
  expect(await refusal(`/api/v1/logs/${idAt(999)}/revisions`)).toContain('There is no call with this id.');
});

test('killed in the middle, the control process goes on with it at its next start', async () => {
  await storeCalls(
    stage,
    Array.from({ length: 12_000 }, (_, index) => ({ number: 1_000 + index, begin: { traceId: `run ${index % 50}` } })),
  );
  await declarePrice(stage.pool, 'gpt-5-2025-08-07', { input: '1', cache_read: '0', output: '5' });
  const path = '/api/v1/reprice';
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ only: 'all', dry_run: false, reason: 'the contract' });
  const { job_id: id } = z
    .object({ job_id: z.number() })
    .parse(await gateway.api(path, { method: 'POST', headers, body }));
  const done = async () => {
    const { rows } = await stage.pool.query<{ done: number }>('select done from jobs where id = $1', [id]);
    return rows[0]?.done ?? 0;
  };
  await waitUntil('it is in the middle', async () => ((await done()) > 0 ? true : undefined));
  const control = (await gateway.processes()).find(({ role }) => role === 'control');
  if (control?.pid == null) throw new Error('no control process');
  process.kill(control.pid, 'SIGKILL');
  expect(await done()).toBeLessThan(12_000);
  const watched = await waitUntil('the gateway is there again', async () => {
    const ran = await tollgate('jobs', 'watch', String(id));
    return ran.code === 0 ? ran : undefined;
  });
  expect(watched.stdout).toMatch(/^Price all calls again: done, 12\.0k calls read in /);
  const { rows } = await stage.pool.query<unknown[]>({
    text: `select count(*), count(distinct request_id), (select count(*) from llm_requests where total_cost <> 0.00025
             and price_version = (select price_version from llm_requests where id = $1)) from cost_revisions where job_id = $2`,
    values: [callId(1_000), id],
    rowMode: 'array',
  });
  expect(rows).toEqual([[12_001, 12_001, 12_001]]);
});
