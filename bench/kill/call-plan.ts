/**
 * What call number n is: its request, the provider's answer, what the client must get and what the record must say.
 * Pure, so that the client, the provider and the count afterwards agree without talking to each other.
 */
import { createSeededRandom } from '../../test/proxy/seeded-random.ts';
import type { SessionPlan } from './session-plan.ts';

export const CALL_KINDS = [
  'openai-json',
  /** The gateway asks for usage and hides it. */
  'openai-stream',
  'openai-stream-with-usage',
  'anthropic-json',
  'anthropic-stream',
] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** What the row of a whole call must say; a cost in pico-dollars. */
export interface ExpectedRow {
  readonly provider: 'openai' | 'anthropic';
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly outputTokens: number;
  readonly totalCost: bigint;
  readonly traceId: string;
}

/** What the provider does otherwise than answering in full. A piece is one of `CallPlan.answer`. */
export type ProviderTrouble =
  | { readonly kind: 'reset-before-head' }
  /** RST behind so many pieces; behind none the head alone has been sent. */
  | { readonly kind: 'reset'; readonly pieces: number }
  /** The connection is closed in good order behind so many pieces, which is not where the answer ends. */
  | { readonly kind: 'cut'; readonly pieces: number }
  /** A silence behind so many pieces, behind none before the head; then it goes on. */
  | { readonly kind: 'stall'; readonly pieces: number; readonly ms: number }
  | { readonly kind: 'error'; readonly status: number; readonly body: string }
  /** The whole answer; then the connection is closed when it has been idle for so long. */
  | { readonly kind: 'close-idle'; readonly afterMs: number };

/** When the client breaks its connection by itself. */
export type ClientAbort =
  | { readonly kind: 'before-head'; readonly afterMs: number }
  | { readonly kind: 'mid-body'; readonly bytes: number }
  | { readonly kind: 'after-last-byte' };

export interface CallPlan {
  readonly id: string;
  readonly kind: CallKind | 'realtime';
  readonly path: string;
  readonly requestBody: string;
  /** The pieces in which the provider writes its answer; one without usage unless it was asked for. */
  readonly answer: (isUsageAsked: boolean) => readonly string[];
  readonly contentType: string;
  /** Before each piece. */
  readonly pauseMs: number;
  /** What the client must get. */
  readonly clientBody: string;
  readonly expected: ExpectedRow;
  readonly trouble?: ProviderTrouble;
  readonly abort?: ClientAbort;
  /** For a websocket: a piece is one of its provider's steps, and `answer` and `requestBody` are empty. */
  readonly session?: SessionPlan;
}

export interface CallShape {
  readonly kind: CallKind;
  readonly events: number;
  readonly pauseMs: number;
}

const CALLS_OF_A_RUN = 20;
const STEPS = 5;

/** Pico-dollars a token, as the providers' price pages say in dollars a million: 0.15, 0.075, 0.60 and 1, 0.10, 5. */
export const RATES = {
  openai: { input: 150_000n, cacheRead: 75_000n, output: 600_000n },
  anthropic: { input: 1_000_000n, cacheRead: 100_000n, output: 5_000_000n },
} as const;

/** Streams of 5 to 30 events and JSON answers, as the seed says. */
export function chooseShape(n: number, seed: number): CallShape {
  const random = createSeededRandom(seed * 1_000_003 + n);
  const kind = CALL_KINDS[Math.floor(random() * CALL_KINDS.length)] ?? 'openai-json';
  return { kind, events: 5 + Math.floor(random() * 26), pauseMs: 1 + Math.floor(random() * 12) };
}

export function callIdOf(n: number): string {
  return `call-${n}`;
}

export function numberOf(callId: string): number | null {
  const match = /^call-(\d+)$/.exec(callId);
  return match === null ? null : Number(match[1]);
}

export function traceIdOf(n: number): string {
  return `run-${Math.floor(n / CALLS_OF_A_RUN)}`;
}

export function spanPathOf(n: number): string {
  return `load/step-${n % STEPS}`;
}

export function planCall(n: number, shape: CallShape): CallPlan {
  const provider = shape.kind.startsWith('openai') ? 'openai' : 'anthropic';
  // Other numbers for every call, so that one call's usage in another one's row shows.
  const inputTokens = 10 + (n % 997);
  const cacheReadTokens = n % 3 === 0 ? 1 + (n % 211) : 0;
  // Never the 1 with which a stream of Anthropic's begins, which would look like the whole.
  const outputTokens = 2 + (n % 499);
  const rates = RATES[provider];
  const expected: ExpectedRow = {
    ...{ provider, inputTokens, cacheReadTokens, outputTokens, traceId: traceIdOf(n) },
    totalCost:
      BigInt(inputTokens) * rates.input +
      BigInt(cacheReadTokens) * rates.cacheRead +
      BigInt(outputTokens) * rates.output,
  };
  const answer = ANSWERS[shape.kind](n, shape.events, expected);
  const isStream = !shape.kind.endsWith('-json');
  return {
    ...{ id: callIdOf(n), kind: shape.kind, pauseMs: shape.pauseMs, answer, expected },
    path: provider === 'openai' ? '/v1/chat/completions' : '/v1/messages',
    contentType: isStream ? 'text/event-stream' : 'application/json',
    requestBody: requestBody(n, shape.kind),
    clientBody: answer(shape.kind === 'openai-stream-with-usage').join(''),
  };
}

function requestBody(n: number, kind: CallKind): string {
  const messages = [{ role: 'user', content: `Say something about the number ${n}.` }];
  if (kind === 'anthropic-json' || kind === 'anthropic-stream') {
    return JSON.stringify({
      ...{ model: 'claude-haiku-4-5', max_tokens: 500, messages },
      ...(kind === 'anthropic-stream' ? { stream: true } : {}),
    });
  }
  return JSON.stringify({
    ...{ model: 'gpt-4o-mini', messages },
    ...(kind === 'openai-json' ? {} : { stream: true }),
    ...(kind === 'openai-stream-with-usage' ? { stream_options: { include_usage: true } } : {}),
  });
}

type AnswerOf = (n: number, events: number, expected: ExpectedRow) => CallPlan['answer'];

const ANSWERS: Readonly<Record<CallKind, AnswerOf>> = {
  'openai-json': openaiJson,
  'openai-stream': openaiStream,
  'openai-stream-with-usage': openaiStream,
  'anthropic-json': anthropicJson,
  'anthropic-stream': anthropicStream,
};

function openaiUsage(expected: ExpectedRow) {
  const prompt = expected.inputTokens + expected.cacheReadTokens;
  return {
    prompt_tokens: prompt,
    completion_tokens: expected.outputTokens,
    total_tokens: prompt + expected.outputTokens,
    prompt_tokens_details: { cached_tokens: expected.cacheReadTokens, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
}

function openaiJson(n: number, _events: number, expected: ExpectedRow): CallPlan['answer'] {
  const body = JSON.stringify({
    ...{ id: `chatcmpl-${n}`, object: 'chat.completion', created: 1_795_766_400, model: 'gpt-4o-mini-2024-07-18' },
    choices: [{ index: 0, message: { role: 'assistant', content: `Answer ${n} — ok` }, finish_reason: 'stop' }],
    usage: openaiUsage(expected),
    service_tier: 'default',
  });
  return () => [body];
}

function openaiStream(n: number, events: number, expected: ExpectedRow): CallPlan['answer'] {
  return (isUsageAsked) => {
    const head = { id: `chatcmpl-${n}`, object: 'chat.completion.chunk', created: 1_795_766_400 };
    const chunk = (choices: unknown, usage: unknown): string =>
      `data: ${JSON.stringify({ ...head, model: 'gpt-4o-mini-2024-07-18', choices, ...(isUsageAsked ? { usage } : {}) })}\n\n`;
    const texts = Array.from({ length: events - 1 }, (_, index) =>
      chunk([{ index: 0, delta: { content: `${index} of ${n} ✨` }, finish_reason: null }], null),
    );
    const stop = chunk([{ index: 0, delta: {}, finish_reason: 'stop' }], null);
    const usage = isUsageAsked ? chunk([], openaiUsage(expected)) : '';
    return [...texts, `${stop}${usage}data: [DONE]\n\n`];
  };
}

function anthropicUsage(expected: ExpectedRow) {
  return {
    input_tokens: expected.inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: expected.cacheReadTokens,
  };
}

function anthropicJson(n: number, _events: number, expected: ExpectedRow): CallPlan['answer'] {
  const body = JSON.stringify({
    ...{ id: `msg_${n}`, type: 'message', role: 'assistant', model: 'claude-haiku-4-5-20251001' },
    content: [{ type: 'text', text: `Answer ${n} — ok` }],
    stop_reason: 'end_turn',
    usage: { ...anthropicUsage(expected), output_tokens: expected.outputTokens, service_tier: 'standard' },
  });
  return () => [body];
}

function anthropicStream(n: number, events: number, expected: ExpectedRow): CallPlan['answer'] {
  const event = (data: { readonly type: string }): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  const message = {
    ...{ id: `msg_${n}`, type: 'message', role: 'assistant', model: 'claude-haiku-4-5-20251001', content: [] },
    usage: { ...anthropicUsage(expected), output_tokens: 1, service_tier: 'standard' },
  };
  const parts = [
    event({ type: 'message_start', ...{ message } }),
    event({ type: 'content_block_start', ...{ index: 0, content_block: { type: 'text', text: '' } } }),
    ...Array.from({ length: events - 4 }, (_, index) =>
      event({
        type: 'content_block_delta',
        ...{ index: 0, delta: { type: 'text_delta', text: `${index} of ${n} ✨` } },
      }),
    ),
    event({
      type: 'message_delta',
      ...{ delta: { stop_reason: 'end_turn' }, usage: { output_tokens: expected.outputTokens } },
    }),
    event({ type: 'message_stop' }),
  ];
  return () => parts;
}
