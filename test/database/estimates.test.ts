/** Estimates of calls without usage, over a real database: which calls get one, from what, and what stays as it was. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyRollups } from '../../src/control/log/verify-rollups.ts';
import { BILLABLE_COLUMNS } from '../../src/control/prices/declared/billable-from-row.ts';
import { type EstimateOptions, estimateCalls } from '../../src/control/prices/estimates/estimate-calls.ts';
import { LIST_WAITING_CALLS } from '../../src/control/prices/estimates/estimate-store.ts';
import { createMeasurer, type Measurer } from '../../src/control/prices/estimates/measurer.ts';
import { priceEstimate } from '../../src/control/prices/estimates/price-estimate.ts';
import { updateEstimates } from '../../src/control/prices/reprice/estimated-costs.ts';
import { COST_COLUMNS, type PricedRow } from '../../src/control/prices/reprice/reprice-call.ts';
import type { PriceCall } from '../../src/pricing/billable-call.ts';
import type { CallBegin, CallBody, CallEnd, SpoolEntry } from '../../src/vocabulary/call-record.ts';
import { type AdminDatabase, endedCall, idAt, startAdminDatabase, tokens } from '../support/admin-database.ts';
import { callBody, NOON_MS, priceByToken } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const UNREPORTED: Partial<CallEnd> = { outcome: 'client_closed', usage: null, usageSource: 'none' };
const PROMPT = JSON.stringify({ model: 'gpt-5', messages: [{ role: 'user', content: 'Hello, world!' }] });
/** 4 of text, 4 for the message, 3 for the beginning of the answer. */
const PROMPT_TOKENS = 11;

function chatChunk(content: string): string {
  return `data: {"id":"c","choices":[{"index":0,"delta":{"content":"${content}"}}],"usage":null}\n\n`;
}

const ANSWER = chatChunk('Hello') + chatChunk(', world!');
const CUT_MESSAGE = `event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":2679,"output_tokens":3}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello, world! Hello, world!"}}

`;

describe.each(POSTGRES_KINDS)('estimates on $name', (kind) => {
  let db: AdminDatabase;
  let measurer: Measurer;

  beforeAll(async () => {
    db = await startAdminDatabase(kind);
    measurer = createMeasurer();
  });

  afterAll(async () => {
    await measurer?.stop();
    await db?.stop();
  });

  function bodyOf(
    number: number,
    direction: CallBody['direction'],
    text: string | Buffer,
    body: Partial<CallBody> = {},
  ) {
    const made = callBody(number, direction, Buffer.from(text));
    return { type: 'body', body: { ...made, id: idAt(number), ...body } } satisfies SpoolEntry;
  }

  const stream = { contentType: 'text/event-stream; charset=utf-8' };

  async function storeCut(number: number, begin: Partial<CallBegin> = {}, end: Partial<CallEnd> = {}): Promise<void> {
    await db.store(
      bodyOf(number, 'request', PROMPT),
      bodyOf(number, 'response', ANSWER, stream),
      endedCall(number, begin, { ...UNREPORTED, ...end }),
    );
  }

  function estimate(changes: Partial<EstimateOptions> = {}): Promise<number | null> {
    const { signal } = new AbortController();
    return estimateCalls({ pool: db.pool, priceCall: priceByToken, measurer, sinceMs: NOON_MS, signal, ...changes });
  }

  async function readRow(number: number): Promise<Readonly<Record<string, unknown>>> {
    const { rows } = await db.pool.query('select to_jsonb(r) as row from llm_requests r where id = $1', [idAt(number)]);
    return rows[0].row;
  }

  async function readEstimate(number: number): Promise<readonly unknown[]> {
    const row = await readRow(number);
    return [row['estimated_tokens'], row['estimated_cost']];
  }

  async function readRollups(): Promise<unknown> {
    const { rows } = await db.pool.query(`select 'run' as rollup, to_jsonb(r) as row from llm_runs r
      union all select 'hour', to_jsonb(h) from llm_cost_hours h order by 1, 2`);
    return rows;
  }

  test('a cut stream without usage gets one, in two columns, and nothing else changes', async () => {
    await storeCut(1, { traceId: 'trip', spanPath: 'plan' });
    const before = await readRow(1);
    const rollups = await readRollups();
    expect(await estimate()).toBe(1);
    const after = await readRow(1);
    expect(after).toEqual({
      ...before,
      estimated_tokens: { input: PROMPT_TOKENS, output: 4, method: 'o200k_base' },
      // 11 at a millionth of a dollar, 4 at ten.
      estimated_cost: 0.000051,
    });
    expect(before).toMatchObject({ total_cost: null, cost_status: 'no_usage', estimated_tokens: null });
    expect(await readRollups()).toEqual(rollups);
    expect(await verifyRollups(db.pool)).toEqual([]);
    expect(await db.read(`/logs/${idAt(1)}`)).toMatchObject({
      total_cost: null,
      estimated_cost: '0.000051',
      estimated_tokens: { input: PROMPT_TOKENS, output: 4, method: 'o200k_base' },
    });
  });

  test('a second look finds nothing to do', async () => {
    const before = await readRow(1);
    expect(await estimate()).toBe(0);
    expect(await readRow(1)).toEqual(before);
  });

  test('what was reported counts as reported', async () => {
    await db.store(
      bodyOf(2, 'response', CUT_MESSAGE, stream),
      endedCall(
        2,
        { provider: 'anthropic', endpoint: 'messages', modelRequested: 'claude-haiku-4-5' },
        { ...UNREPORTED, model: 'claude-haiku-4-5', usage: tokens(2_679, 3), usageSource: 'partial' },
      ),
    );
    await estimate();
    // 8 of text, a tenth more for the family.
    expect(await readEstimate(2)).toEqual([{ output: 9, method: 'o200k_base × 1.1' }, 0.002769]);
    expect(await readRow(2)).toMatchObject({
      output_tokens: 3,
      total_cost: null,
      known_cost: 0.002709,
      cost_status: 'partial',
    });
  });

  test('compressed bodies, and bodies of which the middle was not kept', async () => {
    const packed = gzipSync(ANSWER);
    const long = chatChunk('Hello, world!').repeat(10);
    await db.store(
      bodyOf(3, 'request', PROMPT),
      bodyOf(3, 'response', packed, { ...stream, contentEncoding: 'gzip' }),
      endedCall(3, {}, UNREPORTED),
      bodyOf(4, 'request', PROMPT),
      bodyOf(4, 'response', long, { ...stream, headBytes: long.length / 2, totalBytes: long.length * 3 }),
      endedCall(4, {}, UNREPORTED),
    );
    await estimate();
    expect(await readEstimate(3)).toEqual([{ input: PROMPT_TOKENS, output: 4, method: 'o200k_base' }, 0.000051]);
    // 5 × "Hello, world!" in a sixth of the bytes.
    expect(await readEstimate(4)).toEqual([
      { input: PROMPT_TOKENS, output: 120, method: 'o200k_base', cut: true },
      0.001211,
    ]);
  });

  test('of a body that unpacks to more than is looked at, it is said that there is more', async () => {
    const comments = `: ${'-'.repeat(1_000)}\n\n`.repeat(21_000);
    await db.store(
      bodyOf(70, 'request', PROMPT),
      bodyOf(70, 'response', gzipSync(ANSWER + comments), { ...stream, contentEncoding: 'gzip' }),
      endedCall(70, {}, UNREPORTED),
    );
    await estimate();
    expect((await readRow(70))['estimated_tokens']).toMatchObject({ input: PROMPT_TOKENS, cut: true });
  });

  test('an answer of which nothing came is named as not counted', async () => {
    await db.store(bodyOf(5, 'request', PROMPT), endedCall(5, {}, { ...UNREPORTED, status: null, streamed: false }));
    await estimate();
    expect(await readEstimate(5)).toEqual([
      { input: PROMPT_TOKENS, method: 'o200k_base', not_counted: ['answer'] },
      0.000011,
    ]);
  });

  test('a stream that ended well and was not asked for its usage gets one, too', async () => {
    await storeCut(6, {}, { outcome: 'ok' });
    await estimate();
    expect(await readEstimate(6)).toEqual([{ input: PROMPT_TOKENS, output: 4, method: 'o200k_base' }, 0.000051]);
  });

  test('without a price there are tokens and no cost', async () => {
    await storeCut(7);
    await estimate({ priceCall: (call) => ({ ...priceByToken(call), totalCost: null }) });
    expect(await readEstimate(7)).toEqual([{ input: PROMPT_TOKENS, output: 4, method: 'o200k_base' }, null]);
  });

  test('where there is nothing to count, the reason is kept and the call is not looked at again', async () => {
    await db.store(
      endedCall(8, {}, UNREPORTED),
      endedCall(9, { endpoint: 'audio.speech' }, UNREPORTED),
      bodyOf(10, 'request', 'not JSON'),
      bodyOf(10, 'response', ANSWER, stream),
      endedCall(10, {}, UNREPORTED),
    );
    await db.store(bodyOf(20, 'request', PROMPT), endedCall(20, {}, UNREPORTED));
    await db.pool.query("update llm_bodies set request_packing = 'zstd' where id = $1", [idAt(20)]);
    expect(await estimate()).toBe(4);
    expect(await readEstimate(20)).toEqual([{ unavailable: 'no_body' }, null]);
    expect(await readEstimate(8)).toEqual([{ unavailable: 'no_body' }, null]);
    expect(await readEstimate(9)).toEqual([{ unavailable: 'endpoint' }, null]);
    expect(await readEstimate(10)).toEqual([{ unavailable: 'unreadable' }, null]);
    expect(await estimate()).toBe(0);
  });

  test('calls with usage, calls that nobody can read, and those that did not reach a provider are left alone', async () => {
    await db.store(
      endedCall(11, {}, { usage: tokens(5, 5) }),
      endedCall(12, { endpoint: 'unknown' }, UNREPORTED),
      endedCall(13, {}, { ...UNREPORTED, outcome: 'upstream_unreachable', status: null }),
    );
    expect(await estimate()).toBe(0);
  });

  test('the real ending of an interrupted call takes its place, without an estimate', async () => {
    await db.store(endedCall(14, {}, { ...UNREPORTED, outcome: 'interrupted' }));
    await estimate();
    expect(await readEstimate(14)).toEqual([{ unavailable: 'no_body' }, null]);
    await db.store(endedCall(14, {}, { usage: tokens(5, 5) }));
    expect(await readRow(14)).toMatchObject({ outcome: 'ok', input_tokens: 5, estimated_tokens: null });
    expect(await estimate()).toBe(0);
  });

  test('a row that has its usage by now is not touched', async () => {
    await storeCut(15);
    const slow: Measurer = {
      ...measurer,
      measure: async (task) => {
        await db.pool.query("update llm_requests set usage_source = 'provider' where id = $1", [idAt(15)]);
        return measurer.measure(task);
      },
    };
    expect(await estimate({ measurer: slow })).toBe(1);
    expect(await readRow(15)).toMatchObject({ usage_source: 'provider', estimated_tokens: null, estimated_cost: null });
  });

  test('other prices make another estimated cost of the same tokens', async () => {
    const { rows } = await db.pool.query<PricedRow>(
      `select ${[...BILLABLE_COLUMNS, ...COST_COLUMNS].join(', ')} from llm_requests where id = any($1) order by id`,
      [[idAt(1), idAt(2), idAt(8), idAt(11)]],
    );
    const twice: PriceCall = (call) => {
      const priced = priceByToken(call);
      return { ...priced, totalCost: priced.totalCost === null ? null : priced.totalCost * 2n };
    };
    const client = await db.pool.connect();
    expect(await updateEstimates(client, rows, twice, priceEstimate)).toBe(2);
    client.release();
    expect(await readEstimate(1)).toEqual([{ input: PROMPT_TOKENS, output: 4, method: 'o200k_base' }, 0.000102]);
    expect((await readEstimate(2))[1]).toBe(0.005538);
    expect(await readEstimate(8)).toEqual([{ unavailable: 'no_body' }, null]);
  });

  test('one node at a time does it, and an end in the middle leaves no word about the call', async () => {
    await storeCut(16);
    const other = await db.pool.connect();
    await other.query('select pg_advisory_lock(7461007)');
    expect(await estimate()).toBeNull();
    await other.query('select pg_advisory_unlock(7461007)');
    other.release();
    const ending = new AbortController();
    const abort: PriceCall = (call) => {
      ending.abort();
      return priceByToken(call);
    };
    await estimate({ priceCall: abort, signal: ending.signal });
    expect(await readEstimate(16)).toEqual([null, null]);
    expect(await estimate()).toBe(1);
    expect(await estimate()).toBe(0);
    expect(await verifyRollups(db.pool)).toEqual([]);
  });

  test('the question for waiting calls reads the index of those that wait', async () => {
    const client = await db.pool.connect();
    await client.query('begin; set local enable_seqscan = off');
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${LIST_WAITING_CALLS}`, [
      new Date(NOON_MS),
      20,
    ]);
    await client.query('rollback');
    client.release();
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Index Scan Backward using llm_requests_\w+_requested_at_idx/);
    // The index has only such calls, so that nothing is left to be looked at in the rows.
    expect(plan).not.toContain('usage_source');
  });
});
