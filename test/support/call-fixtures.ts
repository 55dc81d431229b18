/** Made-up calls for tests of the spool and the shipper. Every value is literal or follows from the number given. */

import type { PriceCall } from '../../src/pricing/billable-call.ts';
import type { CallBegin, CallBody, CallCheckpoint, CallEnd } from '../../src/vocabulary/call-record.ts';

export const NOON_MS = Date.UTC(2026, 10, 28, 12);

export function callId(number: number): string {
  return `019ac9f0-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

export function callBegin(number: number, overrides: Partial<CallBegin> = {}): CallBegin {
  return {
    id: callId(number),
    requestedAtMs: NOON_MS + number,
    accountId: 1,
    keyId: 1,
    node: 'node-a',
    client: 'openai-node',
    provider: 'openai',
    providerAlias: null,
    endpoint: 'chat.completions',
    billed: true,
    method: 'POST',
    path: '/v1/chat/completions',
    modelRequested: 'gpt-5',
    streamed: true,
    isBatch: false,
    region: null,
    attempt: 0,
    traceId: null,
    spanPath: null,
    spanName: null,
    metadata: [['Feature', 'search']],
    flags: [],
    ...overrides,
  };
}

export function callEnd(number: number, overrides: Partial<CallEnd> = {}): CallEnd {
  return {
    id: callId(number),
    status: 200,
    outcome: 'ok',
    errorType: null,
    errorMessage: null,
    providerRequestId: `req_${number}`,
    modelRequested: 'gpt-5',
    streamed: true,
    model: 'gpt-5-2025-08-07',
    serviceTier: 'default',
    speed: null,
    inferenceGeo: null,
    usage: {
      classes: { input: 100 + number, cache_read: 20, output: 7 },
      reasoning: 3,
      native: { prompt_tokens: 120 + number, completion_tokens: 7 },
    },
    usageSource: 'provider',
    flags: [],
    respondedAtMs: NOON_MS + number + 1500,
    durationMs: 1500,
    connectMs: null,
    headersMs: 300,
    firstByteMs: 301,
    firstTokenMs: 310,
    overheadUs: 180,
    requestBytes: 512,
    responseBytes: 2048,
    requestHeaders: [],
    responseHeaders: [],
    ...overrides,
  };
}

export function callCheckpoint(number: number, overrides: Partial<CallCheckpoint> = {}): CallCheckpoint {
  return {
    id: callId(number),
    status: 200,
    responseBytes: 1000,
    elapsedMs: 700,
    reading: {
      usage: {
        classes: { input: 50, output: 2 },
        reasoning: null,
        native: { prompt_tokens: 50, completion_tokens: 2 },
      },
      model: 'gpt-5-2025-08-07',
      serviceTier: null,
      speed: null,
      inferenceGeo: null,
      error: null,
      laterResult: null,
      terminal: false,
      flags: [],
    },
    ...overrides,
  };
}

export function callBody(number: number, direction: CallBody['direction'], bytes: Buffer): CallBody {
  return {
    id: callId(number),
    requestedAtMs: NOON_MS + number,
    direction,
    contentType: 'application/json',
    contentEncoding: null,
    totalBytes: bytes.length,
    headBytes: bytes.length,
    bytes,
  };
}

/** One millionth of a dollar for a token of input, ten for one of output; nothing without usage. */
export const priceByToken: PriceCall = (call) => {
  const classes = call.usage?.classes;
  const inputCost = classes === undefined ? null : BigInt(classes.input ?? 0) * 1_000_000n;
  const outputCost = classes === undefined ? null : BigInt(classes.output ?? 0) * 10_000_000n;
  const totalCost = inputCost === null || outputCost === null ? null : inputCost + outputCost;
  return {
    billingModel: call.model,
    costStatus: totalCost === null ? 'no_usage' : call.usageSource === 'partial' ? 'partial' : 'exact',
    totalCost: call.usageSource === 'partial' ? null : totalCost,
    knownCost: totalCost ?? 0n,
    inputCost,
    cacheReadCost: null,
    cacheCreationCost: null,
    outputCost,
    otherCost: null,
    lines: [],
    priceVersion: 'test',
  };
};
