/**
 * A planned call to the records that the proxy would have written about it: beginning, bodies, ending. What was used is
 * read from the answer's bytes by the reader that reads real answers; nothing here knows a price.
 */
import { v7 } from 'uuid';
import type { CallBegin, CallBody, CallEnd, Outcome, SpoolEntry } from '../call-record.ts';
import type { Endpoint, RequestLine } from '../providers/provider.ts';
import { PROVIDERS } from '../providers/registry.ts';
import { EMPTY_READING } from '../shapes/reading.ts';
import { SHAPES } from '../shapes/registry.ts';
import type { ShapeName } from '../shapes/shape.ts';
import { createUsageReader } from '../shapes/usage-reader.ts';
import type { UsageReading } from '../token-usage.ts';
import { writeFailure } from './demo-failures.ts';
import type { ExchangeFormat, WrittenExchange } from './exchange.ts';
import { writeChatCompletions } from './formats/chat-completions.ts';
import { writeConverse } from './formats/converse.ts';
import { writeGenerateContent } from './formats/generate-content.ts';
import { writeMessages } from './formats/messages.ts';
import { writeResponses } from './formats/responses.ts';
import type { PlannedCall } from './planned-call.ts';
import type { SeededRandom } from './seeded-random.ts';

const FORMATS: Partial<Readonly<Record<ShapeName, ExchangeFormat>>> = {
  'chat-completions': writeChatCompletions,
  responses: writeResponses,
  messages: writeMessages,
  'generate-content': writeGenerateContent,
  converse: writeConverse,
};

export interface EntryContext {
  readonly accountId: number;
  readonly keyId: number;
  readonly node: string;
  readonly random: SeededRandom;
  /** False where retention keeps the call but not its bodies. */
  readonly keepsBodies: (requestedAtMs: number) => boolean;
}

/** What went over the wire, and how it ended. */
interface Exchanged {
  readonly request: Buffer;
  readonly answer: Buffer;
  readonly answerType: string;
  readonly status: number;
  readonly outcome: Outcome;
  readonly answerHeaders: readonly (readonly [string, string])[];
}

export function makeEntries(call: PlannedCall, context: EntryContext): readonly SpoolEntry[] {
  const id = v7({
    msecs: call.requestedAtMs,
    random: context.random.bytes(16),
    seq: context.random.between(0, 0xffff),
  });
  const path = call.isStreamed ? call.model.streamPath : call.model.path;
  const endpoint = readEndpoint(call, path);
  const mark = context.random.bytes(9).toString('hex');
  const exchanged = exchange(call, endpoint, mark);
  const reading = readAnswer(endpoint, exchanged);
  const begin = describeBegin(call, path, endpoint, id, context);
  const keepsBodies = context.keepsBodies(call.requestedAtMs);
  const whole = describeEnd(call, begin, exchanged, reading, mark);
  // Headers are kept with the bodies and as long as those.
  const end = keepsBodies ? whole : { ...whole, requestHeaders: [], responseHeaders: [] };
  const bodies = keepsBodies ? describeBodies(begin, exchanged) : [];
  return [...bodies.map((body): SpoolEntry => ({ type: 'body', body })), { type: 'end', begin, end }];
}

function readEndpoint(call: PlannedCall, path: string): Endpoint {
  const [rawPath = '', query = ''] = path.split('?');
  const line: RequestLine = { method: 'POST', path: rawPath, query, header: () => undefined };
  const provider = PROVIDERS[call.model.provider];
  return provider.endpoint({ ...line, path: provider.mapPath(rawPath) });
}

function exchange(call: PlannedCall, endpoint: Endpoint, mark: string): Exchanged {
  const write = FORMATS[endpoint.shape];
  if (write === undefined) throw new Error(`demo data: no format for ${endpoint.shape}`);
  const { model, requestedAtMs } = call;
  const written = write({
    ...call,
    requestedModel: model.requested,
    servedModel: model.served,
    mark,
    createdAtS: Math.floor(requestedAtMs / 1_000),
  });
  const request = Buffer.from(JSON.stringify(written.request));
  if (call.fails !== null) {
    const { status, body, headers } = writeFailure(model.provider, call.fails);
    const answer = Buffer.from(JSON.stringify(body));
    return {
      request,
      answer,
      answerType: 'application/json',
      status,
      outcome: 'upstream_error',
      answerHeaders: headers,
    };
  }
  const answer = writeAnswer(written, call.isLeft);
  const outcome = call.isLeft ? 'client_closed' : 'ok';
  return { request, answer, answerType: written.answerType, status: 200, outcome, answerHeaders: [] };
}

/** Of a client that went away: what it had got so far. */
function writeAnswer({ answer }: WrittenExchange, isLeft: boolean): Buffer {
  return Buffer.from(isLeft ? answer.slice(0, Math.floor(answer.length / 2)) : answer);
}

/** Nothing is encoded, so the reader is done at once. */
function readAnswer(endpoint: Endpoint, { answer, answerType, status, outcome }: Exchanged): UsageReading {
  const shape = SHAPES[endpoint.shape];
  const reader = createUsageReader({ shape, status, contentType: answerType, contentEncoding: null });
  reader.push(answer);
  // Assigned by the callback.
  let reading = EMPTY_READING;
  reader.finish(outcome !== 'client_closed', (final) => {
    reading = final;
  });
  return reading;
}

function describeBegin(
  call: PlannedCall,
  path: string,
  endpoint: Endpoint,
  id: string,
  { accountId, keyId, node }: EntryContext,
): CallBegin {
  const { model } = call;
  return {
    ...{ id, accountId, keyId, node, path },
    requestedAtMs: call.requestedAtMs,
    client: call.client.name,
    clientAddress: call.client.address,
    provider: model.provider,
    providerAlias: null,
    endpoint: endpoint.family,
    billed: endpoint.billed,
    method: 'POST',
    modelRequested: model.requested,
    streamed: call.isStreamed,
    isBatch: endpoint.isBatch,
    region: PROVIDERS[model.provider].defaultRegion,
    attempt: call.attempt,
    traceId: call.traceId,
    spanPath: call.spanPath,
    spanName: call.spanName,
    metadata: call.metadata,
    flags: [],
  };
}

function usageSourceOf(reading: UsageReading, outcome: Outcome): CallEnd['usageSource'] {
  if (reading.usage === null) return 'none';
  return outcome === 'client_closed' && !reading.terminal ? 'partial' : 'provider';
}

function describeEnd(
  call: PlannedCall,
  begin: CallBegin,
  exchanged: Exchanged,
  reading: UsageReading,
  mark: string,
): CallEnd {
  const { status, outcome, answerHeaders, answerType } = exchanged;
  const provider = PROVIDERS[begin.provider];
  const named = answerHeaders.find(([name]) => name === provider.errorTypeHeader)?.[1].split(':')[0] ?? null;
  const [idHeader] = provider.requestIdHeaders;
  const providerRequestId = idHeader === undefined ? null : `req_${mark}`;
  const headersMs = call.isStreamed ? Math.min(call.firstTokenMs, call.durationMs) : call.durationMs;
  return {
    ...{ id: begin.id, status, outcome, providerRequestId },
    ...(outcome === 'client_closed' ? { closedBefore: 'end' } : {}),
    errorType: reading.error === null ? null : (reading.error.type ?? named),
    errorMessage: reading.error?.message ?? null,
    modelRequested: begin.modelRequested,
    streamed: begin.streamed,
    model: reading.model,
    serviceTier: reading.serviceTier,
    speed: reading.speed,
    inferenceGeo: reading.inferenceGeo,
    usage: reading.usage,
    usageSource: usageSourceOf(reading, outcome),
    flags: reading.flags,
    respondedAtMs: begin.requestedAtMs + call.durationMs,
    durationMs: call.durationMs,
    connectMs: null,
    headersMs,
    firstByteMs: headersMs,
    firstTokenMs: call.isStreamed && outcome !== 'upstream_error' ? headersMs : null,
    overheadUs: 180 + (call.durationMs % 140),
    requestBytes: exchanged.request.length,
    responseBytes: exchanged.answer.length,
    requestHeaders: [
      ['content-type', 'application/json'],
      ['user-agent', call.client.userAgent],
    ],
    responseHeaders: [
      ['content-type', answerType],
      ...(idHeader === undefined || providerRequestId === null ? [] : [[idHeader, providerRequestId] as const]),
      ...answerHeaders,
    ],
  };
}

function describeBodies(begin: CallBegin, { request, answer, answerType }: Exchanged): readonly CallBody[] {
  const body = (direction: CallBody['direction'], contentType: string, bytes: Buffer): CallBody => ({
    id: begin.id,
    requestedAtMs: begin.requestedAtMs,
    ...{ direction, contentType, bytes },
    contentEncoding: null,
    totalBytes: bytes.length,
    headBytes: bytes.length,
  });
  return [body('request', 'application/json', request), body('response', answerType, answer)];
}
