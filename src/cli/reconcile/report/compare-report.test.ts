/** The comparison and its words: made-up logs beside reports in the providers' shapes. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatUsd, parseUsd } from '../../../vocabulary/usd.ts';
import { collectReport } from './collect-report.ts';
import { compareReport } from './compare-report.ts';
import type { Comparison, LoggedRow, Tolerance } from './comparison.ts';
import { explainComparison } from './explain-comparison.ts';
import { dayStartMs, nextDay, type ReportProvider, type TokenCounts } from './provider-report.ts';

const DAY = '2026-11-25';
const NEXT = '2026-11-26';
const TODAY = '2026-11-28';
const EXACT: Tolerance = { type: 'amount', amount: 0n };
const NO_TOKENS: TokenCounts = { input: 0, cacheRead: 0, cacheCreation: 0, output: 0 };

/** Results by day, as OpenAI's costs have them: line item and dollars. */
type Items = Readonly<Record<string, readonly (readonly [string | null, string])[]>>;

function openAiCosts(days: Items): string {
  const data = Object.entries(days).map(([day, items]) => ({
    start_time: dayStartMs(day) / 1_000,
    end_time: dayStartMs(nextDay(day)) / 1_000,
    results: items.map(([line_item, value]) => ({ amount: { value, currency: 'usd' }, line_item })),
  }));
  return JSON.stringify({ object: 'page', data, has_more: false, next_page: null });
}

function openAiUsage(
  day: string,
  models: Readonly<Record<string, readonly [input: number, output: number, requests: number]>>,
): string {
  const results = Object.entries(models).map(([model, [input_tokens, output_tokens, num_model_requests]]) => ({
    object: 'organization.usage.completions.result',
    model,
    input_tokens,
    output_tokens,
    num_model_requests,
  }));
  const bucket = { start_time: dayStartMs(day) / 1_000, end_time: dayStartMs(nextDay(day)) / 1_000, results };
  return JSON.stringify({ data: [bucket] });
}

function logged(model: LoggedRow['model'], cost: string, more: Partial<LoggedRow> = {}): LoggedRow {
  return { day: DAY, model, calls: 1, errors: 0, unpriced: 0, cost: parseUsd(cost), tokens: NO_TOKENS, ...more };
}

function compare(
  texts: readonly string[],
  rows: readonly LoggedRow[],
  { tolerance = EXACT, today = TODAY, provider = 'openai' as ReportProvider } = {},
): Comparison {
  const report = collectReport(
    provider,
    texts.map((text, index) => ({ name: `file ${index + 1}`, text })),
  );
  return compareReport({ report, logged: rows, days: report.days, tolerance, today });
}

function show({ costs }: Comparison): string[] {
  return costs.map(({ day, name, loggedAs, drift, status, isOpen }) =>
    [
      day.slice(8),
      name,
      ...loggedAs.map((other) => `=${other}`),
      formatUsd(drift),
      status,
      ...(isOpen ? ['open'] : []),
    ].join(' '),
  );
}

test('each way in which a bill and a log can differ has its name', () => {
  const comparison = compare(
    [
      openAiCosts({
        [DAY]: [
          ['gpt-5-2025-08-07, input', '0.3'],
          ['gpt-5-2025-08-07, output', '0.2'],
          ['gpt-4o-2024-08-06, output', '1'],
          ['gpt-4.1-nano-2025-04-14, output', '0.01'],
          ['o3-2025-04-16, output', '0.09'],
          ['web search tool calls', '0.03'],
        ],
      }),
    ],
    [
      logged('gpt-5-2025-08-07', '0.5'),
      logged('gpt-4o-2024-08-06', '0.8'),
      logged('o3-2025-04-16', '0.02', { calls: 3, unpriced: 2 }),
      logged('gpt-4.1-2025-04-14', '0.07'),
      logged('gpt-3.5-turbo', '0', { errors: 1 }),
    ],
  );
  expect(show(comparison)).toEqual([
    '25 gpt-4o-2024-08-06 0.2 drift',
    '25 gpt-5-2025-08-07 0 agrees',
    '25 o3-2025-04-16 0.07 unpriced_here',
    '25 gpt-4.1-2025-04-14 -0.07 not_billed',
    '25 web search tool calls 0.03 no_model',
    '25 gpt-4.1-nano-2025-04-14 0.01 not_logged',
    '25 gpt-3.5-turbo 0 agrees',
  ]);
  expect(explainComparison(comparison)).toEqual({
    agrees: false,
    verdict: '$0.24 of the bill (14.7 %) is not in the log: $1.63 billed, $1.39 logged in 7 calls.',
    findings: [
      '2026-11-25 gpt-4o-2024-08-06: $0.20 more billed than logged: calls around the gateway, answers that were cut before their usage, or another price; the usage report tells which.',
      '2026-11-25 o3-2025-04-16: $0.07 more billed than known here; 2 of 3 calls have no known cost (no price, or an answer cut before its usage): `tollgate logs --filter total_cost:nohas` lists them.',
      '2026-11-25 gpt-4.1-2025-04-14: $0.07 logged for 1 call, nothing billed: another name or another account, or a report that is not complete yet.',
      '2026-11-25 web search tool calls: $0.03 billed without a model; a fee is logged with the model that caused it, whose row is lower by it.',
      '2026-11-25 gpt-4.1-nano-2025-04-14: $0.01 billed, no call logged: traffic that goes around the gateway, or lost records.',
    ],
  });
});

test('a millionth of a dollar for each line of the report is rounding, and a hair more is not', () => {
  const bill = openAiCosts({
    [DAY]: [
      ['gpt-5, input', '0.100001'],
      ['gpt-5, output', '0.100001'],
    ],
  });
  expect(show(compare([bill], [logged('gpt-5', '0.2')]))).toEqual(['25 gpt-5 0.000002 agrees']);
  expect(show(compare([bill], [logged('gpt-5', '0.199999999999')]))).toEqual(['25 gpt-5 0.000002000001 drift']);
});

test('a tolerance is an amount, or a share of the larger side, for each row', () => {
  const bill = openAiCosts({ [DAY]: [['gpt-5, input', '2']] });
  const rows = [logged('gpt-5', '1.99')];
  const statusWith = (tolerance: Tolerance) => compare([bill], rows, { tolerance }).costs[0]?.status;
  expect(statusWith({ type: 'amount', amount: parseUsd('0.01') })).toBe('within_tolerance');
  expect(statusWith({ type: 'amount', amount: parseUsd('0.009999999999') })).toBe('drift');
  expect(statusWith({ type: 'share', millionths: 5_000n })).toBe('within_tolerance');
  expect(statusWith({ type: 'share', millionths: 4_999n })).toBe('drift');
});

test('fees that are billed apart and logged with their model agree by the day', () => {
  const bill = openAiCosts({
    [DAY]: [
      ['gpt-5, input', '0.5'],
      ['o3, input', '0.1'],
      ['web search tool calls', '0.03'],
    ],
  });
  const comparison = compare([bill], [logged('gpt-5', '0.53'), logged('o3', '0.1')]);
  expect(show(comparison)).toEqual([
    '25 gpt-5 -0.03 agrees_by_day',
    '25 o3 0 agrees',
    '25 web search tool calls 0.03 agrees_by_day',
  ]);
  expect(explainComparison(comparison)).toMatchObject({ agrees: true, findings: [] });
  // A missing call of the same amount elsewhere is not hidden by it.
  expect(show(compare([bill], [logged('gpt-5', '0.56'), logged('o3', '0.07')]))).toEqual([
    '25 gpt-5 -0.06 drift',
    '25 o3 0.03 drift',
    '25 web search tool calls 0.03 no_model',
  ]);
});

test('calls without an answer are logged under the alias, and stand with the snapshot that is billed', () => {
  const bill = openAiCosts({ [DAY]: [['gpt-4o-2024-08-06, output', '0.2']] });
  const rows = [logged('gpt-4o-2024-08-06', '0.15'), logged('gpt-4o', '0', { unpriced: 1 })];
  expect(show(compare([bill], rows))).toEqual(['25 gpt-4o-2024-08-06 =gpt-4o 0.05 unpriced_here']);
});

test('a report that tells no models apart is compared by the day', () => {
  const bill = openAiCosts({ [DAY]: [[null, '0.7']] });
  expect(show(compare([bill], [logged('gpt-5', '0.5'), logged('o3', '0.2')]))).toEqual(['25  0 agrees']);
});

test('models beyond those that the gateway tells apart, and calls without a model, have rows of their own', () => {
  const bill = openAiCosts({ [DAY]: [] });
  expect(show(compare([bill], [logged({ rest: 12 }, '0.2'), logged(null, '0.1')]))).toEqual([
    '25 (12 other models) -0.2 not_billed',
    '25 (model not known) -0.1 not_billed',
  ]);
});

test('today is shown but not judged', () => {
  const bill = openAiCosts({ [DAY]: [['gpt-5, input', '1']] });
  const comparison = compare([bill], [logged('gpt-5', '3')], { today: DAY });
  expect(show(comparison)).toEqual(['25 gpt-5 -2 drift open']);
  expect(explainComparison(comparison)).toEqual({
    agrees: true,
    verdict: 'No day of the report is over yet: nothing to judge.',
    findings: [],
  });
});

test('calls around midnight stand on another day: said once, not as two drifts', () => {
  const bill = openAiCosts({ [DAY]: [['gpt-5, input', '1']], [NEXT]: [['gpt-5, input', '3']] });
  const comparison = compare([bill], [logged('gpt-5', '2'), logged('gpt-5', '2', { day: NEXT })]);
  expect(explainComparison(comparison)).toEqual({
    agrees: false,
    verdict: 'The sums agree, but not the rows: $4.00 billed, $4.00 logged in 2 calls.',
    findings: ['gpt-5: days differ, but together they agree: calls around midnight in UTC stand on another day.'],
  });
});

test('with a usage report it is said whether calls are missing or the price differs', () => {
  const bill = openAiCosts({
    [DAY]: [
      ['gpt-5, input', '1'],
      ['o3, input', '1'],
    ],
  });
  const usage = openAiUsage(DAY, { 'gpt-5': [1_000, 100, 8], o3: [500, 50, 4] });
  const comparison = compare(
    [bill, usage],
    [
      logged('gpt-5', '0.9', { calls: 8, errors: 1, tokens: { ...NO_TOKENS, input: 900, output: 90 } }),
      logged('o3', '0.5', { calls: 4, tokens: { ...NO_TOKENS, input: 500, output: 50 } }),
    ],
  );
  expect(comparison.tokens.map(({ name, drift, status }) => [name, drift.input, drift.output, status])).toEqual([
    ['gpt-5', 100, 10, 'drift'],
    ['o3', 0, 0, 'agrees'],
  ]);
  expect(explainComparison(comparison).findings).toEqual([
    '2026-11-25 o3: $0.50 more billed than logged: the tokens agree, so it is the price: compare the rates.',
    '2026-11-25 gpt-5: $0.10 more billed than logged: the provider counts 8 requests, the log has 7 good calls: 1 did not come through the gateway, or the record is lost.',
  ]);
});

test('a usage report alone is compared by tokens', () => {
  const usage = openAiUsage(DAY, { 'gpt-5': [1_000, 100, 8], o3: [500, 50, 4] });
  const comparison = compare(
    [usage],
    [logged('gpt-5', '9', { calls: 7, tokens: { ...NO_TOKENS, input: 875, output: 88 } })],
  );
  expect(explainComparison(comparison)).toEqual({
    agrees: false,
    verdict: 'The tokens differ in 2 of 2 rows; the report has no costs.',
    findings: [
      '2026-11-25 gpt-5: 137 tokens more reported than logged: the provider counts 8 requests, the log has 7 good calls: 1 did not come through the gateway, or the record is lost.',
      '2026-11-25 o3: 550 tokens reported, no call logged: traffic that goes around the gateway, or lost records.',
    ],
  });
});

const anyCost = fc.bigInt({ min: 0n, max: 10n ** 16n });
const anyTokens = fc.record({
  input: fc.nat(2 ** 33),
  cacheRead: fc.nat(2 ** 33),
  cacheCreation: fc.nat(1_000_000),
  output: fc.nat(1_000_000),
});
/** Models whose names no rule puts together. */
const anyLog = fc.uniqueArray(
  fc.record({
    day: fc.constantFrom(DAY, NEXT),
    model: fc.constantFrom('gpt-5-2025-08-07', 'gpt-4o-2024-08-06', 'claude-opus-5', 'o3'),
    input: anyCost,
    output: anyCost,
    tokens: anyTokens,
  }),
  { selector: ({ day, model }) => `${day} ${model}`, maxLength: 8 },
);

/** A report as each provider would write it of just these calls. */
function reportOf(
  provider: ReportProvider,
  rows: readonly (typeof anyLog extends fc.Arbitrary<infer T> ? T : never)[number][],
): string[] {
  const ofDay = (day: string) => rows.filter((row) => row.day === day);
  if (provider === 'openai') {
    const costs = openAiCosts(
      Object.fromEntries(
        [DAY, NEXT].map((day) => [
          day,
          ofDay(day).flatMap(({ model, input, output }) => [
            [`${model}, input`, formatUsd(input)] as const,
            [`priority | ${model}, output`, `${formatUsd(output)}e0`] as const,
          ]),
        ]),
      ),
    );
    const usage = [DAY, NEXT].map((day) => ({
      start_time: dayStartMs(day) / 1_000,
      end_time: dayStartMs(nextDay(day)) / 1_000,
      results: ofDay(day).map(({ model, tokens }) => ({
        object: 'organization.usage.completions.result',
        model,
        input_tokens: tokens.input + tokens.cacheRead + tokens.cacheCreation,
        output_tokens: tokens.output,
        input_cached_tokens: tokens.cacheRead,
        input_cache_write_tokens: tokens.cacheCreation,
        num_model_requests: 1,
      })),
    }));
    return [costs, JSON.stringify({ data: usage })];
  }
  const bucket = (day: string, results: readonly unknown[]) => ({
    starting_at: `${day}T00:00:00Z`,
    ending_at: `${nextDay(day)}T00:00:00Z`,
    results,
  });
  const inCents = (cost: bigint) => formatUsd(cost * 100n);
  const costs = [DAY, NEXT].map((day) =>
    bucket(
      day,
      ofDay(day).flatMap(({ model, input, output }) =>
        [input, output].map((cost) => ({ model, amount: inCents(cost), currency: 'USD', description: 'Usage' })),
      ),
    ),
  );
  const usage = [DAY, NEXT].map((day) =>
    bucket(
      day,
      ofDay(day).map(({ model, tokens }) => ({
        model,
        uncached_input_tokens: tokens.input,
        cache_read_input_tokens: tokens.cacheRead,
        cache_creation: { ephemeral_5m_input_tokens: tokens.cacheCreation, ephemeral_1h_input_tokens: 0 },
        output_tokens: tokens.output,
      })),
    ),
  );
  return [JSON.stringify({ data: costs }), JSON.stringify({ data: usage })];
}

test.each(['openai', 'anthropic'] as const)('a report made from our own log has no drift: %s', (provider) => {
  fc.assert(
    fc.property(anyLog, (rows) => {
      const log = rows.map(({ day, model, input, output, tokens }) =>
        logged(model, formatUsd(input + output), { day, tokens }),
      );
      const comparison = compare(reportOf(provider, rows), log, { provider });
      expect(comparison.costs.filter(({ drift, status }) => drift !== 0n || status !== 'agrees')).toEqual([]);
      expect(comparison.tokens.filter(({ status }) => status !== 'agrees')).toEqual([]);
      expect(comparison.costs).toHaveLength(rows.length);
      expect(explainComparison(comparison)).toMatchObject({ agrees: true, findings: [] });
    }),
  );
});

test('whatever call is missing from the log, its cost is the drift', () => {
  fc.assert(
    fc.property(anyLog, fc.nat(), fc.bigInt({ min: 3_000_000n, max: 10n ** 15n }), (rows, index, missing) => {
      const lost = rows[index % Math.max(1, rows.length)];
      if (lost === undefined) return;
      const billed = rows.map((row) => (row === lost ? { ...row, output: row.output + missing } : row));
      const log = rows.map(({ day, model, input, output }) => logged(model, formatUsd(input + output), { day }));
      const [costs = ''] = reportOf('openai', billed);
      const comparison = compare([costs], log);
      const apart = comparison.costs.filter(({ status }) => status !== 'agrees');
      expect(apart.map(({ day, name, drift, status }) => ({ day, name, drift, status }))).toEqual([
        { day: lost.day, name: lost.model, drift: missing, status: 'drift' },
      ]);
      expect(explainComparison(comparison).agrees).toBe(false);
    }),
  );
});
