/** The texts of calls in the database: with which calls they come, and with which they go. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAdminApp } from '../../src/control/admin/admin-app.ts';
import type { Job, JobKind } from '../../src/control/jobs/job.ts';
import { lockJob, readJob } from '../../src/control/jobs/job-store.ts';
import { tailLogs } from '../../src/control/log/tail-logs.ts';
import { buildBatch, makeInterruptedItem } from '../../src/control/shipper/build-batch.ts';
import { openIngestSession, type TextOptions } from '../../src/control/shipper/ingest-session.ts';
import { ensurePartitions } from '../../src/control/store/partitions.ts';
import { inTransaction } from '../../src/control/store/pool.ts';
import { setSharedSetting } from '../../src/control/store/shared-settings.ts';
import { createTextsKind, requestTexts } from '../../src/control/texts/texts-job.ts';
import type { SpoolEntry } from '../../src/vocabulary/call-record.ts';
import { bareAdminDeps } from '../support/admin-deps.ts';
import { callBegin, callBody, callEnd, callId, NOON_MS, priceByToken } from '../support/call-fixtures.ts';
import { MIGRATIONS, openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';

const NO_ID = '00000000-0000-0000-0000-000000000000';
const CONTEXT = { process: 'p', priceCall: priceByToken, nowMs: NOON_MS };
const KEPT: TextOptions = { areKept: () => true, onFailed: () => {} };
const QUESTION = JSON.stringify({ messages: [{ role: 'user', content: 'What is\u0000 a gate? \ud83d' }] });
const ANSWER = JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'Something 🚪.' } }] });

interface Sent {
  readonly request?: string | Buffer;
  readonly answer?: string | Buffer;
  readonly encoding?: string;
}

function callWith(number: number, { request, answer, encoding }: Sent): readonly SpoolEntry[] {
  const begin = callBegin(number);
  const bodyOf = (direction: 'request' | 'response', value: string | Buffer, contentEncoding: string | null) => {
    const bytes = typeof value === 'string' ? Buffer.from(value) : value;
    return { type: 'body', body: { ...callBody(number, direction, bytes), contentEncoding } } as const;
  };
  return [
    ...(request === undefined ? [] : [bodyOf('request', request, null)]),
    ...(answer === undefined ? [] : [bodyOf('response', answer, encoding ?? null)]),
    { type: 'end', begin, end: callEnd(number) },
  ];
}

describe.each(POSTGRES_KINDS)('the texts of calls in $name', (kind) => {
  let server: TestPostgres;
  let pool: pg.Pool;

  beforeAll(async () => {
    server = await startPostgres(kind);
    pool = openTestPool(await server.createDatabase('texts'));
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });
  beforeEach(() =>
    pool.query(`truncate llm_requests, llm_bodies, llm_texts, llm_runs; delete from jobs;
      delete from deployment_settings where name = 'search'`),
  );

  async function store(calls: readonly (readonly SpoolEntry[])[], texts = KEPT): Promise<void> {
    const session = await openIngestSession(pool, texts);
    try {
      await session.ingest(buildBatch(calls.flat(), CONTEXT).items);
    } finally {
      session.close();
    }
  }

  /** Runs the job chunk by chunk, each in its transaction, until it ends or `chunks` are done. */
  async function fill(kind: JobKind, chunks = 1_000): Promise<Job | null> {
    const id = await readJobId();
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      const isOver = await inTransaction(pool, async (client) => {
        const job = await lockJob(client, id);
        if (job === null) return true;
        const { cursor, phase, done, total, result } = await kind.runChunk(client, job);
        await client.query(
          'update jobs set state = $2, cursor = $3, phase = $4, done = $5, total = $6, result = $7 where id = $1',
          [id, result === null ? 'running' : 'done', cursor, phase, done, total, result],
        );
        return result !== null;
      });
      if (isOver) break;
    }
    return readJob(pool, 1, id);
  }

  async function readJobId(): Promise<number> {
    const { rows } = await pool.query<{ id: number }>("select max(id) as id from jobs where kind = 'texts'");
    return rows[0]?.id ?? 0;
  }

  async function readTexts(): Promise<readonly unknown[]> {
    const { rows } = await pool.query({
      text: 'select id, account_id, prompt, answer, prompt_snippet, answer_snippet from llm_texts order by id',
      rowMode: 'array',
    });
    return rows;
  }

  test('they come with the call, in a form that the database can store', async () => {
    await store([callWith(1, { request: QUESTION, answer: ANSWER })]);
    const prompt = 'What is\uFFFD a gate? \uFFFD';
    expect(await readTexts()).toEqual([
      [callId(1), 1, prompt, 'Something 🚪.', 'What is a gate? \uFFFD', 'Something 🚪.'],
    ]);
    const { rows } = await pool.query('select distinct pg_column_compression(prompt) as how from llm_texts');
    // So short a text is not compressed.
    expect(rows).toEqual([{ how: null }]);
  });

  test('a call without bodies, or with nothing to read in them, has none', async () => {
    await store([
      callWith(1, {}),
      callWith(2, { request: '{"model":"m"}', answer: 'RIFF' }),
      callWith(3, { answer: ANSWER }),
    ]);
    expect(await readTexts()).toEqual([[callId(3), 1, '', 'Something 🚪.', '', 'Something 🚪.']]);
  });

  test('whatever the encoding of an answer, and one that nobody can undo', async () => {
    const zstdTwice = zstdCompressSync(zstdCompressSync(Buffer.from(ANSWER)));
    const long = JSON.stringify({ completion: 'x y '.repeat(1_000_000) });
    await store([
      callWith(1, { answer: gzipSync(ANSWER), encoding: 'gzip' }),
      callWith(2, { answer: brotliCompressSync(ANSWER), encoding: 'br' }),
      callWith(3, { answer: zstdTwice, encoding: 'zstd, zstd' }),
      callWith(4, { answer: ANSWER, encoding: 'gzip' }),
      callWith(5, { answer: ANSWER, encoding: 'unheard-of' }),
      callWith(6, { answer: gzipSync(long), encoding: 'gzip' }),
    ]);
    const { rows } = await pool.query(
      'select id, answer_snippet as line, length(answer) as length from llm_texts order by id',
    );
    const text = { line: 'Something 🚪.', length: 12 };
    expect(rows).toEqual([
      ...[1, 2, 3].map((number) => ({ id: callId(number), ...text })),
      { id: callId(6), line: `${'x y '.repeat(29)}x y…`, length: 262_143 },
    ]);
  });

  test('a call that comes again has them once', async () => {
    const call = callWith(1, { request: QUESTION, answer: ANSWER });
    await store([call]);
    await store([call, callWith(2, { answer: ANSWER })]);
    expect(await readTexts()).toHaveLength(2);
  });

  test('they come with the real end of a call that was interrupted', async () => {
    const session = await openIngestSession(pool, KEPT);
    await session.ingest([makeInterruptedItem(callBegin(1), null, CONTEXT)]);
    expect(await readTexts()).toEqual([]);
    await session.ingest(buildBatch(callWith(1, { answer: ANSWER }), CONTEXT).items);
    session.close();
    expect(await readTexts()).toHaveLength(1);
  });

  test('where nobody may search there are none, and the bodies are stored all the same', async () => {
    await store([callWith(1, { request: QUESTION, answer: ANSWER })], { ...KEPT, areKept: () => false });
    expect(await readTexts()).toEqual([]);
    expect((await pool.query('select from llm_bodies')).rowCount).toBe(1);
  });

  test('they go with the calls of a key', async () => {
    await store([callWith(1, { answer: ANSWER }), callWith(2, { answer: ANSWER })]);
    const session = await openIngestSession(pool, KEPT);
    await session.remove({
      accountId: 1,
      keyId: callBegin(1).keyId,
      fromMs: NOON_MS - 1_000_000,
      toMs: NOON_MS + 1_000_000,
    });
    session.close();
    expect(await readTexts()).toEqual([]);
  });

  describe('in lists', () => {
    const ask = async (path: string, keepsTexts: boolean): Promise<unknown> => {
      const app = createAdminApp(
        bareAdminDeps({ adminToken: 'token', database: () => pool, keepsTexts: () => keepsTexts }),
      );
      const answer = await app.request(path, { headers: { authorization: 'Bearer token', host: '127.0.0.1' } });
      return answer.json();
    };
    const SNIPPET = { prompt: 'What is a gate? \uFFFD', answer: 'Something 🚪.' };

    test('a page has the first lines of its calls on request, whatever its order and filters', async () => {
      await store([callWith(1, { request: QUESTION, answer: ANSWER }), callWith(2, {})]);
      const data = [{ id: callId(1), snippet: SNIPPET }];
      expect(await ask('/api/v1/logs?fields=snippet,id&sort=requested_at&f=status:eq:200', true)).toMatchObject({
        data: [...data, { id: callId(2), snippet: null }],
      });
      expect(await ask('/api/v1/logs?fields=id,snippet&sort=-total_cost&limit=1&f=client:has', true)).toMatchObject({
        data: [{ id: expect.any(String) }],
      });
      expect(await ask(`/api/v1/logs?fields=id,snippet&f=id:in:${callId(1)},${callId(3)}`, true)).toMatchObject({
        data,
      });
    });

    test('without request, and where nobody may search, there are none', async () => {
      await store([callWith(1, { request: QUESTION, answer: ANSWER })]);
      expect(await ask('/api/v1/logs?fields=id', true)).toMatchObject({ data: [{ id: callId(1) }] });
      expect(JSON.stringify(await ask('/api/v1/logs', true))).not.toContain('snippet');
      expect(await ask('/api/v1/logs?fields=id,snippet', false)).toMatchObject({
        data: [{ id: callId(1), snippet: null }],
      });
    });

    test('a call that comes in has them in the live tail', async () => {
      await store([callWith(1, { request: QUESTION, answer: ANSWER }), callWith(2, {})]);
      const tailed = await tailLogs(pool, 1, [], { xid: '0', id: NO_ID }, 10, { search: null }, true);
      expect(tailed.map(({ record }) => record.snippet)).toEqual([SNIPPET, null]);
    });
  });

  test('a long text is compressed, by lz4 where the server has it', async () => {
    await store([callWith(1, { answer: JSON.stringify({ completion: 'A gate. '.repeat(2_000) }) })]);
    const { rows } = await pool.query('select pg_column_compression(answer) as how from llm_texts');
    expect(['lz4', 'pglz']).toContain(rows[0].how);
  });

  test('a day of before has a place for them as soon as a call comes late', async () => {
    await inTransaction(pool, (client) => ensurePartitions(client, ['2026-11-20']));
    const { rows } = await pool.query("select relname from pg_class where relname ~ '_p20261120$' order by 1");
    expect(rows.map(({ relname }) => relname)).toEqual([
      'llm_bodies_p20261120',
      'llm_requests_p20261120',
      'llm_texts_p20261120',
    ]);
  });

  describe('of calls from before', () => {
    const WITHOUT: TextOptions = { ...KEPT, areKept: () => false };
    const calls = Array.from({ length: 450 }, (_, index) =>
      callWith(index + 1, { request: QUESTION, answer: JSON.stringify({ completion: `Answer ${index + 1}` }) }),
    );
    const snippets = async () => {
      const { rows } = await pool.query('select answer_snippet as line from llm_texts order by id desc');
      return rows.map(({ line }) => line);
    };
    const answers = (from: number, to: number) =>
      Array.from({ length: from - to + 1 }, (_, index) => `Answer ${from - index}`);

    test('a job reads them from the bodies, the newest first, goes on where it stopped, and passes over what has one', async () => {
      await store(calls.slice(0, 445), WITHOUT);
      await store(calls.slice(445));
      await requestTexts(pool, 1);
      await requestTexts(pool, 1);
      expect((await pool.query('select from jobs')).rowCount).toBe(1);
      const kind = createTextsKind(true);
      expect(await fill(kind, 1)).toMatchObject({ phase: 'reading bodies', done: 200, state: 'running' });
      expect(await snippets()).toEqual(answers(450, 251));
      expect(await fill(kind)).toMatchObject({
        state: 'done',
        done: 450,
        total: 450,
        result: { read: 450, written: 445, failed: 0 },
      });
      expect(await snippets()).toEqual(answers(450, 1));
    });

    test('it makes the place for texts of days from before texts, which goes together with the bodies of the day', async () => {
      await store(calls.slice(0, 3), WITHOUT);
      const { rows: days } = await pool.query<{ table: string }>(
        'select tableoid::regclass::text as "table" from llm_bodies limit 1',
      );
      const bodies = days[0]?.table ?? '';
      const texts = bodies.replace('llm_bodies', 'llm_texts');
      await pool.query(`drop table ${texts}; comment on table ${bodies} is 'made late at 2026-11-28T00:00:00.000Z'`);
      await requestTexts(pool, 1);
      expect(await fill(createTextsKind(true))).toMatchObject({ state: 'done', result: { read: 3, written: 3 } });
      const notes = await pool.query<{ note: string }>("select obj_description($1::regclass, 'pg_class') as note", [
        texts,
      ]);
      expect(notes.rows).toEqual([{ note: 'made late at 2026-11-28T00:00:00.000Z' }]);
      await pool.query(`comment on table ${bodies} is null`);
    });

    test('an upgrade requests it, where there are bodies', async () => {
      const upgrade = readFileSync(join(MIGRATIONS, '0022_texts_job.sql'), 'utf8');
      await pool.query(upgrade);
      expect((await pool.query('select from jobs')).rowCount).toBe(0);
      await store(calls.slice(0, 3), WITHOUT);
      await pool.query(upgrade);
      expect(await fill(createTextsKind(true))).toMatchObject({ title: 'Read the text of earlier calls', done: 3 });
    });

    test('it reads them as the shipper does, packed, encoded and cut', async () => {
      const long = JSON.stringify({ messages: [{ role: 'user', content: 'A long question. '.repeat(100) }] });
      const sent = [
        callWith(1, { request: long, answer: gzipSync(ANSWER), encoding: 'gzip' }),
        callWith(2, { request: QUESTION }),
        callWith(3, { answer: 'RIFF' }),
      ];
      await store(sent);
      const shipped = await readTexts();
      expect(shipped).toHaveLength(2);
      await pool.query('truncate llm_texts');
      await pool.query("update llm_bodies set request = '\\xff', request_packing = 'zstd' where id = $1", [callId(2)]);
      await requestTexts(pool, 1);
      expect(await fill(createTextsKind(true))).toMatchObject({ result: { read: 3, written: 1, failed: 0 } });
      expect(await readTexts()).toEqual(shipped.slice(0, 1));
    });

    test('it ends at once where nobody may search', async () => {
      await store(calls.slice(0, 3), WITHOUT);
      await requestTexts(pool, 1);
      expect(await fill(createTextsKind(false))).toMatchObject({ state: 'done', phase: 'search is off' });
      await setSharedSetting(pool, 'search', { value: 'off', setBy: 'operator', actor: 'test' });
      await requestTexts(pool, 1);
      expect(await fill(createTextsKind(true))).toMatchObject({ state: 'done', phase: 'search is off' });
      expect(await readTexts()).toEqual([]);
    });
  });
});
