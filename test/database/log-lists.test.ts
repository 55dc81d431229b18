/** Questions about calls over a real database: search, orders, sums, facets, neighbours, decoded bodies. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { CallBody } from '../../src/vocabulary/call-record.ts';
import {
  type AdminDatabase,
  begunCall,
  endedCall,
  idAt,
  startAdminDatabase,
  tokens,
} from '../support/admin-database.ts';
import { callBody } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const START_LIMIT_MS = 60_000;
const Row = z.record(z.string(), z.unknown());
const List = z.object({ data: z.array(Row), next_cursor: z.string().nullable() });
const Summary = z.looseObject({ calls: z.number(), buckets: z.array(Row) });
const WINDOW = 'from=2026-11-28T12:00:00Z&to=2026-11-28T12:10:00Z';

describe.each(POSTGRES_KINDS)('questions about calls on $name', (kind) => {
  let db: AdminDatabase;

  beforeAll(async () => {
    db = await startAdminDatabase(kind);
    await db.store(
      endedCall(
        1000,
        {
          metadata: [
            ['Feature', 'search'],
            ['Team', 'red'],
          ],
          keyId: 3,
          clientAddress: '203.0.113.9',
        },
        { usage: tokens(100, 10) },
      ),
      endedCall(
        2000,
        {
          metadata: [
            ['feature', 'Chat'],
            ['Note', 'über "quoted"'],
          ],
          provider: 'anthropic',
          endpoint: 'messages',
          spanName: 'Draft_1',
          client: null,
          clientAddress: '2001:db8::9',
        },
        {
          model: 'claude-x',
          usage: tokens(4_000, 500),
          durationMs: 3_000,
          respondedAtMs: Date.UTC(2026, 10, 28, 12) + 5_000,
        },
      ),
      endedCall(
        61_000,
        { traceId: 'trip/1', spanPath: 'plan', metadata: [], connectionId: idAt(61_000) },
        {
          model: null,
          status: 429,
          outcome: 'upstream_error',
          errorType: 'rate_limit',
          errorMessage: '50% over',
          usage: null,
          durationMs: 20,
        },
      ),
      endedCall(
        62_000,
        { traceId: 'trip/1', spanPath: 'plan' },
        { usage: tokens(0, 3), usageSource: 'partial', durationMs: 900 },
      ),
      endedCall(
        301_000,
        { traceId: 'trip/1', spanPath: 'write', modelRequested: 'gpt-5-mini' },
        {
          outcome: 'client_closed',
          closedBefore: 'end',
          model: null,
          usage: tokens(7, 0),
          durationMs: 100,
          modelRequested: 'gpt-5-mini',
        },
      ),
    );
    await db.pool.query(
      `update llm_requests set indexed_metadata = jsonb_build_object('Feature', metadata_value(raw_metadata, 'Feature'))
       where metadata_value(raw_metadata, 'Feature') is not null`,
    );
  }, START_LIMIT_MS);
  afterAll(() => db.stop());

  async function list(question: string): Promise<z.infer<typeof List>> {
    return List.parse(await db.read(`/logs?${question}`));
  }
  function numbersOf(rows: readonly Record<string, unknown>[]): number[] {
    return rows.map((row) => Number.parseInt(String(row['id']).slice(-12), 16));
  }
  async function refusal(path: string): Promise<string> {
    const response = await db.ask(path);
    const body = z.object({ error: z.object({ code: z.string() }) }).parse(await response.json());
    return `${response.status} ${body.error.code}`;
  }

  test('the same filters are about the same calls in the list, the sums, the facets and the export', async () => {
    const cases: readonly (readonly [string, readonly number[]])[] = [
      ['', [301_000, 62_000, 61_000, 2_000, 1_000]],
      ['exclude_runs=true', [2_000, 1_000]],
      ['q=claude', [2_000]],
      ['q=DRAFT_1', [2_000]],
      ['q=draft%251', []],
      ['q=50%25 OVER', [61_000]],
      ['q=rate_lim', [61_000]],
      ['q=trip/', [301_000, 62_000, 61_000]],
      ['q=mini', [301_000]],
      ['q=RED', [1_000]],
      ['q=Team', []],
      ['q=r.d', []],
      [`q=${encodeURIComponent('***=.(*"\\')}`, []],
      ['q=%C3%9CBER "QUOTED"', [2_000]],
      ['q=req_2000', [2_000]],
      [`q=${idAt(62_000).toUpperCase()}`, [62_000]],
      [`q=${idAt(62_000).slice(0, 20)}`, []],
      ['q=', [301_000, 62_000, 61_000, 2_000, 1_000]],
      ['q=openai&f=trace_id:nohas', [1_000]],
      ['f=provider:eq:anthropic', [2_000]],
      ['f=metadata.feature:in:search,Chat', [301_000, 62_000, 2_000, 1_000]],
      ['f=metadata.Feature:nohas', [61_000]],
      ['f=status:gte:400', [61_000]],
      ['f=closed_before:eq:end', [301_000]],
      ['f=client_address:eq:203.0.113.9', [1_000]],
      ['f=client_address:in:203.0.113.9,2001%253Adb8%253A%253A9', [2_000, 1_000]],
      ['f=client_address:prefix:203.0.113.', [1_000]],
      [`f=connection_id:eq:${idAt(61_000)}`, [61_000]],
      ['f=connection_id:has', [61_000]],
      // As all records of a release before are.
      ['f=client_address:nohas', [301_000, 62_000, 61_000]],
      ['f=closed_before:nohas', [62_000, 61_000, 2_000, 1_000]],
      ['f=flags:nohas', [301_000, 62_000, 61_000, 2_000, 1_000]],
      ['f=total_cost:gt:0.0002', [2_000]],
      ['f=key_id:eq:3', [1_000]],
      ['f=streamed:eq:true&f=span_key:has', [301_000, 62_000, 61_000]],
      ['f=requested_at:lt:2026-11-28T12:00:02Z', [1_000]],
    ];
    for (const [question, expected] of cases) {
      const scope = `${WINDOW}&${question}`;
      const summary = Summary.parse(await db.read(`/logs/summary?${scope}`));
      const facets = z.object({ scanned_calls: z.number() }).parse(await db.read(`/logs/facets?${scope}`));
      const lines = (await (await db.ask(`/export?kind=logs&format=ndjson&${scope}`)).text()).split('\n').slice(0, -1);
      expect({
        question,
        list: numbersOf((await list(scope)).data),
        calls: summary.calls,
        inBuckets: summary.buckets.reduce((sum, bucket) => sum + Number(bucket['calls']), 0),
        scanned: facets.scanned_calls,
        exported: numbersOf(lines.map((line) => Row.parse(JSON.parse(line)))),
      }).toEqual({
        question,
        list: expected,
        calls: expected.length,
        inBuckets: expected.length,
        scanned: expected.length,
        exported: expected,
      });
    }
  });

  test('the sums are exact, and a call without a total counts with what is known of it', async () => {
    const { buckets, ...totals } = Summary.parse(await db.read(`/logs/summary?${WINDOW}&interval=1m`));
    expect(totals).toEqual({
      calls: 5,
      errors: 1,
      client_closed_calls: 1,
      unpriced_calls: 2,
      // 0.0002 + 0.009 + 0 + 0.00003 (of an answer that was cut) + 0.000007
      total_cost: '0.009237',
      input_tokens: 4_107,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      output_tokens: 513,
      reasoning_tokens: 0,
      p50_duration_ms: 907,
      p95_duration_ms: 3_012,
      p99_duration_ms: 3_012,
      p50_first_token_ms: 308,
      p95_first_token_ms: 308,
      p99_first_token_ms: 308,
      p50_tokens_per_second: 6.7,
      bucket_ms: 60_000,
      source: 'records',
      searched_to: null,
    });
    expect(buckets).toHaveLength(10);
    expect(buckets.filter((bucket) => bucket['calls'] !== 0)).toEqual([
      { start: '2026-11-28T12:00:00.000Z', calls: 2, errors: 0, total_cost: '0.0092', unpriced_calls: 0 },
      { start: '2026-11-28T12:01:00.000Z', calls: 2, errors: 1, total_cost: '0.00003', unpriced_calls: 2 },
      { start: '2026-11-28T12:05:00.000Z', calls: 1, errors: 0, total_cost: '0.000007', unpriced_calls: 0 },
    ]);
    const { rows } = await db.pool.query(
      'select trim_scale(sum(coalesce(total_cost, known_cost)))::text as cost from llm_requests',
    );
    expect(rows).toEqual([{ cost: '0.009237' }]);
  });

  test('a window without calls has sums of zero and no percentiles; one without an end is refused', async () => {
    const empty = Summary.parse(await db.read('/logs/summary?from=2020-01-01&to=2024-01-01'));
    expect(empty).toMatchObject({ calls: 0, total_cost: '0', p50_duration_ms: null, bucket_ms: 13 * 86_400_000 });
    expect(empty.buckets).toHaveLength(114);
    expect(await refusal('/logs/summary?from=2026-11-28')).toBe('400 invalid_request');
    expect(await refusal('/logs/summary?from=2026-11-28&to=2026-11-28')).toBe('400 invalid_request');
    expect(await refusal(`/logs/summary?${WINDOW}&interval=7s`)).toBe('400 invalid_request');
  });

  test('each order gives every call once over all pages, and what has no value is the least', async () => {
    const orders = {
      '-total_cost': [2_000, 1_000, 301_000, 62_000, 61_000],
      total_cost: [61_000, 62_000, 301_000, 1_000, 2_000],
      '-duration_ms': [2_000, 1_000, 62_000, 301_000, 61_000],
      duration_ms: [61_000, 301_000, 62_000, 1_000, 2_000],
      '-output_tokens': [2_000, 1_000, 62_000, 301_000, 61_000],
      output_tokens: [61_000, 301_000, 62_000, 1_000, 2_000],
      '-requested_at': [301_000, 62_000, 61_000, 2_000, 1_000],
      requested_at: [1_000, 2_000, 61_000, 62_000, 301_000],
    };
    for (const [sort, expected] of Object.entries(orders)) {
      const seen: number[] = [];
      let cursor: string | null = null;
      do {
        const page: z.infer<typeof List> = await list(
          `${WINDOW}&limit=2&sort=${sort}${cursor === null ? '' : `&cursor=${cursor}`}`,
        );
        seen.push(...numbersOf(page.data));
        cursor = page.next_cursor;
      } while (cursor !== null);
      expect({ sort, seen }).toEqual({ sort, seen: expected });
    }
    expect(await refusal('/logs?sort=model')).toBe('400 invalid_request');
  });

  test('fields names the columns of a row', async () => {
    expect((await list(`${WINDOW}&limit=1&fields=total_cost,id`)).data).toEqual([
      { total_cost: '0.000007', id: idAt(301_000) },
    ]);
    expect(await refusal('/logs?fields=id,nothing')).toBe('400 invalid_request');
  });

  test('facets count the values of the newest calls, promoted metadata among them, and those without one', async () => {
    expect(await db.read(`/logs/facets?${WINDOW}`)).toEqual({
      data: [
        {
          column: 'provider',
          values: [
            { value: 'openai', calls: 4 },
            { value: 'anthropic', calls: 1 },
          ],
          other_calls: 0,
          unset_calls: 0,
        },
        {
          column: 'model',
          values: [
            { value: 'gpt-5-2025-08-07', calls: 2 },
            { value: 'claude-x', calls: 1 },
          ],
          other_calls: 0,
          unset_calls: 2,
        },
        {
          column: 'outcome',
          values: [
            { value: 'ok', calls: 3 },
            { value: 'client_closed', calls: 1 },
            { value: 'upstream_error', calls: 1 },
          ],
          other_calls: 0,
          unset_calls: 0,
        },
        {
          column: 'status',
          values: [
            { value: '200', calls: 4 },
            { value: '429', calls: 1 },
          ],
          other_calls: 0,
          unset_calls: 0,
        },
        {
          column: 'endpoint',
          values: [
            { value: 'chat.completions', calls: 4 },
            { value: 'messages', calls: 1 },
          ],
          other_calls: 0,
          unset_calls: 0,
        },
        {
          column: 'key_id',
          values: [
            { value: '1', calls: 4 },
            { value: '3', calls: 1 },
          ],
          other_calls: 0,
          unset_calls: 0,
        },
        { column: 'client', values: [{ value: 'openai-node', calls: 4 }], other_calls: 0, unset_calls: 1 },
        {
          column: 'metadata.Feature',
          values: [
            { value: 'search', calls: 3 },
            { value: 'Chat', calls: 1 },
          ],
          other_calls: 0,
          unset_calls: 1,
        },
      ],
      scanned_calls: 5,
      is_sampled: false,
    });
  });

  test('facets of a long log are those of its newest 5,000 calls', async () => {
    await db.pool.query(
      `insert into llm_requests (id, requested_at, account_id, key_id, node, client, provider, endpoint, method, path,
         is_batch, outcome, flags, span_name, raw_metadata, indexed_metadata, usage_source, cost_status)
       select gen_random_uuid(), '2026-11-28T14:00:00Z'::timestamptz + n * interval '1 ms', 1, 1, 'n',
         case when n = 1 then 'oldest' else 'c' || n % 30 end, 'openai', 'e', 'GET', '/', false, 'ok', '{}', 's', '{}',
         '{}', 'none', 'no_usage'
       from generate_series(1, 5001) as n`,
    );
    const facets = z
      .object({
        data: z.array(
          z.object({ column: z.string(), values: z.array(Row), other_calls: z.number(), unset_calls: z.number() }),
        ),
      })
      .loose()
      .parse(await db.read('/logs/facets?from=2026-11-28T14:00:00Z'));
    expect(facets).toMatchObject({ scanned_calls: 5_000, is_sampled: true });
    const clients = facets.data.find(({ column }) => column === 'client')?.values ?? [];
    expect(clients).toHaveLength(20);
    expect(clients[0]).toEqual({ value: 'c10', calls: 167 });
    for (const { values, other_calls, unset_calls } of facets.data)
      expect(values.reduce((sum, { calls }) => sum + Number(calls), other_calls + unset_calls)).toBe(5_000);
    expect(await db.read('/logs/facets?from=2026-11-28T14:00:00Z&f=client:eq:oldest')).toMatchObject({
      scanned_calls: 1,
      is_sampled: false,
    });
  });

  test('a call names the calls before and after it in its run', async () => {
    const placeOf = async (number: number): Promise<unknown[]> => {
      const call = Row.parse(await db.read(`/logs/${idAt(number)}`));
      return [call['previous_id'], call['next_id']];
    };
    expect(await placeOf(61_000)).toEqual([null, idAt(62_000)]);
    expect(await placeOf(62_000)).toEqual([idAt(61_000), idAt(301_000)]);
    expect(await placeOf(301_000)).toEqual([idAt(62_000), null]);
    expect(await placeOf(1_000)).toEqual([null, null]);
    await db.store(
      begunCall(200_000, { traceId: 'trip/1', spanName: 'Open_1', client: 'poet', metadata: [['Feature', 'verse']] }),
    );
    expect(await placeOf(200_000)).toEqual([idAt(62_000), idAt(301_000)]);
  });

  test('an open call is listed by what is known of it, until it ends', async () => {
    const openCalls = async (question: string): Promise<readonly unknown[]> =>
      z.object({ data: z.array(Row) }).parse(await db.read(`/logs/open?fields=client,outcome&${question}`)).data;
    const begun = { id: idAt(200_000), requested_at: '2026-11-28T12:03:20.000Z', client: 'poet' };
    expect(await openCalls('')).toEqual([begun]);
    for (const found of [
      'f=metadata.FEATURE:eq:verse',
      'q=open_1',
      'f=outcome:nohas',
      'f=client:prefix:po',
      'f=any_model:eq:gpt-5',
      WINDOW,
    ])
      expect([found, await openCalls(found)]).toEqual([found, [begun]]);
    for (const other of [
      'f=metadata.feature:eq:prose',
      'f=outcome:eq:ok',
      'f=any_model:nohas',
      'exclude_runs=true',
      'from=2026-11-28T13:00:00Z',
    ])
      expect([other, await openCalls(other)]).toEqual([other, []]);
    await db.store(begunCall(200_001), begunCall(200_002));
    expect(await db.read('/logs/open?fields=id&limit=1')).toEqual({
      data: [{ id: idAt(200_002), requested_at: '2026-11-28T12:03:20.002Z' }],
      total: 3,
    });
    await db.store(endedCall(200_001), endedCall(200_002));
    expect(await openCalls('')).toEqual([begun]);
  });

  test('a body is decoded on demand; of one that was cut, the answer says how much is missing', async () => {
    const text = `{"text":"${'über '.repeat(40)}"}`;
    const plain = Buffer.from(text);
    const store = async (number: number, body: Partial<CallBody> & { readonly bytes: Buffer }): Promise<void> => {
      const { bytes } = body;
      await db.store(
        { type: 'body', body: { ...callBody(number, 'response', bytes), id: idAt(number), ...body } },
        endedCall(number),
      );
    };
    const decoded = async (number: number) => {
      const response = await db.ask(`/logs/${idAt(number)}/response?decoded=true`);
      return { cut: response.headers.get('x-tollgate-cut'), text: await response.text() };
    };
    const encodings: readonly (readonly [string, Buffer])[] = [
      ['gzip', gzipSync(plain)],
      ['br', brotliCompressSync(plain)],
      ['zstd', zstdCompressSync(plain)],
      ['deflate', deflateSync(plain)],
      ['deflate', deflateRawSync(plain)],
      ['gzip, br', brotliCompressSync(gzipSync(plain))],
    ];
    for (const [index, [contentEncoding, bytes]] of encodings.entries()) {
      await store(400_000 + index, { bytes, contentEncoding });
      expect({ contentEncoding, ...(await decoded(400_000 + index)) }).toEqual({ contentEncoding, cut: null, text });
      const raw = await db.ask(`/logs/${idAt(400_000 + index)}/response`);
      expect(Buffer.from(await raw.arrayBuffer())).toEqual(bytes);
    }

    await store(400_010, { bytes: plain.subarray(0, 20), headBytes: 12, totalBytes: 1_000 });
    expect(await decoded(400_010)).toEqual({ cut: '980', text: plain.subarray(0, 20).toString() });
    const encoded = gzipSync(
      Buffer.from(Array.from({ length: 4_000 }, (_, index) => (index * index * 31 + (index >> 3) * 7919) % 256)),
    );
    const kept = Buffer.concat([encoded.subarray(0, 600), encoded.subarray(-100)]);
    await store(400_011, { bytes: kept, contentEncoding: 'gzip', headBytes: 600, totalBytes: encoded.length });
    const head = await db.ask(`/logs/${idAt(400_011)}/response?decoded=true`);
    expect(head.headers.get('x-tollgate-cut')).toBe(String(encoded.length - 600));
    expect([...new Uint8Array(await head.arrayBuffer())].slice(0, 5)).toEqual([0, 31, 124, 23, 240]);

    await store(400_012, { bytes: Buffer.from('not gzip at all'), contentEncoding: 'gzip' });
    expect(await refusal(`/logs/${idAt(400_012)}/response?decoded=true`)).toBe('409 body_not_decodable');
    await store(400_013, { bytes: Buffer.from('x'), contentEncoding: 'rot13' });
    expect(await refusal(`/logs/${idAt(400_013)}/response?decoded=true`)).toBe('409 body_not_decodable');
    expect(await refusal(`/logs/${idAt(400_013)}/response?decode=true`)).toBe('400 invalid_request');
  });

  test('a decoded body ends at 20 MB and says that there is more', async () => {
    const bytes = zstdCompressSync(
      Buffer.from(Array.from({ length: 21 * 1024 }, (_, line) => `${line} `.padEnd(1_024, `${line * 7919}`)).join('')),
    );
    await db.store(
      { type: 'body', body: { ...callBody(410_000, 'request', bytes), id: idAt(410_000), contentEncoding: 'zstd' } },
      endedCall(410_000),
    );
    const response = await db.ask(`/logs/${idAt(410_000)}/request?decoded=true`);
    expect(response.headers.get('x-tollgate-decoded-limit')).toBe('20971520');
    expect((await response.arrayBuffer()).byteLength).toBe(20_971_520);
  });

  test('there is no call of another UUID, whatever time that begins with', async () => {
    for (const id of ['f47ac10b-58cc-4372-a567-0e02b2c3d479', 'ffffffff-ffff-ffff-ffff-ffffffffffff']) {
      expect(await refusal(`/logs/${id}`)).toBe('404 log_not_found');
      expect(await refusal(`/logs/${id}/request`)).toBe('404 body_not_found');
      for (const path of [`/logs?q=${id}`, `/logs?q=${id}&sort=requested_at`, `/runs?q=${id}`, `/logs?f=id:eq:${id}`])
        expect(List.parse(await db.read(path)).data).toEqual([]);
      expect(await db.read(`/runs/groups?by=model&q=${id}`)).toMatchObject({ data: [] });
      expect(await db.read(`/logs/facets?q=${id}`)).toMatchObject({ scanned_calls: 0 });
    }
  });

  test('the live tail looks for the same text as the list', async () => {
    const abort = new AbortController();
    const response = await db.ask('/logs/stream?q=NEEDLE', { signal: abort.signal });
    const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
    await db.store(endedCall(500_000), endedCall(500_001, { spanName: 'a needle' }));
    let text = '';
    while (!text.includes('event: log') || !text.endsWith('\n\n')) text += (await reader.read()).value ?? '';
    abort.abort();
    expect([...text.matchAll(/"id":"([^"]+)"/g)].map((match) => match[1])).toEqual([idAt(500_001)]);
  });
});
