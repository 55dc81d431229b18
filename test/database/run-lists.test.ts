/** Questions about runs over a real database: filters, orders, what a row shows, sums, facets, groups, columns, the stream. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { RunCallsBody } from '../../src/control/admin/run-call-bodies.ts';
import {
  type AdminDatabase,
  begunCall,
  endedCall,
  idAt,
  startAdminDatabase,
  tokens,
} from '../support/admin-database.ts';
import { NOON_MS } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const START_LIMIT_MS = 60_000;
const Row = z.record(z.string(), z.unknown());
const List = z.object({ data: z.array(Row), next_cursor: z.string().nullable() });
const Groups = z.object({ data: z.array(Row) });
const WINDOW = 'from=2026-11-28T12:00:00Z&to=2026-11-28T13:00:00Z';
const endsAt = (ms: number) => ({ respondedAtMs: NOON_MS + ms });

describe.each(POSTGRES_KINDS)('questions about runs on $name', (kind) => {
  let db: AdminDatabase;

  beforeAll(async () => {
    db = await startAdminDatabase(kind);
    await db.store(
      // a: 4 s, two steps, no error, costs 0.0006 + 0.0001 + 0.0003
      endedCall(0, { traceId: 'a', spanPath: 'plan' }, { usage: tokens(600, 0), ...endsAt(1_000) }),
      endedCall(2_000, { traceId: 'a', spanPath: 'dig%2Fdeep/one' }, { usage: tokens(100, 0), ...endsAt(3_000) }),
      endedCall(
        2_000,
        { id: idAt(2_001), traceId: 'a', spanPath: 'dig%2Fdeep/two', metadata: [['feature', 'chat']] },
        { id: idAt(2_001), usage: tokens(0, 30), ...endsAt(4_000) },
      ),
      // b: one call failed, one has no price
      endedCall(
        10_000,
        { traceId: 'b', provider: 'anthropic', keyId: 2, metadata: [] },
        { model: 'claude-x', usage: tokens(0, 50), ...endsAt(10_500) },
      ),
      endedCall(
        11_000,
        { traceId: 'b', modelRequested: 'gpt-5', spanName: 'Retry me' },
        {
          status: 500,
          outcome: 'upstream_error',
          model: null,
          usage: null,
          ...endsAt(20_000),
          errorMessage: 'x'.repeat(300),
        },
      ),
      // c: one cheap call, later than the others
      endedCall(
        30_000,
        { traceId: 'c/1', metadata: [['Feature', 'chat']] },
        { usage: tokens(1, 0), ...endsAt(30_100) },
      ),
      // outside runs
      endedCall(40_000, { metadata: [['Feature', 'none']] }),
    );
    await db.pool.query(`update llm_requests
      set indexed_metadata = jsonb_build_object('Feature', metadata_value(raw_metadata, 'Feature'))
      where metadata_value(raw_metadata, 'Feature') is not null`);
  }, START_LIMIT_MS);
  afterAll(() => db.stop());

  async function tracesOf(question: string): Promise<unknown[]> {
    return List.parse(await db.read(`/runs?${question}`)).data.map((run) => run['trace_id']);
  }
  async function refusal(path: string): Promise<string> {
    const response = await db.ask(path);
    const body = z.object({ error: z.object({ code: z.string() }) }).parse(await response.json());
    return `${response.status} ${body.error.code}`;
  }

  test('a row shows state, uses, the most expensive step and the shape of its run', async () => {
    const { data } = List.parse(await db.read(`/runs?${WINDOW}&f=run.trace_id:eq:a`));
    expect(data).toEqual([
      {
        trace_id: 'a',
        state: 'ok',
        calls: 3,
        open_calls: 0,
        errors: 0,
        client_closed_calls: 0,
        total_cost: '0.001',
        unpriced_calls: 0,
        input_tokens: 700,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
        output_tokens: 30,
        reasoning_tokens: 0,
        started_at: '2026-11-28T12:00:00.000Z',
        ended_at: '2026-11-28T12:00:04.000Z',
        duration_ms: 4_000,
        cut_at: null,
        models: ['gpt-5-2025-08-07'],
        providers: ['openai'],
        key_ids: [1],
        metadata: { Feature: ['search', 'chat'] },
        top_step: { name: 'plan', total_cost: '0.0006', share: 0.6 },
        // 40 parts of 100 ms: plan during the first second, both others from the third, one of them on to the end
        shape: [...Array(11).fill(1), ...Array(9).fill(0), ...Array(11).fill(2), ...Array(9).fill(1)],
        shape_errors: Array(40).fill(0),
      },
    ]);
    const b = List.parse(await db.read(`/runs?${WINDOW}&f=run.trace_id:eq:b`)).data[0];
    expect(b).toMatchObject({
      state: 'errors',
      models: ['claude-x', 'gpt-5'],
      providers: ['anthropic', 'openai'],
      key_ids: [1, 2],
      metadata: { Feature: 'search' },
      top_step: null,
      shape_errors: [...Array(39).fill(0), 1],
    });
  });

  test('filters of calls hold when one call matches all of them; filters of runs are about the sums', async () => {
    const cases: readonly (readonly [string, readonly string[]])[] = [
      ['', ['c/1', 'b', 'a']],
      ['f=provider:eq:anthropic', ['b']],
      ['f=provider:in:anthropic,openai', ['c/1', 'b', 'a']],
      ['f=provider:eq:anthropic&f=status:gte:400', []],
      ['f=provider:eq:openai&f=status:gte:400', ['b']],
      ['f=model:eq:gpt-5', []],
      ['f=model_requested:eq:gpt-5&f=model:nohas', ['b']],
      ['f=any_model:eq:gpt-5', ['b']],
      ['f=any_model:in:gpt-5,claude-x', ['b']],
      ['f=any_model:ne:gpt-5', ['c/1', 'b', 'a']],
      ['f=key_id:eq:2', ['b']],
      ['f=metadata.Feature:eq:chat', ['c/1', 'a']],
      ['f=metadata.feature:nohas', ['b']],
      ['f=run.total_cost:gt:0.0005', ['a']],
      ['f=run.total_cost:lte:0.0005', ['c/1', 'b']],
      ['f=run.calls:gte:2&f=run.errors:eq:0', ['a']],
      ['f=run.duration_ms:gt:4000', ['b']],
      ['f=run.duration_ms:lte:4000', ['c/1', 'a']],
      ['f=run.unpriced_calls:gt:0', ['b']],
      ['f=run.trace_id:contains:/', ['c/1']],
      ['f=run.state:eq:errors', ['b']],
      ['f=run.state:ne:errors', ['c/1', 'a']],
      ['f=run.state:in:ok,running&f=provider:eq:openai&f=run.calls:eq:1', ['c/1']],
      ['f=run.output_tokens:eq:50', ['b']],
      ['f=run.started_at:gte:2026-11-28T12:00:30Z', ['c/1']],
      ['q=C/', ['c/1']],
      ['q=retry', ['b']],
      ['q=RETRY ME&f=run.state:eq:ok', []],
      ['to=2026-11-28T12:00:20Z', ['a']],
    ];
    for (const [question, expected] of cases) {
      const window = question.startsWith('to=') ? '' : `${WINDOW}&`;
      expect({ question, found: await tracesOf(window + question) }).toEqual({ question, found: expected });
      if (window === '') continue;
      const summary = Row.parse(await db.read(`/runs/summary?${WINDOW}&${question}`));
      const lines = (await (await db.ask(`/export?kind=runs&format=ndjson&${WINDOW}&${question}`)).text()).split('\n');
      expect({ question, runs: summary['runs'] }).toEqual({ question, runs: expected.length });
      expect(lines.slice(0, -1).map((line) => Row.parse(JSON.parse(line))['trace_id'])).toEqual(expected);
    }
    for (const wrong of ['run.nothing:eq:1', 'run.state:eq:late', 'run.calls:prefix:1', 'run.total_cost:gt:x'])
      expect(await refusal(`/runs?f=${wrong}`)).toBe('400 invalid_filter');
    expect(await refusal('/logs?f=run.calls:gt:1')).toBe('400 invalid_filter');
  });

  test('each order gives every run once over all pages', async () => {
    const orders = {
      '-ended_at': ['c/1', 'b', 'a'],
      ended_at: ['a', 'b', 'c/1'],
      '-started_at': ['c/1', 'b', 'a'],
      started_at: ['a', 'b', 'c/1'],
      '-total_cost': ['a', 'b', 'c/1'],
      total_cost: ['c/1', 'b', 'a'],
      '-duration_ms': ['b', 'a', 'c/1'],
      duration_ms: ['c/1', 'a', 'b'],
      '-calls': ['a', 'b', 'c/1'],
      calls: ['c/1', 'b', 'a'],
      '-errors': ['b', 'c/1', 'a'],
      errors: ['a', 'c/1', 'b'],
      '-output_tokens': ['b', 'a', 'c/1'],
      output_tokens: ['c/1', 'a', 'b'],
    };
    for (const [sort, expected] of Object.entries(orders)) {
      const seen: unknown[] = [];
      let cursor: string | null = null;
      do {
        const more: string = cursor === null ? '' : `&cursor=${cursor}`;
        const page = List.parse(await db.read(`/runs?${WINDOW}&limit=1&sort=${sort}${more}`));
        seen.push(...page.data.map((run) => run['trace_id']));
        cursor = page.next_cursor;
      } while (cursor !== null);
      expect({ sort, seen }).toEqual({ sort, seen: expected });
    }
  });

  test('the sums are those of whole runs, exact, by the end of each', async () => {
    const summary = Row.parse(
      await db.read(`/runs/summary?from=2026-11-28T12:00:00Z&to=2026-11-28T12:01:00Z&interval=10s`),
    );
    expect(summary).toEqual({
      runs: 3,
      searched_to: null,
      calls: 6,
      errors: 1,
      client_closed_calls: 0,
      runs_with_errors: 1,
      unpriced_calls: 1,
      total_cost: '0.001501',
      input_tokens: 701,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      output_tokens: 80,
      reasoning_tokens: 0,
      p50_duration_ms: 3_985,
      p95_duration_ms: 9_999,
      buckets: [
        { start: '2026-11-28T12:00:00.000Z', runs: 1, errors: 0, total_cost: '0.001' },
        { start: '2026-11-28T12:00:10.000Z', runs: 0, errors: 0, total_cost: '0' },
        { start: '2026-11-28T12:00:20.000Z', runs: 1, errors: 1, total_cost: '0.0005' },
        { start: '2026-11-28T12:00:30.000Z', runs: 1, errors: 0, total_cost: '0.000001' },
        { start: '2026-11-28T12:00:40.000Z', runs: 0, errors: 0, total_cost: '0' },
        { start: '2026-11-28T12:00:50.000Z', runs: 0, errors: 0, total_cost: '0' },
      ],
      bucket_ms: 10_000,
    });
  });

  test('facets count runs', async () => {
    expect(await db.read(`/runs/facets?${WINDOW}`)).toEqual({
      data: [
        {
          facet: 'model',
          values: [
            { value: 'gpt-5-2025-08-07', runs: 2 },
            { value: 'claude-x', runs: 1 },
            { value: 'gpt-5', runs: 1 },
          ],
        },
        {
          facet: 'provider',
          values: [
            { value: 'openai', runs: 3 },
            { value: 'anthropic', runs: 1 },
          ],
        },
        {
          facet: 'key',
          values: [
            { value: '1', runs: 3 },
            { value: '2', runs: 1 },
          ],
        },
        {
          facet: 'metadata.Feature',
          values: [
            { value: 'chat', runs: 2 },
            { value: 'search', runs: 2 },
          ],
        },
      ],
      scanned_runs: 3,
      is_sampled: false,
    });
    expect(await db.read(`/runs/facets?${WINDOW}&f=run.state:eq:errors`)).toMatchObject({
      data: [
        {
          values: [
            { value: 'claude-x', runs: 1 },
            { value: 'gpt-5', runs: 1 },
          ],
        },
        {},
        {},
        {},
      ],
    });
  });

  test('groups sum the calls of runs, in any spelling of a key, and those without a value too', async () => {
    const groups = async (question: string): Promise<Record<string, unknown>[]> =>
      Groups.parse(await db.read(`/runs/groups?${question}`)).data;
    const none = { cache_read_input_tokens: 0, cache_creation_input_tokens: 0, reasoning_tokens: 0, is_rest: false };
    expect(await groups(`by=metadata.FEATURE&${WINDOW}`)).toEqual([
      {
        value: 'search',
        runs: 2,
        calls: 3,
        errors: 1,
        client_closed_calls: 0,
        unpriced_calls: 1,
        total_cost: '0.0007',
        input_tokens: 700,
        output_tokens: 0,
        ...none,
      },
      {
        value: null,
        runs: 1,
        calls: 1,
        errors: 0,
        client_closed_calls: 0,
        unpriced_calls: 0,
        total_cost: '0.0005',
        input_tokens: 0,
        output_tokens: 50,
        ...none,
      },
      {
        value: 'chat',
        runs: 2,
        calls: 2,
        errors: 0,
        client_closed_calls: 0,
        unpriced_calls: 0,
        total_cost: '0.000301',
        input_tokens: 1,
        output_tokens: 30,
        ...none,
      },
    ]);
    expect((await groups(`by=provider`)).map(({ value, calls }) => [value, calls])).toEqual([
      ['openai', 5],
      ['anthropic', 1],
    ]);
    expect((await groups(`by=key&f=run.errors:gt:0`)).map(({ value, calls }) => [value, calls])).toEqual([
      ['2', 1],
      ['1', 1],
    ]);
    expect((await groups(`by=model&f=status:eq:500`)).map(({ value, calls }) => [value, calls])).toEqual([
      ['gpt-5', 1],
    ]);
    expect(
      (await groups(`by=provider&q=RETRY&${WINDOW}`)).map(({ value, calls, runs }) => [value, calls, runs]),
    ).toEqual([
      ['anthropic', 1, 1],
      ['openai', 1, 1],
    ]);
    expect((await groups(`by=provider&q=C/&f=run.calls:eq:1`)).map(({ value, calls }) => [value, calls])).toEqual([
      ['openai', 1],
    ]);
    expect(await groups(`by=model&q=nowhere&${WINDOW}`)).toEqual([]);
    expect(await refusal('/runs/groups?by=status')).toBe('400 invalid_request');
    expect(await refusal('/runs/groups')).toBe('400 invalid_request');
  });

  test('what costs and groups count under a model is what the filter of that model finds', async () => {
    const day = 'from=2026-11-28T00:00:00Z&to=2026-11-29T00:00:00Z';
    const Costs = z.object({
      source: z.string(),
      data: z.array(z.object({ group: z.array(z.string()), calls: z.number() })),
    });
    const costs = async (question: string) => {
      const { source, data } = Costs.parse(await db.read(`/costs?${day}&${question}`));
      return { source, calls: Object.fromEntries(data.map(({ group, calls }) => [group.join(' '), calls])) };
    };
    const { calls } = await costs('group_by=model');
    expect(calls).toEqual({ 'gpt-5-2025-08-07': 5, 'gpt-5': 1, 'claude-x': 1 });
    for (const [model, count] of Object.entries(calls)) {
      const filter = `f=any_model:eq:${model}`;
      expect(List.parse(await db.read(`/logs?${day}&${filter}`)).data).toHaveLength(count);
      expect(await db.read(`/logs/summary?${day}&${filter}`)).toMatchObject({ source: 'hourly', calls: count });
      expect(await costs(`group_by=model&${filter}`)).toEqual({ source: 'hourly', calls: { [model]: count } });
    }
    expect(await costs('group_by=key,provider&f=any_model:ne:gpt-5')).toEqual({
      source: 'hourly',
      calls: { '1 openai': 5, '2 anthropic': 1 },
    });
    expect(await costs('group_by=provider&f=any_model:contains:gpt')).toEqual({
      source: 'records',
      calls: { openai: 6 },
    });
    expect(await db.read(`/logs/summary?${day}&f=any_model:nohas`)).toMatchObject({ source: 'hourly', calls: 0 });
    expect(await db.read(`/logs/summary?${day}&f=any_model:ne:gpt-5`)).toMatchObject({ source: 'hourly', calls: 6 });
  });

  test('groups from sums by hour are those from the calls, also over a part of an hour and with a filter', async () => {
    const window = 'from=2026-11-28T09:30:00Z&to=2026-11-28T13:10:00Z';
    for (const by of ['model', 'provider', 'key', 'metadata.feature', 'metadata.Nobody'])
      for (const filter of [
        '',
        by === 'metadata.feature' ? '&f=metadata.Feature:has' : `&f=metadata.Feature:eq:chat`,
      ]) {
        const fromHours = await db.read(`/runs/groups?by=${by}${filter}&${window}`);
        // A filter of runs is in no sum by hour.
        expect(fromHours).toEqual(await db.read(`/runs/groups?by=${by}${filter}&${window}&f=run.calls:gte:1`));
      }
    expect(await db.read(`/runs/groups?by=metadata.Feature&${WINDOW}`)).toMatchObject({ runs_searched_to: null });
  });

  test('beyond a hundred groups the others are one, whose runs are counted once', async () => {
    const calls = Array.from({ length: 104 }, (_, index) =>
      endedCall(
        700_000 + index,
        { traceId: `many-${index % 2}`, metadata: [['Customer', `c${index}`]] },
        { usage: tokens(1_000 - index, 0) },
      ),
    );
    await db.store(...calls);
    const { data } = Groups.parse(await db.read('/runs/groups?by=metadata.Customer&f=metadata.Customer:has'));
    expect(data).toHaveLength(101);
    expect(data[0]).toMatchObject({ value: 'c0', total_cost: '0.001', is_rest: false });
    expect(data[100]).toMatchObject({ value: null, is_rest: true, runs: 2, calls: 4, total_cost: '0.003594' });
  });

  test('a run whose calls are all open is listed first, and is running', async () => {
    await db.store(
      begunCall(50_000, { traceId: 'new', provider: 'gemini', modelRequested: 'gemini-y' }),
      begunCall(50_500, { traceId: 'new', spanName: 'second' }),
      begunCall(51_000, { traceId: 'a' }),
    );
    const first = List.parse(await db.read(`/runs?${WINDOW}&limit=2`));
    expect(first.data[0]).toMatchObject({
      trace_id: 'new',
      state: 'running',
      calls: 0,
      open_calls: 2,
      total_cost: '0',
      started_at: '2026-11-28T12:00:50.000Z',
      ended_at: '2026-11-28T12:00:50.500Z',
      models: ['gemini-y', 'gpt-5'],
      providers: ['gemini', 'openai'],
      shape: [],
    });
    expect(await tracesOf('f=run.state:eq:running')).toEqual(['new', 'a']);
    expect(await tracesOf('q=second')).toEqual(['new']);
    expect(await tracesOf('f=run.open_calls:eq:2')).toEqual(['new']);
    expect(await tracesOf('f=provider:eq:gemini')).toEqual([]);
    expect(await db.read('/run?trace_id=new')).toMatchObject({
      state: 'running',
      open_calls: 2,
      providers: ['gemini', 'openai'],
    });

    const seen: unknown[] = [];
    let cursor: string | null = null;
    do {
      const more: string = cursor === null ? '' : `&cursor=${cursor}`;
      const page = List.parse(await db.read(`/runs?from=2026-11-28T12:00:00Z&to=2026-11-28T12:05:00Z&limit=1${more}`));
      seen.push(...page.data.map((run) => run['trace_id']));
      cursor = page.next_cursor;
      // It ends while it is paged, and is not listed again.
      if (seen.length === 1) await db.store(endedCall(50_000, { traceId: 'new' }, endsAt(52_000)));
    } while (cursor !== null);
    expect(seen).toEqual(['new', 'c/1', 'b', 'a']);
  });

  test('the calls of a run come column by column, with those that are open', async () => {
    const question = '/run/calls?trace_id=b&columns=true&limit=1';
    await db.store(begunCall(60_000, { traceId: 'b', spanPath: 'x y' }));
    const first = RunCallsBody.parse(await db.read(question));
    const rest = RunCallsBody.parse(await db.read(`${question}&cursor=${first.next_cursor}`));
    expect(rest.next_cursor).toBeNull();
    expect(first.columns).toMatchObject({ id: [idAt(10_000)], model: ['claude-x'], total_cost: ['0.0005'] });
    expect(rest.columns).toEqual({
      id: [idAt(11_000)],
      requested_at_ms: [NOON_MS + 11_000],
      responded_at_ms: [NOON_MS + 20_000],
      duration_ms: [1_500],
      span_key: [null],
      span_name: ['Retry me'],
      provider: ['openai'],
      model: ['gpt-5'],
      outcome: ['upstream_error'],
      status: [500],
      error_type: [null],
      total_cost: [null],
      known_cost: ['0'],
      cost_status: ['no_usage'],
      input_tokens: [null],
      cache_read_input_tokens: [null],
      cache_creation_input_tokens: [null],
      output_tokens: [null],
      reasoning_tokens: [null],
      first_token_ms: [310],
      attempt: [0],
      streamed: [true],
      flags: [[]],
      error_message: ['x'.repeat(200)],
    });
    expect(first.open).toEqual([
      {
        id: idAt(60_000),
        requested_at: '2026-11-28T12:01:00.000Z',
        span_key: 'x%20y',
        span_name: 'gpt-5',
        provider: 'openai',
        model_requested: 'gpt-5',
      },
    ]);
    expect(await refusal('/run/calls?trace_id=b&columns=yes')).toBe('400 invalid_request');
    expect(await refusal('/run/calls?trace_id=b&limit=20001')).toBe('400 invalid_request');
    expect(await refusal('/run/calls?columns=true')).toBe('400 invalid_request');
  });

  test('a run is followed from where its calls were read: open calls when they change, ended ones once', async () => {
    const { position } = RunCallsBody.parse(await db.read('/run/calls?trace_id=live&columns=true'));
    await db.store(endedCall(800_000, { traceId: 'live' }));
    const abort = new AbortController();
    const response = await db.ask(`/run/stream?trace_id=live&after=${position}`, { signal: abort.signal });
    const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const readUntil = async (isEnough: () => boolean): Promise<void> => {
      while (!isEnough()) text += (await reader.read()).value ?? '';
    };
    await readUntil(() => text.includes('event: open\ndata: []\n\n'));
    await db.store(begunCall(800_500, { traceId: 'live' }), begunCall(800_600, { traceId: 'other' }));
    await readUntil(() => /event: open\ndata: \[\{.*\n\n/.test(text));
    await db.store(endedCall(800_500, { traceId: 'live' }), endedCall(800_600, { traceId: 'other' }));
    await readUntil(() => text.split('event: open').length === 4 && text.endsWith('\n\n'));
    abort.abort();
    const Event = z.object({ columns: z.object({ id: z.array(z.string()) }) });
    const chunks = [...text.matchAll(/event: calls\ndata: (.*)\nid: (\S+)\n/g)];
    expect(chunks.map(([, data = '']) => Event.parse(JSON.parse(data)).columns.id)).toEqual([
      [idAt(800_000)],
      [idAt(800_500)],
    ]);

    const again = new AbortController();
    const resumed = await db.ask('/run/stream?trace_id=live', { signal: again.signal, lastId: chunks[0]?.[2] ?? '' });
    const more = (resumed.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
    text = '';
    while (!/event: calls\n.*\n.*\n\n/.test(text)) text += (await more.read()).value ?? '';
    again.abort();
    expect(text).toContain(`"id":["${idAt(800_500)}"]`);
    expect(await refusal('/run/stream?trace_id=live&after=x')).toBe('400 invalid_request');
  });
});
