/** Calls as a proxy writes them: 70 % in runs of about twelve, three to five metadata keys, kept headers. All follows from a seed. */
import { v7 } from 'uuid';
import { createSeededRandom, type SeededRandom } from '../../src/control/demo-log/seeded-random.ts';
import type { CallBegin, CallBody, CallEnd } from '../../src/vocabulary/call-record.ts';

const SEED = 18;
const SHARE_IN_RUNS = 0.7;
const CALLS_OF_A_RUN = 12;
const OPEN_RUNS = 40;
const REQUEST_TEXT_BYTES = 800;
const ANSWER_TEXT_BYTES = 1_800;

const MODELS = ['gpt-5.4-mini', 'gpt-5.4', 'gpt-5-nano', 'gpt-5.4-mini'] as const;
const FEATURES = ['search', 'support-chat', 'summaries', 'translation', 'code-review', 'triage', 'reports'] as const;
const TEAMS = ['care', 'labs', 'growth', 'core', 'data'] as const;
const STEPS = ['classify', 'plan', 'look up the order', 'answer', 'summarise', 'check facts'] as const;
const WORDS =
  'the order was sent on Monday and should arrive within three days unless customs holds it which rarely happens so please wait until Friday before you ask again or tell us its number'.split(
    ' ',
  );

export interface MadeCall {
  readonly begin: CallBegin;
  readonly end: CallEnd;
  readonly bodies: readonly CallBody[];
}

export interface CallMaker {
  /** The next calls in the order of time, a millisecond apart. */
  readonly make: (count: number, hasBodies: boolean) => readonly MadeCall[];
}

export function createCallMaker(keyId: number, fromMs: number): CallMaker {
  const random = createSeededRandom(SEED);
  const runs: { id: string; left: number }[] = [];
  let made = 0;

  function drawRun(): string {
    const place = random.between(0, OPEN_RUNS - 1);
    let run = runs[place];
    if (run === undefined || run.left === 0) {
      run = { id: `run-${random.bytes(12).toString('hex')}`, left: random.between(1, 2 * CALLS_OF_A_RUN - 1) };
      runs[place] = run;
    }
    run.left -= 1;
    return run.id;
  }

  function makeCall(hasBodies: boolean): MadeCall {
    const requestedAtMs = fromMs + made;
    made += 1;
    const id = v7({ msecs: requestedAtMs, random: random.bytes(16), seq: random.between(0, 0xffff) });
    const traceId = random.next() < SHARE_IN_RUNS ? drawRun() : null;
    const model = random.pick(MODELS);
    const tokens = {
      input: random.between(50, 4_000),
      cached: random.between(0, 2_000),
      output: random.between(5, 900),
    };
    const begin: CallBegin = {
      id,
      requestedAtMs,
      accountId: 1,
      keyId,
      node: 'node-1',
      client: 'OpenAI/Python',
      clientAddress: '192.0.2.7',
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
      attempt: 0,
      traceId,
      spanPath: traceId === null ? null : `agent/round ${random.between(0, 7)}`,
      spanName: traceId === null ? null : random.pick(STEPS),
      metadata: drawMetadata(random),
      flags: [],
      ordinal: made,
    };
    const bodies = hasBodies
      ? [
          makeBody(begin, 'request', requestBody(model, random)),
          makeBody(begin, 'response', answerBody(id, model, tokens, random)),
        ]
      : [];
    return { begin, end: describeEnd(begin, tokens), bodies };
  }

  return { make: (count, hasBodies) => Array.from({ length: count }, () => makeCall(hasBodies)) };
}

function drawMetadata(random: SeededRandom): CallBegin['metadata'] {
  const metadata: [string, string][] = [
    ['Feature', random.pick(FEATURES)],
    ['Team', random.pick(TEAMS)],
    ['User-Id', `u-${Math.floor(1_000_000 * random.next() ** 2.5)}`],
  ];
  if (random.next() < 0.5) metadata.push(['Environment', 'production']);
  if (random.next() < 0.3) metadata.push(['Order-Id', `o-${random.between(0, 10_000_000)}`]);
  return metadata;
}

interface DrawnTokens {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

function nativeUsage({ input, cached, output }: DrawnTokens) {
  return {
    prompt_tokens: input + cached,
    completion_tokens: output,
    total_tokens: input + cached + output,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
}

function describeEnd(begin: CallBegin, tokens: DrawnTokens): CallEnd {
  const durationMs = 20 + tokens.output;
  return {
    id: begin.id,
    status: 200,
    outcome: 'ok',
    errorType: null,
    errorMessage: null,
    providerRequestId: `req_${begin.id.replaceAll('-', '')}`,
    modelRequested: begin.modelRequested,
    streamed: false,
    model: begin.modelRequested,
    serviceTier: 'default',
    speed: null,
    inferenceGeo: null,
    usage: {
      classes: { input: tokens.input, cache_read: tokens.cached, output: tokens.output },
      reasoning: 0,
      native: nativeUsage(tokens),
    },
    usageSource: 'provider',
    flags: [],
    respondedAtMs: begin.requestedAtMs + durationMs,
    durationMs,
    connectMs: null,
    headersMs: durationMs,
    firstByteMs: durationMs,
    firstTokenMs: null,
    overheadUs: 180,
    requestBytes: 1_000,
    responseBytes: 2_300,
    requestHeaders: [
      ['content-type', 'application/json'],
      ['user-agent', 'OpenAI/Python 2.8.0'],
    ],
    responseHeaders: [
      ['content-type', 'application/json'],
      ['x-request-id', `req_${begin.id}`],
      ['openai-processing-ms', String(durationMs)],
      ['x-ratelimit-remaining-tokens', '149984'],
    ],
  };
}

function writeText(random: SeededRandom, bytes: number): string {
  let text = '';
  while (text.length < bytes) text += `${WORDS[random.between(0, WORDS.length - 1)] ?? ''} `;
  return text.trimEnd();
}

function requestBody(model: string, random: SeededRandom): string {
  return JSON.stringify({
    model,
    temperature: 0.2,
    messages: [
      { role: 'system', content: writeText(random, REQUEST_TEXT_BYTES / 2) },
      { role: 'user', content: writeText(random, REQUEST_TEXT_BYTES / 2) },
    ],
  });
}

function answerBody(id: string, model: string, tokens: DrawnTokens, random: SeededRandom): string {
  const message = { role: 'assistant', content: writeText(random, ANSWER_TEXT_BYTES), refusal: null, annotations: [] };
  return JSON.stringify({
    id: `chatcmpl-${id}`,
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
    usage: nativeUsage(tokens),
    service_tier: 'default',
  });
}

function makeBody(begin: CallBegin, direction: CallBody['direction'], text: string): CallBody {
  const bytes = Buffer.from(text);
  return {
    id: begin.id,
    requestedAtMs: begin.requestedAtMs,
    direction,
    contentType: 'application/json',
    contentEncoding: null,
    totalBytes: bytes.length,
    headBytes: bytes.length,
    bytes,
  };
}
