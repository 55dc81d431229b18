/**
 * Anthropic's server-side fallback: each attempt that wrote is billed at the rates of its own model, and one that was
 * declined before its first token is free (Anthropic, "Refusals and fallback", November 2026). A million tokens: Fable 5
 * $10 in and $50 out, Opus 5 $5 and $25, Sonnet 5 $2 and $10 (Anthropic, Pricing, as in the catalog of 2026-09-23).
 */
import { describe, expect, it, test } from 'vitest';
import { billableCall } from '../../test/support/billable-call.ts';
import { readStoredUsage, writeStoredUsage } from '../control/store/stored-usage.ts';
import { readBilledUsage } from '../formats/usage/billed-usage.ts';
import { USAGE_FORMATS } from '../formats/usage/registry.ts';
import { NOTHING_REPORTED } from '../formats/usage/reported-usage.ts';
import { createUsageReader } from '../formats/usage/usage-reader.ts';
import type { JsonObject, ReportedUsage } from '../vocabulary/token-usage.ts';
import { formatUsd } from '../vocabulary/usd.ts';
import { createPriceBook } from './price-book.ts';

const book = createPriceBook();

const FABLE = 'claude-fable-5';
const OPUS = 'claude-opus-5';
const SONNET = 'claude-sonnet-5';

function price(reported: ReportedUsage, isComplete = true) {
  const circumstances = { fetchesResult: false, status: 200, isComplete, sentUsage: null };
  const use = readBilledUsage(reported, circumstances);
  // As a record has it, which is priced again from what is stored.
  const stored = use.usage === null ? null : writeStoredUsage(use.usage);
  const usage = readStoredUsage(stored, { reasoning: null, native: use.usage?.native ?? null });
  const priced = book.priceCall(
    billableCall({
      provider: 'anthropic',
      endpoint: 'messages',
      requestedAtMs: Date.UTC(2026, 9, 28, 12),
      model: reported.model,
      modelRequested: FABLE,
      outcome: isComplete ? 'ok' : 'client_closed',
      usage,
      usageSource: use.usageSource,
    }),
  );
  const total = priced.totalCost === null ? null : formatUsd(priced.totalCost);
  return { model: reported.model, status: priced.costStatus, total, known: formatUsd(priced.knownCost), priced };
}

function readJson(model: string, content: readonly JsonObject[], usage: JsonObject): ReportedUsage {
  return USAGE_FORMATS.messages.readJson(
    { type: 'message', model, content, usage, stop_reason: 'end_turn' },
    NOTHING_REPORTED,
  );
}

function readStream(events: readonly JsonObject[], isComplete = true): ReportedUsage {
  const header = { status: 200, contentType: 'text/event-stream', contentEncoding: null };
  const reader = createUsageReader({ format: USAGE_FORMATS.messages, ...header });
  for (const event of events)
    reader.push(Buffer.from(`event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`));
  reader.finish(isComplete, () => undefined);
  return reader.reported;
}

const text = { type: 'text', text: 'Hello' };
const fallback = (from: string, to: string) => ({ type: 'fallback', from: { model: from }, to: { model: to } });
const start = (model: string, usage: JsonObject): JsonObject => ({
  type: 'message_start',
  message: { type: 'message', model, content: [], usage },
});
const open = (index: number, block: JsonObject): JsonObject => ({
  type: 'content_block_start',
  index,
  content_block: block,
});
const write = (index: number): JsonObject => ({
  type: 'content_block_delta',
  index,
  delta: { type: 'text_delta', text: 'Hello' },
});
const end = (usage: JsonObject): readonly JsonObject[] => [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
  { type: 'message_stop' },
];

/** 3,000 and 300 at Fable: $0.045; 3,000 and 520 at Opus: $0.028. */
const DECLINED_AFTER_OUTPUT: JsonObject = {
  input_tokens: 3000,
  output_tokens: 520,
  iterations: [
    { type: 'message', model: FABLE, input_tokens: 3000, output_tokens: 300 },
    { type: 'fallback_message', model: OPUS, input_tokens: 3000, output_tokens: 520 },
  ],
};
const OPENED = { input_tokens: 3000, output_tokens: 1 };

describe('an attempt that wrote before it was declined', () => {
  it('is billed at its own rates in JSON', () => {
    const reported = readJson(OPUS, [text, fallback(FABLE, OPUS), text], DECLINED_AFTER_OUTPUT);
    const { priced, ...cost } = price(reported);
    expect(cost).toEqual({ model: OPUS, status: 'exact', total: '0.073', known: '0.073' });
    expect(priced.lines.map((line) => [line.class, line.model, line.purpose, line.amount])).toEqual([
      ['input', undefined, undefined, '0.015'],
      ['output', undefined, undefined, '0.013'],
      ['input', FABLE, 'declined', '0.03'],
      ['output', FABLE, 'declined', '0.015'],
    ]);
    expect(reported.flags).toEqual([]);
  });

  it('is billed at its own rates in a stream, and the answer at those of the model that served', () => {
    const reported = readStream([
      start(FABLE, OPENED),
      open(0, { type: 'text', text: '' }),
      write(0),
      open(1, fallback(FABLE, OPUS)),
      open(2, { type: 'text', text: '' }),
      write(2),
      ...end(DECLINED_AFTER_OUTPUT),
    ]);
    expect(price(reported)).toMatchObject({ model: OPUS, status: 'exact', total: '0.073' });
  });

  it('costs at least its prompt where the answer does not list its attempts', () => {
    const usage = { input_tokens: 3000, output_tokens: 520 };
    const reported = readStream([
      start(FABLE, OPENED),
      open(0, { type: 'text', text: '' }),
      write(0),
      open(1, fallback(FABLE, OPUS)),
      open(2, { type: 'text', text: '' }),
      write(2),
      ...end(usage),
    ]);
    expect(price(reported)).toMatchObject({ model: OPUS, status: 'partial', total: null, known: '0.058' });
    expect(price(readJson(OPUS, [text, fallback(FABLE, OPUS), text], usage))).toMatchObject({
      status: 'partial',
      total: null,
      known: '0.028',
    });
  });
});

test('the list of attempts names the model that served where no block of the content does', () => {
  const stream = readStream([start(FABLE, OPENED), open(0, text), write(0), ...end(DECLINED_AFTER_OUTPUT)]);
  for (const reported of [stream, readJson(FABLE, [text], DECLINED_AFTER_OUTPUT)])
    expect(price(reported)).toMatchObject({ model: OPUS, status: 'exact', total: '0.073' });
});

describe('a model that is tried again after another one', () => {
  it('is billed for the attempt that was declined, and apart for the one that served', () => {
    const attempt = (type: string, model: string, output_tokens: number) => ({
      type,
      model,
      input_tokens: 1000,
      output_tokens,
    });
    const iterations = [
      attempt('message', FABLE, 300),
      attempt('fallback_message', OPUS, 200),
      attempt('fallback_message', FABLE, 1000),
    ];
    const usage = { input_tokens: 1000, output_tokens: 1000, iterations };
    const content = [text, fallback(FABLE, OPUS), text, fallback(OPUS, FABLE), text];
    // 0.01 + 0.015 declined, 0.005 + 0.005 declined, 0.01 + 0.05 served.
    expect(price(readJson(FABLE, content, usage))).toMatchObject({ status: 'exact', total: '0.095' });
  });
});

describe('an attempt that was declined before its first token', () => {
  const served = { input_tokens: 3000, output_tokens: 520 };
  const iterations = [
    { type: 'message', model: FABLE, input_tokens: 3000, output_tokens: 0 },
    { type: 'fallback_message', model: OPUS, input_tokens: 3000, output_tokens: 520 },
  ];

  it.each([
    ['listed', { ...served, iterations }],
    ['not listed', served],
  ])('is free, %s', (_, usage) => {
    const stream = [start(FABLE, OPENED), open(0, fallback(FABLE, OPUS)), open(1, text), write(1), ...end(usage)];
    for (const reported of [readStream(stream), readJson(OPUS, [fallback(FABLE, OPUS), text], usage)])
      expect(price(reported)).toMatchObject({ model: OPUS, status: 'exact', total: '0.028' });
  });

  it('leaves nothing of its counts to the model that served', () => {
    const reported = readStream([
      start(FABLE, {
        input_tokens: 2,
        cache_creation_input_tokens: 10421,
        cache_read_input_tokens: 72769,
        output_tokens: 1,
      }),
      open(0, fallback(FABLE, OPUS)),
      open(1, text),
      write(1),
      ...end({ input_tokens: 2, cache_creation_input_tokens: 0, cache_read_input_tokens: 79214, output_tokens: 100 }),
    ]);
    expect(reported.usage?.classes).toEqual({ input: 2, cache_creation_5m: 0, cache_read: 79214, output: 100 });
  });
});

test('of two hops each attempt that wrote has its own rates', () => {
  // Fable 1,000 and 100: $0.015; Opus 1,000 and 200: $0.01; Sonnet 1,000 and 300: $0.005.
  const usage: JsonObject = {
    input_tokens: 1000,
    output_tokens: 300,
    iterations: [
      { type: 'message', model: FABLE, input_tokens: 1000, output_tokens: 100 },
      { type: 'fallback_message', model: OPUS, input_tokens: 1000, output_tokens: 200 },
      { type: 'fallback_message', model: SONNET, input_tokens: 1000, output_tokens: 300 },
    ],
  };
  const stream = readStream([
    start(FABLE, { input_tokens: 1000, output_tokens: 1 }),
    open(0, text),
    write(0),
    open(1, fallback(FABLE, OPUS)),
    open(2, text),
    write(2),
    open(3, fallback(OPUS, SONNET)),
    open(4, text),
    write(4),
    ...end(usage),
  ]);
  const content = [text, fallback(FABLE, OPUS), text, fallback(OPUS, SONNET), text];
  for (const reported of [stream, readJson(SONNET, content, usage)])
    expect(price(reported)).toMatchObject({ model: SONNET, status: 'exact', total: '0.03' });
});

describe('a stream that is cut behind the block', () => {
  it('costs at least what the declined attempt was reported to have used', () => {
    const reported = readStream(
      [
        start(FABLE, OPENED),
        open(0, { type: 'text', text: '' }),
        write(0),
        open(1, fallback(FABLE, OPUS)),
        open(2, text),
        write(2),
      ],
      false,
    );
    expect(price(reported, false)).toMatchObject({ model: OPUS, status: 'partial', total: null, known: '0.03' });
  });

  it('has no known cost where the declined attempt was free and nothing else was reported', () => {
    const reported = readStream([start(FABLE, OPENED), open(0, fallback(FABLE, OPUS)), open(1, text), write(1)], false);
    expect(price(reported, false)).toMatchObject({ model: OPUS, total: null, known: '0' });
  });
});

describe('the credit that a fallback comes with', () => {
  const usage: JsonObject = {
    input_tokens: 3000,
    output_tokens: 520,
    cache_creation_input_tokens: 8000,
    iterations: [
      { type: 'message', model: FABLE, input_tokens: 3000, output_tokens: 0, cache_read_input_tokens: 8000 },
      {
        type: 'fallback_message',
        model: OPUS,
        input_tokens: 3000,
        output_tokens: 520,
        cache_creation_input_tokens: 8000,
      },
    ],
  };

  it('makes the rate of what was written to the cache unknown, and of nothing else', () => {
    const { priced, ...cost } = price(readJson(OPUS, [fallback(FABLE, OPUS), text], usage));
    expect(cost).toEqual({ model: OPUS, status: 'partial', total: null, known: '0.028' });
    expect(priced.cacheCreationCost).toBeNull();
    expect(priced.inputCost).toBe(15_000_000_000n);
    const stream = readStream([start(FABLE, OPENED), open(0, fallback(FABLE, OPUS)), open(1, text), ...end(usage)]);
    expect(price(stream)).toMatchObject({ model: OPUS, status: 'partial', known: '0.028' });
  });

  it('that was redeemed by hand counts no write among what is known', () => {
    const redeemed = { input_tokens: 3000, output_tokens: 520, cache_creation_input_tokens: 8000 };
    const reported = readJson(OPUS, [text], { ...redeemed, fallback_credit: { status: { type: 'redeemed' } } });
    expect(price(reported)).toMatchObject({ status: 'partial', known: '0.028' });
  });
});
