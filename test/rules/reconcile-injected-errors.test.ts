/**
 * Calls as they are priced and summed for the log, beside the reports that their providers would send for them, worked
 * out here from the price lists: without an error the drift is zero, and each single error is found and called by name.
 */
import { expect, test } from 'vitest';
import { collectReport } from '../../src/cli/reconcile/report/collect-report.ts';
import { compareReport } from '../../src/cli/reconcile/report/compare-report.ts';
import type { LoggedRow } from '../../src/cli/reconcile/report/comparison.ts';
import { explainComparison } from '../../src/cli/reconcile/report/explain-comparison.ts';
import { dayOf, dayStartMs, nextDay, type ReportProvider } from '../../src/cli/reconcile/report/provider-report.ts';
import { createPriceBook } from '../../src/pricing/price-book.ts';
import { toBillableCall } from '../../src/pricing/to-billable-call.ts';
import { addClasses, type ClassQuantities, type UsageClass } from '../../src/vocabulary/token-usage.ts';
import { formatUsd } from '../../src/vocabulary/usd.ts';
import { callBegin, callEnd } from '../support/call-fixtures.ts';

const DAYS = ['2026-11-24', '2026-11-25'] as const;
const TODAY = '2026-11-28';

interface Call {
  readonly model: string;
  readonly at: string;
  readonly classes: ClassQuantities;
  readonly serviceTier?: string;
}

type Rates = Readonly<Partial<Record<UsageClass, number>>>;

/** Millionths of a dollar for a thousand tokens, so that all products are whole. Short prompts, long ones, flex. */
const GPT_5_4: Readonly<Record<'short' | 'long' | 'flex', Rates>> = {
  short: { input: 2_500, cache_read: 250, output: 15_000 },
  long: { input: 5_000, cache_read: 500, output: 22_500 },
  flex: { input: 1_250, cache_read: 130, output: 7_500 },
};
const SONNET: Rates = {
  input: 3_000,
  cache_read: 300,
  cache_creation_5m: 3_750,
  cache_creation_1h: 6_000,
  output: 15_000,
};

const OPENAI: readonly Call[] = [
  made('gpt-5.4-2026-03-05', '2026-11-24T10:00:00Z', { input: 12_345, cache_read: 6_789, output: 3_210 }),
  made('gpt-5.4-2026-03-05', '2026-11-24T23:30:00Z', { input: 2_345, cache_read: 789, output: 210 }),
  made('gpt-5.4-2026-03-05', '2026-11-25T01:00:00Z', { input: 300_001, cache_read: 89, output: 777 }),
  {
    ...made('gpt-5.4-2026-03-05', '2026-11-25T02:00:00Z', { input: 3_333, cache_read: 4_444, output: 555 }),
    serviceTier: 'flex',
  },
];
const ANTHROPIC: readonly Call[] = [
  made('claude-sonnet-4-5-20250929', '2026-11-24T10:00:00Z', {
    input: 12_345,
    cache_read: 6_789,
    cache_creation_5m: 333,
    cache_creation_1h: 777,
    output: 3_217,
  }),
  made('claude-sonnet-4-5-20250929', '2026-11-24T23:30:00Z', {
    input: 2_345,
    cache_read: 786,
    cache_creation_5m: 331,
    cache_creation_1h: 771,
    output: 3_210,
  }),
  made('claude-sonnet-4-5-20250929', '2026-11-25T03:30:00Z', {
    input: 1,
    cache_read: 786,
    cache_creation_5m: 33,
    cache_creation_1h: 71,
    output: 32,
  }),
];

function made(model: string, at: string, classes: ClassQuantities): Call {
  return { model, at, classes };
}

function dayOfCall({ at }: Call): string {
  return dayOf(Date.parse(at));
}

/** In pico-dollars, exactly. */
function costs(call: Call, rates: Rates): readonly (readonly [UsageClass, bigint])[] {
  return (['input', 'cache_read', 'cache_creation_5m', 'cache_creation_1h', 'output'] as const).map((name) => [
    name,
    BigInt(call.classes[name] ?? 0) * BigInt(rates[name] ?? 0) * 1_000n,
  ]);
}

function sumByName(entries: readonly (readonly [string, bigint])[]): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const [name, amount] of entries) sums.set(name, (sums.get(name) ?? 0n) + amount);
  return sums;
}

function sumClasses(calls: readonly Call[]): ClassQuantities {
  return calls.reduce<ClassQuantities>((sum, { classes }) => addClasses(sum, classes), {});
}

const KINDS: Readonly<Partial<Record<UsageClass, string>>> = {
  input: 'input',
  cache_read: 'cached input',
  output: 'output',
};

/** Dollars, exact, by line item; a prompt of more than 272,000 tokens has items of its own. */
function writeOpenAiReports(calls: readonly Call[]): readonly string[] {
  const bucket = (day: string, results: readonly object[]) => ({
    start_time: dayStartMs(day) / 1_000,
    end_time: dayStartMs(nextDay(day)) / 1_000,
    results,
  });
  const ofDay = (day: string) => calls.filter((call) => dayOfCall(call) === day);
  const lines = (day: string) =>
    ofDay(day).flatMap((call) => {
      const isLong = (call.classes.input ?? 0) + (call.classes.cache_read ?? 0) > 272_000;
      const rates = call.serviceTier === 'flex' ? 'flex' : isLong ? 'long' : 'short';
      const [before, after] = [rates === 'flex' ? 'flex | ' : '', isLong ? ', long context' : ''];
      return costs(call, GPT_5_4[rates])
        .filter(([, amount]) => amount > 0n)
        .map(([name, amount]) => [`${before}${call.model}, ${KINDS[name] ?? name}${after}`, amount] as const);
    });
  const billed = DAYS.map((day) =>
    bucket(
      day,
      [...sumByName(lines(day))].map(([line_item, amount]) => ({
        object: 'organization.costs.result',
        amount: { value: formatUsd(amount), currency: 'usd' },
        line_item,
      })),
    ),
  );
  const used = DAYS.map((day) => {
    const { input = 0, cache_read = 0, output = 0 } = sumClasses(ofDay(day));
    const tokens = { input_tokens: input + cache_read, input_cached_tokens: cache_read, output_tokens: output };
    const object = 'organization.usage.completions.result';
    return bucket(day, [{ object, model: OPENAI[0]?.model, num_model_requests: ofDay(day).length, ...tokens }]);
  });
  return [billed, used].map((data) => JSON.stringify({ data, has_more: false }));
}

/** Cents with five decimals, by kind of token: each line is rounded. */
function writeAnthropicReports(calls: readonly Call[]): readonly string[] {
  const ofDay = (day: string) => calls.filter((call) => dayOfCall(call) === day);
  const model = ANTHROPIC[0]?.model;
  const bucket = (day: string, results: readonly object[]) => ({
    starting_at: `${day}T00:00:00Z`,
    ending_at: `${nextDay(day)}T00:00:00Z`,
    results,
  });
  const billed = DAYS.map((day) =>
    bucket(
      day,
      [...sumByName(ofDay(day).flatMap((call) => costs(call, SONNET)))].map(([name, pico]) => {
        const cents = (pico + 50_000n) / 100_000n;
        const amount = `${cents / 100_000n}.${String(cents % 100_000n).padStart(5, '0')}`;
        return { currency: 'USD', amount, description: `${model} ${name}`, cost_type: 'tokens', model };
      }),
    ),
  );
  const used = DAYS.map((day) => {
    const { input, cache_read, cache_creation_5m, cache_creation_1h, output } = sumClasses(ofDay(day));
    const written = {
      ephemeral_5m_input_tokens: cache_creation_5m,
      ephemeral_1h_input_tokens: cache_creation_1h,
    };
    const tokens = { uncached_input_tokens: input, cache_read_input_tokens: cache_read, output_tokens: output };
    return bucket(day, [{ model, ...tokens, cache_creation: written }]);
  });
  return [billed, used].map((data) => JSON.stringify({ data, has_more: false }));
}

const { priceCall } = createPriceBook();

function sumLog(provider: ReportProvider, calls: readonly Call[]): readonly LoggedRow[] {
  return [...Map.groupBy(calls, dayOfCall)].map(([day, own]) => {
    const classes = sumClasses(own);
    const written = (classes.cache_creation_5m ?? 0) + (classes.cache_creation_1h ?? 0);
    const priced = own.map(({ model, at, classes: used, serviceTier = null }) => {
      const usage = { classes: used, reasoning: null, native: {} };
      const begin = callBegin(1, { provider, requestedAtMs: Date.parse(at) });
      return priceCall(toBillableCall(begin, callEnd(1, { model, serviceTier, usage })));
    });
    return {
      day,
      model: own[0]?.model ?? null,
      calls: own.length,
      errors: 0,
      unpriced: priced.filter(({ totalCost }) => totalCost === null).length,
      cost: priced.reduce((sum, { totalCost }) => sum + (totalCost ?? 0n), 0n),
      tokens: {
        input: classes.input ?? 0,
        cacheRead: classes.cache_read ?? 0,
        cacheCreation: written,
        output: classes.output ?? 0,
      },
    };
  });
}

const PROVIDERS = { openai: [OPENAI, writeOpenAiReports], anthropic: [ANTHROPIC, writeAnthropicReports] } as const;

/** `change` is the error: what the log has in place of the calls. */
function reconcile(provider: ReportProvider, change: (calls: readonly Call[]) => readonly Call[] = (calls) => calls) {
  const [calls, writeReports] = PROVIDERS[provider];
  const texts = writeReports(calls).map((text, index) => ({ name: `file ${index + 1}`, text }));
  const report = collectReport(provider, texts);
  const comparison = compareReport({
    report,
    logged: sumLog(provider, change(calls)),
    days: report.days,
    today: TODAY,
    tolerance: { type: 'amount', amount: 0n },
  });
  const { agrees, findings } = explainComparison(comparison);
  return { agrees, findings, drifts: comparison.costs.map(({ drift }) => formatUsd(drift)) };
}

const GPT = '2026-11-24 gpt-5.4-2026-03-05';
const CLAUDE = '2026-11-24 claude-sonnet-4-5-20250929';

/** Changes the first call of the log. */
function changeFirst(change: (call: Call) => Call): (calls: readonly Call[]) => readonly Call[] {
  return (calls) => calls.map((call, index) => (index === 0 ? change(call) : call));
}

test('what a provider bills for the calls of the log is what the log says', () => {
  expect(reconcile('openai')).toEqual({ agrees: true, findings: [], drifts: ['0', '0'] });
  // Rounded to hundred-thousandths of a cent, line by line.
  expect(reconcile('anthropic')).toEqual({ agrees: true, findings: [], drifts: ['0', '0.00000005'] });
});

test('a call that is missing in the log is missing', () => {
  expect(reconcile('openai', (calls) => calls.slice(1)).findings).toEqual([
    `${GPT}: $0.08071 more billed than logged: the provider counts 2 requests, the log has 1 good call: 1 did not come through the gateway, or the record is lost.`,
  ]);
  expect(reconcile('anthropic', (calls) => calls.slice(1)).findings).toEqual([
    `${CLAUDE}: $0.09324 more billed than logged: 23,461 tokens more were billed than logged: calls around the gateway, or answers that were cut before their usage.`,
  ]);
});

test('the price of another tier is a wrong price', () => {
  const inFlex = reconcile(
    'openai',
    changeFirst((call) => ({ ...call, serviceTier: 'flex' })),
  );
  expect(inFlex.findings).toEqual([
    `${GPT}: $0.04032 more billed than logged: the tokens agree, so it is the price: compare the rates.`,
  ]);
  const inBatch = reconcile(
    'anthropic',
    changeFirst((call) => ({ ...call, serviceTier: 'batch' })),
  );
  expect(inBatch.findings).toEqual([
    `${CLAUDE}: $0.04662 more billed than logged: the tokens agree, so it is the price: compare the rates.`,
  ]);
});

test('a call on the day of another time zone is on another day, where lines are rounded, too', () => {
  const move = (calls: readonly Call[]) =>
    calls.map((call, index) => (index === 1 ? { ...call, at: '2026-11-25T00:30:00Z' } : call));
  for (const [provider, model] of [
    ['openai', 'gpt-5.4-2026-03-05'],
    ['anthropic', 'claude-sonnet-4-5-20250929'],
  ] as const) {
    expect(reconcile(provider, move)).toMatchObject({
      agrees: false,
      findings: [`${model}: days differ, but together they agree: calls around midnight in UTC stand on another day.`],
    });
  }
});

test('cached tokens that are counted in the input as well are counted twice', () => {
  const double = changeFirst((call) => ({
    ...call,
    classes: { ...call.classes, input: (call.classes.input ?? 0) + (call.classes.cache_read ?? 0) },
  }));
  const why =
    'the log has 6,789 input tokens more than the report, and the same output: tokens that are counted here in two classes, such as cached ones in the input as well';
  expect(reconcile('openai', double).findings).toEqual([`${GPT}: $0.01697 less billed than logged: ${why}.`]);
  expect(reconcile('anthropic', double).findings).toEqual([`${CLAUDE}: $0.02037 less billed than logged: ${why}.`]);
});

test('a call that is in the log twice is too many', () => {
  const twice = (calls: readonly Call[]) => [...calls.slice(0, 1), ...calls];
  expect(reconcile('openai', twice).findings).toEqual([
    `${GPT}: $0.08071 less billed than logged: the log has 12,345 input, 6,789 cached and 3,210 output tokens more than the report: calls with the key of another account, projects that the report leaves out, or answers that are logged twice.`,
  ]);
});
