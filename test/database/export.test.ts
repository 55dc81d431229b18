/** Exports over a real database and real sockets: whole, of one moment, safe in a spreadsheet, and never cut in silence. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  ADMIN_TOKEN,
  type AdminDatabase,
  endedCall,
  idAt,
  startAdminDatabase,
  tokens,
} from '../support/admin-database.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const START_LIMIT_MS = 60_000;
const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
const run = promisify(execFile);

/** For what the server has to notice by itself. */
const WAIT = { timeout: 20_000 };

describe.each(POSTGRES_KINDS)('exports on $name', (kind) => {
  let db: AdminDatabase;
  let dir: string;

  beforeAll(async () => {
    db = await startAdminDatabase(kind);
    dir = mkdtempSync(join(tmpdir(), 'tollgate-export-'));
    await db.store(
      endedCall(
        1_000,
        { spanName: '=HYPERLINK("http://x")', client: '-1+2', traceId: 't,1', metadata: [['Feature', '@sum']] },
        { usage: tokens(100, 10), flags: ['tap_limit', 'inconsistent'] },
      ),
      endedCall(
        2_000,
        {
          spanName: 'a "b"\rc\nd',
          client: '\t+1',
          traceId: 't,1',
          metadata: [
            ['feature', '+49'],
            ['Feature', 'x'],
          ],
        },
        { usage: null, model: null, status: null },
      ),
      endedCall(3_000, { client: null, metadata: [] }, { usage: tokens(1, 0) }),
    );
    await db.pool.query('update llm_requests set attempt = -5 where id = $1', [idAt(3_000)]);
  }, START_LIMIT_MS);
  afterAll(async () => {
    await db.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  async function refusal(question: string): Promise<string> {
    const response = await db.ask(`/export?${question}`);
    const body = z.object({ error: z.object({ code: z.string() }) }).parse(await response.json());
    return `${response.status} ${body.error.code}`;
  }

  test('text that a spreadsheet would execute gets an apostrophe, numbers do not, and null is empty', async () => {
    const columns = 'span_name,client,metadata.Feature,total_cost,attempt,status,flags,streamed,requested_at';
    const response = await db.ask(`/export?kind=logs&sort=requested_at&columns=${columns}`);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="tollgate-logs.csv"');
    expect(await response.text()).toBe(
      [
        columns,
        `"'=HYPERLINK(""http://x"")",'-1+2,'@sum,0.0002,0,200,tap_limit inconsistent,true,2026-11-28T12:00:01.000Z`,
        `"a ""b""\rc\nd",'\t+1,"x, +49",,0,,,true,2026-11-28T12:00:02.000Z`,
        'gpt-5,,,0.000001,-5,200,,true,2026-11-28T12:00:03.000Z',
        '',
      ].join('\n'),
    );
  });

  test('JSON lines are the rows of the lists', async () => {
    const rowsOf = async (question: string): Promise<unknown[]> =>
      (await (await db.ask(`/export?format=ndjson&${question}`)).text())
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    const { data } = z.object({ data: z.array(z.unknown()) }).parse(await db.read('/logs'));
    expect(await rowsOf('kind=logs')).toEqual(data);
    expect(await rowsOf('kind=run&trace_id=t,1')).toEqual([data[2], data[1]]);
    expect(await rowsOf('kind=logs&f=metadata.Feature:eq:@sum&columns=id')).toEqual([{ id: idAt(1_000) }]);
    expect(await rowsOf('kind=logs&sort=-total_cost&columns=total_cost,metadata.FEATURE')).toEqual([
      { total_cost: '0.0002', 'metadata.FEATURE': '@sum' },
      { total_cost: '0.000001', 'metadata.FEATURE': null },
      { total_cost: null, 'metadata.FEATURE': 'x, +49' },
    ]);
    expect(await rowsOf('kind=runs')).toEqual([
      expect.objectContaining({ trace_id: 't,1', state: 'ok', calls: 2, unpriced_calls: 1, total_cost: '0.0002' }),
    ]);
    expect(await rowsOf('kind=runs&columns=trace_id,total_cost&f=run.calls:gt:5')).toEqual([]);
    expect(await (await db.ask('/export?kind=runs&columns=calls,trace_id')).text()).toBe('calls,trace_id\n2,"t,1"\n');
    expect(await (await db.ask('/export?kind=logs&columns=id&f=status:eq:1')).text()).toBe('id\n');
  });

  test('what is wrong with the question is said before anything is sent', async () => {
    for (const [question, code] of [
      ['', 'invalid_request'],
      ['kind=logs&trace_id=x', 'invalid_request'],
      ['kind=run', 'invalid_request'],
      ['kind=runs&exclude_runs=true', 'invalid_request'],
      ['kind=logs&sort=-calls', 'invalid_request'],
      ['kind=logs&limit=5', 'invalid_request'],
      ['kind=logs&columns=', 'invalid_filter'],
      ['kind=logs&columns=id,nothing', 'invalid_filter'],
      ['kind=logs&columns=id,id', 'invalid_filter'],
      ['kind=runs&columns=shape', 'invalid_filter'],
      ['kind=logs&f=run.calls:gt:1', 'invalid_filter'],
    ] as const)
      expect({ question, answer: await refusal(question) }).toEqual({ question, answer: `400 ${code}` });
  });

  describe('of many calls', () => {
    const CALLS = 20_000;
    const MANY = 'kind=logs&sort=requested_at&f=client:eq:many';

    beforeAll(async () => {
      await db.pool.query(
        `insert into llm_requests (id, requested_at, account_id, key_id, node, client, provider, endpoint, method, path,
           is_batch, outcome, flags, span_name, raw_metadata, indexed_metadata, usage_source, cost_status, total_cost)
         select gen_random_uuid(), '2026-11-28T13:00:00Z'::timestamptz + n * interval '1 ms', 1, 1, 'n', 'many', 'openai',
           'chat.completions', 'POST', '/' || repeat('p', 900), false, 'ok', '{}', 'step ' || n, '{}', '{}', 'provider',
           'exact', n * 0.000000000001
         from generate_series(1, ${CALLS}) as n`,
      );
    });

    test('every call of the moment at which it began is in it, and the costs add up', async () => {
      const response = await db.ask(`/export?${MANY}&columns=span_name,total_cost,path`);
      // Begun, not read: a call that comes now is not of its moment.
      await db.pool.query(`update llm_requests set span_name = 'changed' where span_name = 'step 20000'`);
      const lines = (await response.text()).split('\n').slice(1, -1);
      expect(lines).toHaveLength(CALLS);
      expect(lines.at(-1)).toMatch(/^step 20000,0\.00000002,/);
      const pico = lines.reduce((sum, line) => sum + BigInt(Math.round(Number(line.split(',')[1]) * 1e12)), 0n);
      expect(pico).toBe(200_010_000n);
    });

    test('when the database fails in the middle, the connection breaks instead of ending well', async () => {
      const response = await db.ask(`/export?${MANY}`);
      expect(response.status).toBe(200);
      // The client does not read on, so the export waits for it between two pieces.
      await expect
        .poll(async () => {
          const { rows } = await db.pool.query(
            `select pg_terminate_backend(pid) as ended from pg_stat_activity where state = 'idle in transaction'`,
          );
          return rows;
        }, WAIT)
        .toEqual([{ ended: true }]);
      const ending = await response.text().then(
        (text) => `${text.length} characters`,
        (error: unknown) => String(error),
      );
      expect(ending).toBe('TypeError: terminated');
      expect((await db.ask('/export?kind=runs')).status).toBe(200);
    });

    test('a client that leaves gives its connection back', async () => {
      for (let round = 0; round < 5; round += 1) {
        const abort = new AbortController();
        const response = await db.ask(`/export?${MANY}`, { signal: abort.signal });
        expect(response.status).toBe(200);
        abort.abort();
        await expect
          .poll(async () => {
            const { rows } = await db.pool.query(`select from pg_stat_activity where state = 'idle in transaction'`);
            return rows.length;
          }, WAIT)
          .toBe(0);
      }
    });

    test('a fourth export at a time is refused', async () => {
      const abort = new AbortController();
      const open = await Promise.all([1, 2, 3].map(() => db.ask(`/export?${MANY}`, { signal: abort.signal })));
      expect(open.map((response) => response.status)).toEqual([200, 200, 200]);
      expect(await refusal(MANY)).toBe('429 too_many_exports');
      abort.abort();
      await expect.poll(async () => (await db.ask('/export?kind=runs')).status, WAIT).toBe(200);
    });
  });

  describe('by the command', () => {
    const flags = () => ['--url', db.url, '--token', ADMIN_TOKEN];
    const tollgate = (...args: string[]) => run(process.execPath, [MAIN, 'export', ...args, ...flags()], { env: {} });

    test('CSV comes by default, JSON lines with --json', async () => {
      const { stdout } = await tollgate('run', 't,1', '--columns', 'id,status');
      expect(stdout).toBe(`id,status\n${idAt(1_000)},200\n${idAt(2_000)},\n`);
      const json = await tollgate('logs', '--json', '--filter', 'status:nohas', '--search', 'B', '--columns', 'id');
      expect(json.stdout).toBe(`{"id":"${idAt(2_000)}"}\n`);
      await expect(tollgate('run')).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringContaining('export run TRACE'),
      });
      await expect(tollgate('logs', '--columns', 'x')).rejects.toMatchObject({
        code: 1,
        stderr: 'tollgate: columns: there is no column "x".\n',
      });
    });

    test('a file appears when it is whole, and not at all when the export breaks off', async () => {
      const file = join(dir, 'runs.csv');
      await tollgate('runs', '--output', file, '--columns', 'trace_id');
      expect(readFileSync(file, 'utf8')).toBe('trace_id\n"t,1"\n');

      // A gateway whose database fails after the first row.
      const server = createServer((_, response) => {
        response.writeHead(200, { 'content-type': 'text/csv' });
        response.write('id\n1\n', () => response.destroy());
      });
      await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
      const address = z.object({ port: z.number() }).parse(server.address());
      const url = `http://127.0.0.1:${address.port}`;
      const broken = join(dir, 'broken.csv');
      const command = [MAIN, 'export', 'logs', '--url', url, '--token', 'x'];
      const refusal = {
        code: 1,
        stderr: "tollgate: the export broke off and is not whole; the gateway's log says why\n",
      };
      await expect(run(process.execPath, [...command, '--output', broken], { env: {} })).rejects.toMatchObject(refusal);
      await expect(run(process.execPath, command, { env: {} })).rejects.toMatchObject(refusal);
      server.close();
      expect(existsSync(broken)).toBe(false);
      expect(readdirSync(dir).filter((name) => name.endsWith('.partial'))).toEqual([]);
    });
  });
});
