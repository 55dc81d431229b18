/** Search finds what is there and nothing else, however far the index came: compared with a plain look at every call. */
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { countLogFacets } from '../../src/control/log/count-log-facets.ts';
import { cutRollups } from '../../src/control/log/cut-rollups.ts';
import { listLogs } from '../../src/control/log/list-logs.ts';
import { listRuns, type RunPosition } from '../../src/control/log/list-runs.ts';
import type { SortedLogPosition } from '../../src/control/log/log-order.ts';
import { moveCalls, type PlaceOfCall } from '../../src/control/log/move-calls.ts';
import type { LogQuery } from '../../src/control/log/read-calls.ts';
import { summariseLogs } from '../../src/control/log/summarise-logs.ts';
import { SEARCH_LIMITS } from '../../src/control/log/walk-window.ts';
import { openSearch } from '../../src/control/search/find-windows.ts';
import { foldText } from '../../src/control/search/fold-text.ts';
import { indexNext } from '../../src/control/search/index-next.ts';
import { SEARCH_SOURCES } from '../../src/control/search/search-sources.ts';
import { buildBatch, makeInterruptedItem } from '../../src/control/shipper/build-batch.ts';
import { type IngestSession, openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import { DAY_MS } from '../../src/control/store/partitions.ts';
import { inSnapshot, inTransaction } from '../../src/control/store/pool.ts';
import { applyRetention } from '../../src/control/store/retention.ts';
import type { CallBody, SpoolEntry } from '../../src/vocabulary/call-record.ts';
import { callBegin, callBody, callEnd, NOON_MS, priceByToken } from '../support/call-fixtures.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';

const START_LIMIT_MS = 60_000;
const PROPERTY_LIMIT_MS = 240_000;
const CONTEXT = { process: 'p', priceCall: priceByToken, nowMs: NOON_MS };
const TEXTS = { areKept: () => true, onFailed: () => {} };
/** Small segments, so that a few calls make several. */
const SEGMENT_CALLS = 6;

interface MadeCall {
  readonly number: number;
  /** Days before, and milliseconds. */
  readonly days: number;
  readonly ms: number;
  readonly spanName: string;
  readonly error: string | null;
  readonly feature: string;
  readonly prompt: string | null;
  readonly answer: string;
  readonly requestId: string;
  readonly trace: string | null;
}

/** UUIDs that no call has. Of some the beginning, read as a time, is after the year 9999, and the last two are as a call's. */
const NO_CALLS = [
  '0b2c3d47-58cc-4372-a567-0e02b2c3d479',
  'f47ac10b-58cc-4372-a567-0e02b2c3d479',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '00000000-0000-7000-8000-000000000000',
  'f47ac10b-58cc-7372-a567-0e02b2c3d479',
];

const word = fc.oneof(
  fc.constantFrom('invoice', 'Invoices', 'TOLL', 'Straße', 'STRASSE', 'ẞ', 'İstanbul', 'ISTANBUL', 'ıstanbul'),
  fc.constantFrom(
    'ΟΔΟΣ',
    'οδος',
    'Жизнь',
    'مرحبا',
    'שלום',
    '你好世界',
    '発票',
    '👩‍💻',
    '🎉🎉🎉',
    'cafe\u0301',
    'café',
    'ＡＢＣ',
  ),
  fc.constantFrom('"q"', '\\n', 'a\nb', '100%', 'user_42', '}{', '-->', 'x.y@z', '\u0001'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 5 }),
);
const text = fc
  .array(word, { minLength: 1, maxLength: 4 })
  .map((words) => words.join(' ').toWellFormed().replaceAll('\0', ''));

const made = fc.record({
  days: fc.constantFrom(0, 0, 0, 1, 3),
  ms: fc.oneof(fc.nat(40), fc.nat(3_600_000)),
  spanName: text,
  error: fc.option(text),
  feature: text,
  prompt: fc.option(text),
  answer: text,
  requestId: fc.constantFrom('req_Abc123', 'req_Ü9', 'none'),
  trace: fc.option(fc.constantFrom('Trip/1', 'viaje-ñandú')),
});

type Step =
  | { readonly type: 'store'; readonly calls: readonly Omit<MadeCall, 'number'>[]; readonly shipper: 0 | 1 }
  | { readonly type: 'interrupted'; readonly call: Omit<MadeCall, 'number'> }
  | { readonly type: 'replay' | 'end' | 'index' | 'index all' | 'anew' | 'drop' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('store' as const),
      calls: fc.array(made, { minLength: 1, maxLength: 9 }),
      shipper: fc.constantFrom(0 as const, 1 as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('interrupted' as const), call: made }) },
  { weight: 3, arbitrary: fc.constant({ type: 'index' as const }) },
  { weight: 2, arbitrary: fc.constant({ type: 'index all' as const }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      { type: 'replay' as const },
      { type: 'end' as const },
      { type: 'anew' as const },
      { type: 'drop' as const },
    ),
  },
);

function atMs({ days, ms }: Pick<MadeCall, 'days' | 'ms'>): number {
  return NOON_MS - days * DAY_MS - ms;
}

function idOf(call: MadeCall): string {
  const time = atMs(call).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${call.number.toString(16).padStart(12, '0')}`;
}

function beginOf(call: MadeCall) {
  return callBegin(call.number, {
    id: idOf(call),
    requestedAtMs: atMs(call),
    spanName: call.spanName,
    traceId: call.trace,
    metadata: [['Feature', call.feature]],
  });
}

function bodyOf(call: MadeCall, direction: CallBody['direction'], value: unknown): SpoolEntry {
  const body = callBody(call.number, direction, Buffer.from(JSON.stringify(value)));
  return { type: 'body', body: { ...body, id: idOf(call), requestedAtMs: atMs(call) } };
}

function entriesOf(call: MadeCall): readonly SpoolEntry[] {
  const { prompt, answer } = call;
  const end = callEnd(call.number, {
    id: idOf(call),
    errorMessage: call.error,
    errorType: null,
    providerRequestId: call.requestId,
    respondedAtMs: atMs(call) + 1,
  });
  return [
    ...(prompt === null
      ? []
      : [
          bodyOf(call, 'request', { messages: [{ role: 'user', content: prompt }] }),
          bodyOf(call, 'response', { choices: [{ index: 0, message: { role: 'assistant', content: answer } }] }),
        ]),
    { type: 'end', begin: beginOf(call), end },
  ];
}

/** What is stored and how it is found, by other means than the product's. */
function isFound(call: MadeCall, isInterrupted: boolean, needle: string, inTexts = true): boolean {
  const wanted = foldText(needle);
  const parts = [call.spanName, 'gpt-5', '/v1/chat/completions', 'openai-node', call.feature, call.trace];
  const ended = [
    'gpt-5-2025-08-07',
    call.error,
    ...(call.prompt === null || !inTexts ? [] : [call.prompt, call.answer]),
  ];
  const texts = isInterrupted ? parts : [...parts, ...ended];
  if (texts.some((one) => one !== null && foldText(one).includes(wanted))) return true;
  return idOf(call) === needle.toLowerCase() || (!isInterrupted && foldText(call.requestId) === wanted);
}

describe.each(POSTGRES_KINDS)('search on $name', (kind) => {
  let server: TestPostgres;
  let pool: pg.Pool;
  let sessions: IngestSession[];

  beforeAll(async () => {
    server = await startPostgres(kind);
    pool = openTestPool(await server.createDatabase('search'));
    sessions = [await openIngestSession(pool, TEXTS), await openIngestSession(pool, TEXTS)];
  }, START_LIMIT_MS);
  afterAll(async () => {
    for (const session of sessions) session.close();
    await pool.end();
    await server.remove();
  });

  async function empty(): Promise<void> {
    await pool.query(
      `truncate llm_requests, llm_bodies, llm_texts, llm_runs, llm_run_facets, llm_open_calls,
       llm_search_calls, llm_search_texts, llm_search_state, llm_search_days`,
    );
  }
  beforeEach(empty);

  async function ingest(calls: readonly MadeCall[], shipper = 0): Promise<void> {
    const { items } = buildBatch(calls.flatMap(entriesOf), CONTEXT);
    await sessions[shipper]?.ingest(items);
  }

  async function interrupt(call: MadeCall): Promise<void> {
    await sessions[0]?.ingest([makeInterruptedItem(beginOf(call), null, CONTEXT)]);
  }

  /** Partitions that are made long after their day are kept for longer. */
  async function drop(rowsDays: number, bodiesDays: number): Promise<void> {
    const { rows } = await pool.query<{ name: string }>('select inhrelid::regclass::text as name from pg_inherits');
    for (const { name } of rows.filter(({ name }) => /^llm_[a-z]+_p\d+$/.test(name)))
      await pool.query(`comment on table ${name} is null`);
    await applyRetention({ pool, limits: { rowsDays, bodiesDays }, readTime: async () => NOON_MS, cutRollups });
    for (const session of sessions) session.forgetPartitions();
  }

  async function search(needle: string, limit = 500, searchesTexts = true): Promise<string[]> {
    const query: LogQuery = {
      accountId: 1,
      filters: [],
      search: needle,
      searchesTexts,
      from: null,
      to: null,
      excludeRuns: false,
      sort: '-requested_at',
      columns: ['id'],
    };
    // Small pages are read in the smallest pieces, so that few calls are as many, and the smallest without any time.
    const budgetMs = limit === 1 ? 0 : SEARCH_LIMITS.budgetMs;
    const limits = limit < 500 ? { ...SEARCH_LIMITS, budgetMs, firstRows: 1, fewWindows: 1 } : SEARCH_LIMITS;
    const ids: string[] = [];
    let after: SortedLogPosition | null = null;
    do {
      const page = await listLogs(pool, query, after, limit, limits);
      ids.push(...page.records.map(({ id }) => String(id)));
      after = page.next;
    } while (after !== null);
    return ids;
  }

  async function searchRuns(needle: string, limit: number): Promise<string[]> {
    const query = {
      accountId: 1,
      callFilters: [],
      runFilters: [],
      search: needle,
      from: null,
      to: null,
      sort: '-ended_at',
    } as const;
    const found: string[] = [];
    let after: RunPosition | null = null;
    do {
      const page = await listRuns(pool, query, after, limit);
      found.push(...page.runs.map(({ trace_id }) => trace_id));
      after = page.next;
    } while (after !== null);
    return found;
  }

  test(
    'finds what is there and nothing else, whatever was stored, replaced, replayed, dropped and indexed before',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 2, maxLength: 12 }),
          fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(9), fc.constantFrom('lower', 'upper', 'as it is')), {
            minLength: 3,
            maxLength: 6,
          }),
          fc.array(text, { maxLength: 2 }),
          fc.constantFrom(1, 4, 500),
          async (steps, picks, others, limit) => {
            await empty();
            let calls: MadeCall[] = [];
            let interrupted: MadeCall[] = [];
            const traces = new Set<string>();
            let number = 0;
            for (const one of steps) {
              if (one.type === 'store') {
                const batch = one.calls.map((call, index) => ({ ...call, number: number + index + 1 }));
                number += batch.length;
                await ingest(batch, one.shipper);
                calls.push(...batch);
                for (const { trace } of batch) if (trace !== null) traces.add(trace);
              } else if (one.type === 'interrupted') {
                number += 1;
                const call = { ...one.call, number };
                await interrupt(call);
                interrupted.push(call);
                if (call.trace !== null) traces.add(call.trace);
              } else if (one.type === 'replay') await ingest(calls.slice(-5), 1);
              else if (one.type === 'end') {
                await ingest(interrupted);
                calls.push(...interrupted);
                interrupted = [];
              } else if (one.type === 'anew') await pool.query('delete from llm_search_state');
              else if (one.type === 'index') await indexNext({ pool, segmentCalls: SEGMENT_CALLS });
              else if (one.type === 'index all') await indexAll();
              else {
                await drop(2, 2);
                calls = calls.filter(({ days }) => days < 3);
                interrupted = interrupted.filter(({ days }) => days < 3);
              }
            }
            const texts = calls.flatMap((call) => [
              call.spanName,
              call.feature,
              call.answer,
              call.prompt ?? '',
              call.error ?? '',
              idOf(call),
            ]);
            const ids = calls.map(idOf).slice(0, 2);
            const needles = picks.map(([pick, from, length, letters]) => {
              const characters = [...(texts[pick % Math.max(1, texts.length)] ?? 'none')];
              const start = from % Math.max(1, characters.length - 2);
              const part = characters.slice(start, start + length + 1).join('');
              return letters === 'lower' ? part.toLowerCase() : letters === 'upper' ? part.toUpperCase() : part;
            });
            const fixed = ['req_abc123', 'REQ_ü9', 'req_Abc', 'trip/1', ...NO_CALLS];
            for (const needle of [...needles, ...others, ...ids, ...fixed]) {
              const expected = [
                ...calls.filter((call) => isFound(call, false, needle)),
                ...interrupted.filter((call) => isFound(call, true, needle)),
              ].map(idOf);
              expect(await search(needle, limit), JSON.stringify(needle)).toEqual(expected.sort().reverse());
              const named = [
                ...calls.filter((call) => isFound(call, false, needle, false)),
                ...interrupted.filter((call) => isFound(call, true, needle, false)),
              ].map(idOf);
              expect(await search(needle, limit, false), JSON.stringify(needle)).toEqual(named.sort().reverse());
              const scope = { accountId: 1, filters: [], search: needle, from: null, to: null, excludeRuns: false };
              expect((await countLogFacets(pool, scope)).scanned_calls).toBe(expected.length);
              const window = { from: new Date(NOON_MS - 9 * DAY_MS), to: new Date(NOON_MS + DAY_MS) };
              expect((await summariseLogs(pool, scope, window, null)).calls).toBe(expected.length);
              // A run whose calls were dropped has its name left.
              const runs = [...traces].filter((trace) =>
                [
                  trace,
                  ...[...calls, ...interrupted].filter((call) => call.trace === trace).map((call) => call.spanName),
                ].some((name) => foldText(name).includes(foldText(needle))),
              );
              expect((await searchRuns(needle, limit)).sort(), JSON.stringify(needle)).toEqual(runs.sort());
            }
          },
        ),
        { numRuns: 20 },
      );
    },
    PROPERTY_LIMIT_MS,
  );

  const CALL: MadeCall = {
    number: 0,
    days: 0,
    ms: 0,
    spanName: 'step',
    error: null,
    feature: 'chat',
    prompt: null,
    answer: 'yes',
    requestId: 'none',
    trace: null,
  };
  const manyCalls = (count: number, of: (number: number) => Partial<MadeCall>): MadeCall[] =>
    Array.from({ length: count }, (_, index) => ({ ...CALL, number: index + 1, ms: index * 1_000, ...of(index + 1) }));

  async function indexAll(): Promise<number> {
    for (let steps = 0; ; steps += 1)
      if ((await indexNext({ pool, segmentCalls: SEGMENT_CALLS })) === 'idle') return steps;
  }

  async function countSegments(): Promise<{ calls: number; texts: number }> {
    const { rows } = await pool.query<{ calls: number; texts: number }>(
      `select (select coalesce(sum(calls), 0)::int4 from llm_search_calls) as calls,
         (select coalesce(sum(calls), 0)::int4 from llm_search_texts) as texts`,
    );
    return rows[0] ?? { calls: -1, texts: -1 };
  }

  test('the latest windows are all that there are since the time that is said, in whatever order calls came', async () => {
    await empty();
    const late = (number: number) => ({ number: number + 24, ms: number * 10_000 });
    await ingest(manyCalls(24, () => ({})));
    await indexAll();
    await ingest(manyCalls(6, late));
    await indexAll();
    const spans = Array.from({ length: 32 }, (_, step) => ({ from: NOON_MS - DAY_MS, to: NOON_MS - step * 1_000 }));
    const bounds = [
      { most: 1, limitMs: 60_000 },
      { most: 1_000, limitMs: 0 },
      { most: 1_000, limitMs: 60_000 },
    ];
    for (const { span, most, limitMs } of spans.flatMap((span) => bounds.map((bound) => ({ span, ...bound })))) {
      const [few, all] = await inSnapshot(pool, async (client) => {
        const opened = await openSearch(client, 'step', SEARCH_SOURCES, most);
        const latest = await opened.fewWindowsIn(span, limitMs);
        return [latest, await opened.windowsIn({ ...span, from: latest.since ?? span.from })] as const;
      });
      expect(few.since ?? span.from).toBeLessThanOrEqual(span.to);
      expect(few.windows).toEqual(all);
    }
  });

  test('a UUID that no call has is found where it is a name, and nowhere else', async () => {
    await ingest(manyCalls(NO_CALLS.length, (number) => ({ trace: NO_CALLS[number - 1] ?? null })));
    for (const isIndexed of [false, true]) {
      if (isIndexed) await indexAll();
      for (const name of NO_CALLS) {
        expect(await search(name)).toHaveLength(1);
        expect(await searchRuns(name, 10)).toEqual([name]);
      }
      expect(await search('e47ac10b-58cc-4372-a567-0e02b2c3d479')).toEqual([]);
      expect(await searchRuns('e77ac10b-58cc-4372-a567-0e02b2c3d479', 10)).toEqual([]);
    }
  });

  test('a call that came into another run is found by the name of that, and its run too', async () => {
    const calls = manyCalls(12, (number) => ({ trace: `run ${number % 2}` }));
    await ingest(calls);
    await indexAll();
    const { rows } = await pool.query<PlaceOfCall & { id: string; requestedAt: Date }>(
      `select id, requested_at as "requestedAt", trace_id, trace_source, span_path, agent_session, agent_path
       from llm_requests order by id limit 3`,
    );
    const moves = rows.map(({ id, requestedAt, ...from }) => ({
      id,
      requestedAt,
      from,
      to: { ...from, trace_id: 'viaje' },
    }));
    expect(await inTransaction(pool, (client) => moveCalls(client, moves))).toBe(3);
    const moved = moves.map(({ id }) => id);
    for (const isIndexed of [false, true]) {
      if (isIndexed) await indexAll();
      expect(await search('viaje')).toEqual(moved.toSorted().reverse());
      expect(await searchRuns('viaje', 10)).toEqual(['viaje']);
      expect(await search('run 1')).toHaveLength(
        calls.filter((call) => call.trace === 'run 1' && !moved.includes(idOf(call))).length,
      );
    }
  });

  test('calls of before the index are indexed day by day, later ones in whole segments, each once', async () => {
    await ingest(manyCalls(20, (number) => ({ days: number % 2, prompt: 'hello' })));
    await indexAll();
    expect(await countSegments()).toEqual({ calls: 20, texts: 20 });
    await ingest(manyCalls(15, (number) => ({ number: 100 + number, ms: number, prompt: 'more' })));
    await indexAll();
    // Three calls wait for their segment.
    expect(await countSegments()).toEqual({ calls: 32, texts: 32 });
    expect(await search('hello')).toHaveLength(20);
    expect(await search('more')).toHaveLength(15);
  });

  test('two nodes that index at once index every call once', async () => {
    await indexAll();
    await ingest(manyCalls(60, () => ({ prompt: 'hello' })));
    await Promise.all([indexAll(), indexAll(), indexAll()]);
    await indexAll();
    expect(await countSegments()).toEqual({ calls: 60, texts: 60 });
  });

  test('a call of a transaction that goes on is not passed over', async () => {
    await indexAll();
    const holder = await pool.connect();
    try {
      await holder.query('begin; select pg_current_xact_id()');
      await ingest(manyCalls(12, () => ({ spanName: 'needle' })));
      await indexAll();
      expect(await countSegments()).toEqual({ calls: 0, texts: 0 });
      expect(await search('needle')).toHaveLength(12);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    await indexAll();
    expect(await countSegments()).toEqual({ calls: 12, texts: 0 });
    expect(await search('needle')).toHaveLength(12);
  });

  test('an index of another server, whose transactions count differently, is made anew', async () => {
    await ingest(manyCalls(12, () => ({ spanName: 'needle' })));
    await indexAll();
    await pool.query("update llm_search_state set xid = '9000000000000'");
    await ingest(manyCalls(12, (number) => ({ number: 100 + number, spanName: 'needle' })));
    expect(await search('needle')).toHaveLength(24);
    await indexAll();
    expect(await countSegments()).toEqual({ calls: 24, texts: 0 });
    expect(await search('needle')).toHaveLength(24);
  });

  test('the index of a day goes with the day, and that of texts with the bodies', async () => {
    await ingest(manyCalls(12, (number) => ({ days: number % 2 === 0 ? 3 : 1, prompt: 'hello' })));
    await indexAll();
    await drop(10, 2);
    expect(await countSegments()).toEqual({ calls: 12, texts: 6 });
    await drop(2, 2);
    expect(await countSegments()).toEqual({ calls: 6, texts: 6 });
    expect(await search('hello')).toHaveLength(6);
  });

  test('a call says where the text was found, with what is around it', async () => {
    const long = `${'before '.repeat(20)}the INVOICE\n\nof March${' after'.repeat(20)}`;
    await ingest([
      {
        ...CALL,
        number: 1,
        prompt: long,
        answer: 'no',
        spanName: 'Invoices',
        feature: 'an invoice',
        requestId: 'invoice',
      },
      { ...CALL, number: 2, ms: 5, prompt: '🎉 İnvoice 🎉', answer: 'An invoice?' },
    ]);
    await indexAll();
    const query = { accountId: 1, filters: [], from: null, to: null, excludeRuns: false, columns: ['id'] } as const;
    const found = await listLogs(
      pool,
      { ...query, search: 'INVOICE', sort: 'requested_at', hasMatches: true },
      null,
      10,
    );
    expect(found.records.map(({ matches }) => matches)).toEqual([
      [
        { in: 'prompt', text: '🎉 İnvoice 🎉', start: 3, length: 7 },
        { in: 'answer', text: 'An invoice?', start: 3, length: 7 },
      ],
      [
        { in: 'span_name', text: 'Invoices', start: 0, length: 7 },
        { in: 'metadata.Feature', text: 'an invoice', start: 3, length: 7 },
        { in: 'provider_request_id', text: 'invoice', start: 0, length: 7 },
        {
          in: 'prompt',
          text: '…before before before before before before before before the INVOICE of March after after after after after after after after a…',
          start: 61,
          length: 7,
        },
      ],
    ]);
  });
});
