/** Turns a planned call into the proxy's records. Usage is read from the answer's bytes as for real calls. */
import { v7 } from 'uuid';
import { USAGE_FORMATS } from '../../formats/usage/registry.ts';
import { NOTHING_REPORTED } from '../../formats/usage/reported-usage.ts';
import { createUsageReader } from '../../formats/usage/usage-reader.ts';
import type { UsageFormatName } from '../../providers/format-names.ts';
import type { Endpoint, RequestLine } from '../../providers/provider.ts';
import { PROVIDERS } from '../../providers/registry.ts';
import type { CallBegin, CallBody, CallEnd, Outcome, SpoolEntry } from '../../vocabulary/call-record.ts';
import type { ReportedUsage } from '../../vocabulary/token-usage.ts';
import { writeFailure } from './demo-failures.ts';
import { chatCompletions } from './formats/chat-completions.ts';
import { converse } from './formats/converse.ts';
import type { DemoFormat } from './formats/format.ts';
import { generateContent } from './formats/generate-content.ts';
import { messages } from './formats/messages.ts';
import { responses } from './formats/responses.ts';
import type { PlannedCall } from './planned-call.ts';
import type { SeededRandom } from './seeded-random.ts';

const FORMATS: Partial<Readonly<Record<UsageFormatName, DemoFormat>>> = {
  'chat-completions': chatCompletions,
  responses,
  messages,
  'generate-content': generateContent,
  converse,
};

const JSON_TYPE = 'application/json';

export interface EntryContext {
  readonly accountId: number;
  readonly keyId: number;
  readonly node: string;
  readonly random: SeededRandom;
  /** False where retention keeps the call without its bodies. */
  readonly keepsBodies: (requestedAtMs: number) => boolean;
}

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
  const exchanged = exchange(call, endpoint);
  const begin = describeBegin(call, path, endpoint, id, context);
  const end = describeEnd(call, begin, exchanged, readAnswer(endpoint, exchanged));
  if (context.keepsBodies(call.requestedAtMs))
    return [...describeBodies(begin, exchanged), { type: 'end', begin, end }];
  // Headers are kept as long as the bodies.
  return [{ type: 'end', begin, end: { ...end, requestHeaders: [], responseHeaders: [] } }];
}

function readEndpoint(call: PlannedCall, path: string): Endpoint {
  const [rawPath = '', query = ''] = path.split('?');
  const line: RequestLine = { method: 'POST', path: rawPath, query, header: () => undefined };
  const provider = PROVIDERS[call.model.provider];
  return provider.endpoint({ ...line, path: provider.mapPath(rawPath) });
}

function exchange(call: PlannedCall, endpoint: Endpoint): Exchanged {
  const format = FORMATS[endpoint.format];
  if (format === undefined) throw new Error(`demo data: no format for ${endpoint.format}`);
  const request = Buffer.from(JSON.stringify(format.request(call)));
  if (call.fails !== null) {
    const { status, body, headers } = writeFailure(call.model.provider, call.fails);
    const answer = Buffer.from(JSON.stringify(body));
    return { request, answer, answerType: JSON_TYPE, status, outcome: 'upstream_error', answerHeaders: headers };
  }
  const stream = call.isStreamed ? format.stream : null;
  const whole = Buffer.from(stream === null ? JSON.stringify(format.whole(call)) : stream(call));
  return {
    request,
    answer: call.isLeft ? whole.subarray(0, whole.length / 2) : whole,
    answerType: stream === null ? JSON_TYPE : 'text/event-stream',
    status: 200,
    outcome: call.isLeft ? 'client_closed' : 'ok',
    answerHeaders: [],
  };
}

/** Nothing is encoded, so the reader ends at once. */
function readAnswer(endpoint: Endpoint, { answer, answerType, status, outcome }: Exchanged): ReportedUsage {
  const format = USAGE_FORMATS[endpoint.format];
  const reader = createUsageReader({ format, status, contentType: answerType, contentEncoding: null });
  reader.push(answer);
  let reported = NOTHING_REPORTED;
  reader.finish(outcome !== 'client_closed', (final) => {
    reported = final;
  });
  return reported;
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
    id,
    accountId,
    keyId,
    node,
    path,
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

function describeEnd(call: PlannedCall, begin: CallBegin, exchanged: Exchanged, reported: ReportedUsage): CallEnd {
  const { status, outcome, answerHeaders, answerType } = exchanged;
  const provider = PROVIDERS[begin.provider];
  const named = answerHeaders.find(([name]) => name === provider.errorTypeHeader)?.[1].split(':')[0] ?? null;
  const [idHeader] = provider.requestIdHeaders;
  const providerRequestId = idHeader === undefined ? (reported.answerId ?? null) : `req_${call.mark}`;
  const headersMs = call.isStreamed ? Math.min(call.firstTokenMs, call.durationMs) : call.durationMs;
  return {
    id: begin.id,
    status,
    outcome,
    providerRequestId,
    ...(outcome === 'client_closed' ? { closedBefore: 'end' } : {}),
    errorType: reported.error === null ? null : (reported.error.type ?? named),
    errorMessage: reported.error?.message ?? null,
    modelRequested: begin.modelRequested,
    streamed: begin.streamed,
    model: reported.model,
    serviceTier: reported.serviceTier,
    speed: reported.speed,
    inferenceGeo: reported.inferenceGeo,
    usage: reported.usage,
    usageSource:
      reported.usage === null ? 'none' : outcome === 'client_closed' && !reported.terminal ? 'partial' : 'provider',
    flags: reported.flags,
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
      ['content-type', JSON_TYPE],
      ['user-agent', call.client.userAgent],
    ],
    responseHeaders: [
      ['content-type', answerType],
      ...(idHeader === undefined || providerRequestId === null ? [] : [[idHeader, providerRequestId] as const]),
      ...answerHeaders,
    ],
  };
}

function describeBodies(begin: CallBegin, { request, answer, answerType }: Exchanged): readonly SpoolEntry[] {
  const entry = (direction: CallBody['direction'], contentType: string, bytes: Buffer): SpoolEntry => ({
    type: 'body',
    body: {
      id: begin.id,
      requestedAtMs: begin.requestedAtMs,
      direction,
      contentType,
      bytes,
      contentEncoding: null,
      totalBytes: bytes.length,
      headBytes: bytes.length,
    },
  });
  return [entry('request', JSON_TYPE, request), entry('response', answerType, answer)];
}
