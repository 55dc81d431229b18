/**
 * The same answer, once as JSON and once as a stream, has the same usage and costs the same: whatever it reports, and
 * whichever line ends and pieces the stream comes in.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { USAGE_FORMATS } from '../../src/formats/usage/registry.ts';
import { createUsageReader } from '../../src/formats/usage/usage-reader.ts';
import { createPriceBook } from '../../src/pricing/price-book.ts';
import type { UsageFormatName } from '../../src/providers/format-names.ts';
import type { JsonObject, ReportedUsage } from '../../src/vocabulary/token-usage.ts';
import { billableCall } from '../support/billable-call.ts';

const RUNS = 60;
const book = createPriceBook();

interface Twin {
  readonly format: UsageFormatName;
  readonly model: string;
  /** Whole, with its usage. */
  readonly json: JsonObject;
  /** The events that a stream of it would have; text is sent as it is. */
  readonly events: readonly (JsonObject | string)[];
}

function read(format: UsageFormatName, contentType: string, pieces: readonly Buffer[]): ReportedUsage {
  const reader = createUsageReader({ format: USAGE_FORMATS[format], status: 200, contentType, contentEncoding: null });
  for (const piece of pieces) reader.push(piece);
  reader.finish(true, () => {});
  return reader.reported;
}

function priceOf({ usage, serviceTier, model, terminal }: ReportedUsage, named: string) {
  const call = billableCall({
    provider: 'openai',
    requestedAtMs: Date.UTC(2026, 10, 1),
    model,
    modelRequested: named,
    serviceTier,
    usage,
    usageSource: terminal ? 'provider' : 'partial',
  });
  return book.priceCall(call);
}

const tokens = fc.nat({ max: 400_000 });
const maybe = fc.option(tokens, { nil: undefined });

/** Members that are undefined are left out, as JSON does. */
function compact(value: unknown): JsonObject {
  const text: JsonObject = JSON.parse(JSON.stringify(value));
  return text;
}

const chatUsage = fc
  .record({
    cached: maybe,
    written: maybe,
    audio: maybe,
    text: tokens,
    output: tokens,
    reasoning: maybe,
    spoken: maybe,
  })
  .map(({ cached, written, audio, text, output, reasoning, spoken }) => {
    const prompt = text + (cached ?? 0) + (written ?? 0) + (audio ?? 0);
    const completion = output + (reasoning ?? 0) + (spoken ?? 0);
    return compact({
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written, audio_tokens: audio },
      completion_tokens_details: { reasoning_tokens: reasoning, audio_tokens: spoken },
    });
  });

const responseUsage = fc
  .record({ cached: tokens, short: tokens, long: tokens, text: tokens, output: tokens, reasoning: tokens })
  .map(({ cached, short, long, text, output, reasoning }) => ({
    input_tokens: text + cached + short + long,
    input_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: short + long,
      cache_write_tokens_details: { ttl_30m_tokens: short, ttl_12h_tokens: long },
    },
    output_tokens: output + reasoning,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: text + cached + short + long + output + reasoning,
  }));

const imageUsage = fc.record({ text: tokens, image: tokens, output: tokens }).map(({ text, image, output }) => ({
  input_tokens: text + image,
  input_tokens_details: { text_tokens: text, image_tokens: image },
  output_tokens: output,
  total_tokens: text + image + output,
}));

const soundUsage = fc.oneof(
  fc.record({ text: tokens, audio: tokens, output: tokens }).map(({ text, audio, output }) => ({
    type: 'tokens',
    input_tokens: text + audio,
    input_token_details: { text_tokens: text, audio_tokens: audio },
    output_tokens: output,
    total_tokens: text + audio + output,
  })),
  fc.nat({ max: 100_000 }).map((ms) => ({ type: 'duration', seconds: ms / 1000 })),
);

function createChat(usage: JsonObject, object: string, delta: JsonObject): Twin {
  const shared = { id: 'c', object, model: 'gpt-6-astra', service_tier: 'default' };
  return {
    format: 'chat-completions',
    model: 'gpt-6-astra',
    json: { ...shared, choices: [{ index: 0, finish_reason: 'stop' }], usage },
    events: [
      { ...shared, choices: [{ index: 0, ...delta }], usage: null },
      { ...shared, choices: [{ index: 0, ...delta, finish_reason: 'stop' }], usage: null },
      { ...shared, choices: [], usage },
      '[DONE]',
    ],
  };
}

const searches = fc.nat({ max: 5 });
const twins: readonly (readonly [string, fc.Arbitrary<Twin>])[] = [
  ['chat', chatUsage.map((usage) => createChat(usage, 'chat.completion.chunk', { delta: { content: 'a' } }))],
  ['completions', chatUsage.map((usage) => createChat(usage, 'text_completion', { text: 'a' }))],
  [
    'responses',
    fc.record({ usage: responseUsage, web: searches, files: searches, drawn: imageUsage }).map((parts) => {
      const begun = { id: 'r', model: 'gpt-5-mini', background: false, service_tier: 'auto', usage: null };
      const response = {
        ...begun,
        status: 'completed',
        service_tier: 'flex',
        output: Array.from({ length: parts.files }, () => ({ type: 'file_search_call', status: 'completed' })),
        tools: [{ type: 'image_generation', model: 'gpt-image-2' }],
        tool_usage: { web_search: { num_requests: parts.web }, image_gen: parts.drawn },
        usage: parts.usage,
      };
      return {
        format: 'responses',
        model: 'gpt-5-mini',
        json: response,
        events: [
          { type: 'response.created', response: { ...begun, status: 'in_progress' } },
          { type: 'response.output_text.delta', delta: 'a', obfuscation: 'b' },
          { type: 'response.completed', response },
        ],
      } as const;
    }),
  ],
  [
    'images',
    imageUsage.map(
      (usage) =>
        ({
          format: 'images',
          model: 'gpt-image-2',
          json: { created: 1, data: [{ b64_json: 'AAAA' }], usage },
          events: [
            { type: 'image_generation.partial_image', b64_json: 'AAAA' },
            { type: 'image_generation.completed', b64_json: 'AAAA', usage },
          ],
        }) as const,
    ),
  ],
  [
    'transcription',
    soundUsage.map(
      (usage) =>
        ({
          format: 'transcriptions',
          model: 'gpt-4o-transcribe',
          json: { text: 'a', usage },
          events: [
            { type: 'transcript.text.delta', delta: 'a' },
            { type: 'transcript.text.done', text: 'a', usage },
          ],
        }) as const,
    ),
  ],
  [
    'speech',
    fc.record({ input: tokens, output: tokens }).map(({ input, output }) => {
      const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output };
      return {
        format: 'speech',
        model: 'gpt-4o-mini-tts',
        json: { usage },
        events: [
          { type: 'speech.audio.delta', audio: 'AAAA' },
          { type: 'speech.audio.done', usage },
        ],
      } as const;
    }),
  ],
];

function writeStream(events: Twin['events'], end: string, named: boolean): Buffer {
  const blocks = events.map((event) => {
    const type = named && typeof event !== 'string' ? `event: ${String(event['type'])}${end}` : '';
    return `${type}data: ${typeof event === 'string' ? event : JSON.stringify(event)}${end}${end}`;
  });
  return Buffer.from(blocks.join(''));
}

describe.each(twins)('%s', (_, arbitrary) => {
  const cases = fc.record({
    twin: arbitrary,
    end: fc.constantFrom('\n', '\r\n', '\r'),
    named: fc.boolean(),
    place: fc.double({ min: 0, max: 1, noNaN: true }),
  });

  it('has the same usage and cost as JSON and as a stream', () => {
    fc.assert(
      fc.property(cases, ({ twin: { format, model, json, events }, end, named, place }) => {
        const stream = writeStream(events, end, named);
        const cut = Math.floor(place * stream.length);
        const whole = read(format, 'application/json', [Buffer.from(JSON.stringify(json))]);
        const streamed = read(format, 'text/event-stream', [stream.subarray(0, cut), stream.subarray(cut)]);
        expect(streamed).toEqual(whole);
        expect(whole.terminal).toBe(true);
        expect(priceOf(streamed, model)).toEqual(priceOf(whole, model));
      }),
      { numRuns: RUNS },
    );
  });

  it('is partial, or says nothing, when the stream stops before its end', () => {
    fc.assert(
      fc.property(cases, ({ twin: { format, model, events }, end, named }) => {
        // A stream that lacks only `[DONE]`, and has finish reason and usage, is whole.
        const lastEvents = events.at(-1) === '[DONE]' ? 2 : 1;
        const cut = read(format, 'text/event-stream', [writeStream(events.slice(0, -lastEvents), end, named)]);
        expect(cut.terminal).toBe(false);
        expect(['partial', 'unpriced', 'no_usage']).toContain(priceOf(cut, model).costStatus);
      }),
      { numRuns: RUNS },
    );
  });
});
