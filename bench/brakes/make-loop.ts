/** Loops as agents get into them, one kind for each rule: calls of a run up to now, of which the last makes the rule true. */
import { v7 } from 'uuid';
import type { SeededRandom } from '../../src/control/demo-log/seeded-random.ts';
import type { CallBegin, CallBody, CallEnd, SpoolEntry } from '../../src/vocabulary/call-record.ts';

export const LOOP_KINDS = [
  'spend_speed',
  'call_rate',
  'same_prefix',
  'same_tool_call',
  'cache_collapse',
  'retries',
  'unpriced',
] as const;
export type LoopKind = (typeof LOOP_KINDS)[number];

/** A model that `stage.ts` has no price for. */
export const UNPRICED_MODEL = 'own-tuned';

interface Call {
  /** Seconds before the last. */
  readonly agoSeconds: number;
  readonly messages: readonly object[];
  readonly answer: object;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly model?: string;
  readonly status?: number;
  readonly attempt?: number;
}

const SYSTEM = { role: 'system', content: 'You mend code.' };
const said = (content: string) => ({ role: 'assistant', content });
const asked = (content: string) => ({ role: 'user', content });

function toolCall(name: string, input: object, id: string) {
  return {
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
  };
}

/** Different words each time, as an agent at work sends. */
function work(count: number, random: SeededRandom, fromSeconds: number, stepSeconds: number): Call[] {
  return Array.from({ length: count }, (_, index) => ({
    agoSeconds: fromSeconds - index * stepSeconds,
    messages: [SYSTEM, asked(`part ${index} ${random.next()}`)],
    answer: toolCall('read', { file: `src/${random.next()}.ts` }, `c${index}`),
    input: 600 + random.between(0, 200),
    cached: 3_000,
    output: 200,
  }));
}

function planLoop(kind: LoopKind, random: SeededRandom): readonly Call[] {
  switch (kind) {
    case 'spend_speed': {
      // A fifth of a cent for each call, then dollars.
      const before = work(random.between(10, 30), random, 1_500, 30);
      const dear = work(random.between(8, 20), random, 120, 6).map((call) => ({
        ...call,
        input: 400_000,
        output: 60_000,
      }));
      return [...before, ...dear];
    }
    case 'call_rate': {
      const calls = random.between(720, 900);
      return work(calls, random, 55, 55 / calls);
    }
    case 'same_prefix': {
      // It fails behind the same point, and what it is told varies.
      const until = [SYSTEM, asked(`mend ${random.next()}`), said('I look at it.')];
      const times = random.between(20, 60);
      return Array.from({ length: times }, (_, index) => ({
        agoSeconds: (times - index) * 5,
        messages: [...until, asked(`It failed at ${random.next()}; go on.`)],
        answer: said(`Let me try ${random.next()}.`),
        input: 900,
        cached: 2_000,
        output: 120,
      }));
    }
    case 'same_tool_call': {
      const times = random.between(15, 50);
      const input = { pattern: `total ${random.next()}` };
      const messages: object[] = [SYSTEM, asked('Where is the total made?')];
      return Array.from({ length: times }, (_, index) => {
        const answer = toolCall('grep', input, `call_${index}`);
        const call = {
          agoSeconds: (times - index) * 8,
          messages: [...messages],
          answer,
          input: 400 + index * 90,
          cached: 2_000,
          output: 40,
        };
        messages.push(answer, { role: 'tool', tool_call_id: `call_${index}`, content: `no match (${index})` });
        return call;
      });
    }
    case 'cache_collapse': {
      const before = work(random.between(4, 12), random, 900, 30).map((call, index) => ({
        ...call,
        input: 300,
        cached: 12_000 + index * 800,
      }));
      const since = work(random.between(8, 20), random, 300, 10).map((call, index) => ({
        ...call,
        input: 26_000 + index * 900,
        cached: 0,
      }));
      return [...before, ...since];
    }
    case 'retries': {
      const messages = [SYSTEM, asked(`summarise ${random.next()}`)];
      const times = random.between(12, 40);
      return Array.from({ length: times }, (_, index) => ({
        agoSeconds: (times - index) * 10,
        messages,
        answer: { error: { message: 'overloaded' } },
        input: 0,
        cached: 0,
        output: 0,
        status: 529,
        attempt: index % 3,
      }));
    }
    case 'unpriced':
      return work(random.between(205, 260), random, 1_200, 4).map((call) => ({ ...call, model: UNPRICED_MODEL }));
  }
}

export function makeLoop(
  kind: LoopKind,
  traceId: string,
  keyId: number,
  random: SeededRandom,
  nowMs: number,
): readonly SpoolEntry[] {
  return planLoop(kind, random).flatMap((call) => toEntries(call, traceId, keyId, nowMs));
}

function toEntries(call: Call, traceId: string, keyId: number, nowMs: number): readonly SpoolEntry[] {
  const requestedAtMs = Math.round(nowMs - call.agoSeconds * 1_000);
  const id = v7({ msecs: requestedAtMs });
  const model = call.model ?? 'gpt-5';
  const isFailed = call.status !== undefined;
  const request = Buffer.from(JSON.stringify({ model, messages: call.messages }));
  const answer = Buffer.from(
    JSON.stringify(
      isFailed ? call.answer : { object: 'chat.completion', model, choices: [{ index: 0, message: call.answer }] },
    ),
  );
  const begin: CallBegin = {
    id,
    requestedAtMs,
    accountId: 1,
    keyId,
    node: 'bench',
    client: null,
    provider: 'openai',
    providerAlias: null,
    endpoint: 'chat.completions',
    billed: true,
    method: 'POST',
    path: '/v1/chat/completions',
    modelRequested: model,
    streamed: false,
    isBatch: false,
    region: null,
    attempt: call.attempt ?? 0,
    traceId,
    spanPath: null,
    spanName: null,
    metadata: [],
    flags: [],
  };
  const end: CallEnd = {
    id,
    status: call.status ?? 200,
    outcome: isFailed ? 'upstream_error' : 'ok',
    errorType: isFailed ? 'overloaded' : null,
    errorMessage: null,
    providerRequestId: null,
    modelRequested: model,
    streamed: false,
    model,
    serviceTier: null,
    speed: null,
    inferenceGeo: null,
    usage: isFailed
      ? null
      : { classes: { input: call.input, cache_read: call.cached, output: call.output }, reasoning: null, native: {} },
    usageSource: isFailed ? 'none' : 'provider',
    flags: [],
    respondedAtMs: requestedAtMs + 800,
    durationMs: 800,
    connectMs: null,
    headersMs: 700,
    firstByteMs: 700,
    firstTokenMs: null,
    overheadUs: 100,
    requestBytes: request.length,
    responseBytes: answer.length,
    requestHeaders: [],
    responseHeaders: [],
  };
  const body = (direction: CallBody['direction'], bytes: Buffer): SpoolEntry => ({
    type: 'body',
    body: {
      id,
      requestedAtMs,
      direction,
      contentType: 'application/json',
      contentEncoding: null,
      totalBytes: bytes.length,
      headBytes: bytes.length,
      bytes,
    },
  });
  return [body('request', request), body('response', answer), { type: 'end', begin, end }];
}
