/** Promotion in a whole gateway, asked for on the command line, with the control process killed in the middle. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { embeddedUrl } from '../../bench/kill/gateway-database.ts';
import { verifyRollups } from '../../src/control/log/verify-rollups.ts';
import { fillLog } from '../support/fill-log.ts';
import { startGateway, type TestGateway, waitUntil } from './start-gateway.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
const CALLS = 9_000;
/** Of ten calls nine have the key. */
const WITH_KEY = 8_100;

let gateway: TestGateway;
let client: pg.Client;

beforeAll(async () => {
  gateway = await startGateway();
  client = new pg.Client({ connectionString: embeddedUrl(gateway.dataDir) });
  await client.connect();
  await fillLog(client, CALLS, Date.now());
});
afterAll(async () => {
  await client.end();
  await gateway.stop();
});

interface Command {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
  readonly stderr: () => string;
}

function tollgate(...args: readonly string[]): Command {
  const child = spawn(process.execPath, [MAIN, ...args, '--data-dir', gateway.dataDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, stderr: () => stderr, ended: ended.then((code) => ({ code, stdout, stderr })) };
}

async function jobDone(): Promise<number> {
  const { rows } = await client.query<{ done: string }>('select done from jobs order by id desc limit 1');
  return Number(rows[0]?.done ?? 0);
}

test('a promotion outlives the killed control process and the command that was interrupted, and ends right', async () => {
  const interrupted = tollgate('metadata', 'promote', 'Feature');
  await waitUntil('the job is in the middle', async () => ((await jobDone()) > 0 ? true : undefined));
  const control = (await gateway.processes()).find(({ role }) => role === 'control');
  if (control?.pid == null) throw new Error('no control process');
  process.kill(control.pid, 'SIGKILL');
  const done = await jobDone();
  expect(done).toBeLessThan(WITH_KEY);
  await waitUntil('something was shown', () => (interrupted.stderr().includes('Promote Feature') ? true : undefined));
  interrupted.child.kill('SIGINT');
  const end = await interrupted.ended;
  expect({ code: end.code, stdout: end.stdout }).toEqual({ code: 130, stdout: '' });
  expect(end.stderr).toContain('The job goes on in the gateway');
  await waitUntil('the gateway is there again', async () => gateway.api('/api/v1/jobs').catch(() => undefined));
  const [job] = (await tollgate('jobs', 'list', '--json').ended).stdout.split('\n');
  const { id } = JSON.parse(job ?? '');
  const watched = await tollgate('jobs', 'watch', String(id)).ended;
  expect(watched.code).toBe(0);
  expect(watched.stdout).toMatch(/^Promote Feature: done, 8\.1k calls in /);
  const { rows: counted } = await client.query(
    `select count(*)::int as calls, count(value)::int as with_key,
       count(*) filter (where indexed_metadata ->> 'Feature' = value)::int as promoted
     from (select metadata_value(raw_metadata, 'Feature') as value, indexed_metadata from llm_requests) c`,
  );
  expect(counted).toEqual([{ calls: CALLS, with_key: WITH_KEY, promoted: WITH_KEY }]);
  expect(await verifyRollups(client)).toEqual([]);
  const listed = await tollgate('metadata', 'list').ended;
  expect(listed.stdout.split('\n').find((line) => line.startsWith('Feature '))).toContain('promoted');
  const again = await tollgate('metadata', 'promote', 'feature').ended;
  expect(again).toEqual({ code: 1, stdout: '', stderr: 'tollgate: This key is promoted.\n' });
});

test('a demotion that is only begun is shown as a job', async () => {
  const begun = await tollgate('metadata', 'demote', 'Feature', '--no-wait', '--json').ended;
  const id = JSON.parse(begun.stdout)['job_id'];
  expect(JSON.parse((await tollgate('jobs', 'cancel', String(id), '--json').ended).stdout)).toMatchObject({
    title: 'Demote Feature',
    state: 'cancelled',
  });
  expect((await tollgate('jobs', 'watch', String(id)).ended).stderr).toMatch(
    new RegExp(`Demote Feature was cancelled; \`\\S*tollgate jobs resume ${id} --data-dir \\S+\` goes on`),
  );
});
