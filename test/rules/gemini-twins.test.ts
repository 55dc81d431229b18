/**
 * Twins: the same answer as one JSON body and as a stream, with the same usage, gives the same tokens and the same cost
 * to the last digit, whatever was counted. Google's formats, with both kinds of stream, and DeepSeek's.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { USAGE_FORMATS } from '../../src/formats/usage/registry.ts';
import { createUsageReader } from '../../src/formats/usage/usage-reader.ts';
import { createPriceBook } from '../../src/pricing/price-book.ts';
import type { UsageFormatName } from '../../src/providers/format-names.ts';
import type { ProviderName } from '../../src/vocabulary/call-record.ts';
import type { JsonObject, ReportedUsage } from '../../src/vocabulary/token-usage.ts';
import { billableCall } from '../support/billable-call.ts';

interface Counts {
  readonly prompt: number;
  readonly cached: number;
  readonly visible: number;
  readonly reasoning: number;
  readonly searches: number;
}

/** An answer as its pieces: the parts of a stream before the last, and what both forms end with. */
interface Twin {
  readonly provider: ProviderName;
  readonly model: string;
  readonly format: UsageFormatName;
  readonly whole: (counts: Counts) => JsonObject;
  readonly streams: Readonly<Record<string, (counts: Counts) => readonly [contentType: string, text: string]>>;
}

const book = createPriceBook();

const arbitraryCounts: fc.Arbitrary<Counts> = fc
  .record({
    prompt: fc.nat(400_000),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    visible: fc.nat(9_000),
    reasoning: fc.nat(9_000),
    searches: fc.nat(3),
  })
  .map(({ share, ...counts }) => ({ ...counts, cached: Math.floor(counts.prompt * share) }));

const EVENTS = 'text/event-stream';

function toEvents(events: readonly JsonObject[], end = ''): readonly [string, string] {
  const lines = events.map(
    (event) => `event: ${String(event['type'] ?? 'x')}\r\ndata: ${JSON.stringify(event)}\r\n\r\n`,
  );
  return [EVENTS, lines.join('') + end];
}

function geminiUsage({ prompt, cached, visible, reasoning }: Counts, isLast: boolean): JsonObject {
  // Zeros are left out on this wire, and what comes before the end is not there yet.
  const output = isLast ? { candidatesTokenCount: visible, thoughtsTokenCount: reasoning } : {};
  const counts = { promptTokenCount: prompt, cachedContentTokenCount: cached, ...output };
  const reported = Object.entries(counts).filter(([, count]) => count !== 0);
  return { ...Object.fromEntries(reported), totalTokenCount: prompt + (isLast ? visible + reasoning : 0) };
}

function geminiElement(counts: Counts, isLast: boolean): JsonObject {
  const webSearchQueries = Array.from({ length: counts.searches }, (_, index) => `query ${index}`);
  const grounding = counts.searches === 0 ? {} : { groundingMetadata: { webSearchQueries } };
  const candidate = { content: { parts: [{ text: 'x' }] }, ...(isLast ? { finishReason: 'STOP', ...grounding } : {}) };
  return { candidates: [candidate], usageMetadata: geminiUsage(counts, isLast), modelVersion: 'gemini-2.5-pro' };
}

function chatUsage({ prompt, cached, visible, reasoning }: Counts): JsonObject {
  return {
    prompt_tokens: prompt,
    completion_tokens: visible + reasoning,
    total_tokens: prompt + visible + reasoning,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

function interaction({ prompt, cached, visible, reasoning, searches }: Counts): JsonObject {
  return {
    id: 'v1_1',
    model: 'gemini-3.8-flash',
    status: 'completed',
    usage: {
      total_input_tokens: prompt,
      total_cached_tokens: cached,
      total_output_tokens: visible,
      total_thought_tokens: reasoning,
      total_tokens: prompt + visible + reasoning,
      grounding_tool_count: [{ type: 'google_search', count: searches }],
    },
  };
}

const TWINS: Readonly<Record<string, Twin>> = {
  generateContent: {
    provider: 'gemini',
    model: 'gemini-2.5-pro',
    format: 'generate-content',
    whole: (counts) => geminiElement(counts, true),
    streams: {
      events: (counts) => toEvents([geminiElement(counts, false), geminiElement(counts, true)]),
      'an array': (counts) => [
        'application/json',
        JSON.stringify([geminiElement(counts, false), geminiElement(counts, true)], null, 2),
      ],
    },
  },
  interactions: {
    provider: 'gemini',
    model: 'gemini-3.8-flash',
    format: 'interactions',
    whole: interaction,
    streams: {
      events: (counts) =>
        toEvents(
          [
            { event_type: 'interaction.created', interaction: { id: 'v1_1', model: 'gemini-3.8-flash' } },
            { event_type: 'interaction.completed', interaction: interaction(counts) },
          ],
          'event: done\r\ndata: [DONE]\r\n\r\n',
        ),
    },
  },
  "DeepSeek's chat": {
    provider: 'deepseek',
    model: 'deepseek-flash',
    format: 'chat-completions',
    whole: (counts) => ({ model: 'deepseek-flash', choices: [], usage: chatUsage(counts) }),
    streams: {
      'usage on the last chunk': (counts) =>
        toEvents(
          [
            { model: 'deepseek-flash', choices: [{ delta: { content: 'x' } }], usage: null },
            { model: 'deepseek-flash', choices: [], usage: chatUsage(counts) },
          ],
          'data: [DONE]\n\n',
        ),
    },
  },
};

function read(format: UsageFormatName, contentType: string, text: string): ReportedUsage {
  const reader = createUsageReader({ format: USAGE_FORMATS[format], status: 200, contentType, contentEncoding: null });
  reader.push(Buffer.from(text));
  let reported: ReportedUsage | null = null;
  reader.finish(true, (final) => {
    reported = final;
  });
  if (reported === null) throw new Error('An answer that is not encoded is read at once.');
  return reported;
}

function priceOf({ provider, model }: Twin, { usage, serviceTier }: ReportedUsage) {
  return book.priceCall(
    billableCall({
      provider,
      requestedAtMs: Date.UTC(2026, 10, 27, 2),
      model,
      modelRequested: model,
      serviceTier,
      usage,
    }),
  );
}

describe.each(Object.entries(TWINS))('an answer of %s', (_, twin) => {
  test.each(Object.entries(twin.streams))('costs the same as a stream: %s', (__, toStream) => {
    fc.assert(
      fc.property(arbitraryCounts, (counts) => {
        const whole = read(twin.format, 'application/json', JSON.stringify(twin.whole(counts)));
        const streamed = read(twin.format, ...toStream(counts));
        expect(streamed).toEqual(whole);
        expect(streamed.terminal).toBe(true);
        const priced = priceOf(twin, whole);
        expect(priced.costStatus).toBe('exact');
        expect(priceOf(twin, streamed)).toEqual(priced);
      }),
      { numRuns: 60 },
    );
  });
});
