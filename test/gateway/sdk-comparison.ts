/**
 * One call of a real SDK, once straight to the scripted provider and once through a whole gateway: what the provider
 * saw, what the SDK's connection got and what the program got have to be equal, less what docs/transparency.md lists.
 * It knows no SDK; how one is set up stands in the test of that SDK.
 */
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { PROVIDER_NAMES } from '../../src/vocabulary/call-record.ts';
import {
  type Answer,
  type RecordedRequest,
  type ScriptedProvider,
  startScriptedProvider,
} from '../support/fake-provider.ts';
import { type Fixture, listFixtures } from '../support/fixtures.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { asRecord, startGateway, type TestGateway } from './start-gateway.ts';

/** Headers of one hop, in requests and in answers. */
const HOP = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive']);
/** What the gateway adds to a stream's body when it asks for usage. */
const ASKED = '"stream_options":{"include_usage":true},';

type Headers = Readonly<Record<string, string>>;
type HeaderPairs = readonly (readonly [string, string])[];

/** An answer as the SDK's connection got it. */
export interface Exchange {
  readonly status: number;
  readonly headers: HeaderPairs;
  readonly body: Buffer;
}

/** Everything an SDK is set up with for one of the two calls. */
export interface SdkConnection {
  /** Scheme, host and port; the path that belongs to a base address is the SDK's. */
  readonly origin: string;
  /** Straight to the provider: some have their API under a path that the gateway adds by itself. */
  readonly isDirect: boolean;
  readonly headers: Headers;
  /** How often the SDK may try again. */
  readonly retries: number;
  /** The platform's, with a copy of each answer kept. */
  readonly fetch: typeof globalThis.fetch;
  /** For an SDK that takes no `fetch`. */
  readonly keep: (exchange: Promise<Exchange>) => void;
}

/** Makes the call and returns what the program sees of it, as plain data. */
export type SdkCall = (connection: SdkConnection) => Promise<unknown>;

type AnswerByRequest = (request: RecordedRequest, index: number) => Answer;

export interface ComparedCall {
  readonly call: SdkCall;
  /** `index` counts the tries of one call. */
  readonly answer: AnswerByRequest;
  readonly gatewayHeaders?: Headers;
  readonly retries?: number;
  /** The gateway asks for usage in place of the client. */
  readonly isAsked?: boolean;
}

export interface Side {
  readonly requests: readonly RecordedRequest[];
  readonly exchanges: readonly Exchange[];
  readonly result: unknown;
  /** What the SDK threw, or null. */
  readonly error: unknown;
}

export interface Compared {
  readonly through: Side;
  /** By the admin API, one for each try. */
  readonly records: readonly Readonly<Record<string, unknown>>[];
}

export interface SdkComparison {
  readonly gateway: TestGateway;
  readonly provider: ScriptedProvider;
  readonly compare: (options: ComparedCall) => Promise<Compared>;
  /** Through the gateway only. */
  readonly callThrough: (options: ComparedCall) => Promise<Side>;
  readonly stop: () => Promise<void>;
}

const fixtures = new Map<string, Fixture>(
  listFixtures().map((fixture) => [`${fixture.provider}/${fixture.name}`, fixture]),
);

/** The answer of that fixture, in two pieces; `headers` are added to its own. */
export function answerFixture(name: string, headers: Headers = {}): Answer {
  const fixture = fixtures.get(name);
  if (fixture === undefined) throw new Error(`no fixture ${name}`);
  const own = Object.entries({ ...fixture.headers, ...headers }).filter(([header]) => !HOP.has(header));
  return buildAnswer({
    status: fixture.status,
    headers: own,
    framing: name.includes('stream') ? 'chunked' : 'length',
    body: fixture.body,
    cuts: [Math.floor(fixture.body.length / 2)],
  });
}

export const SIGNING_SECRET = 'a-secret-of-the-gateways';

/** The alias `signed` of bedrock, with credentials. */
function signedUpstream(origin: string): Headers {
  return {
    TOLLGATE_UPSTREAM_BEDROCK_SIGNED: origin,
    TOLLGATE_AWS_BEDROCK_SIGNED_REGION: 'eu-west-1',
    TOLLGATE_AWS_BEDROCK_SIGNED_ACCESS_KEY_ID: 'AKIAGATEWAY000000000',
    TOLLGATE_AWS_BEDROCK_SIGNED_SECRET_ACCESS_KEY: SIGNING_SECRET,
  };
}

export async function startSdkComparison(): Promise<SdkComparison> {
  const provider = await startScriptedProvider();
  const upstreams = PROVIDER_NAMES.map((name) => [`TOLLGATE_UPSTREAM_${name.toUpperCase()}`, provider.origin]);
  const gateway = await startGateway({ env: { ...Object.fromEntries(upstreams), ...signedUpstream(provider.origin) } });

  async function run(options: ComparedCall, origin: string, headers: Headers): Promise<Side> {
    const first = provider.requests.length;
    provider.setAnswer((request, index) => options.answer(request, index - first));
    const exchanges: Promise<Exchange>[] = [];
    const keep = (exchange: Promise<Exchange>): void => {
      exchange.catch(() => {}); // awaited below; until then a failure has no one who waits for it
      exchanges.push(exchange);
    };
    const connection: SdkConnection = {
      origin,
      isDirect: origin === provider.origin,
      headers,
      retries: options.retries ?? 0,
      keep,
      fetch: async (input, init) => {
        const response = await globalThis.fetch(input, init);
        // The OpenAI SDK tries out with a `data:` address whether a `fetch` takes forms.
        if (!response.url.startsWith('data:')) keep(readExchange(response.clone()));
        return response;
      },
    };
    let result: unknown = null;
    let error: unknown = null;
    try {
      result = await options.call(connection);
    } catch (thrown) {
      error = thrown;
    }
    return { requests: provider.requests.slice(first), exchanges: await Promise.all(exchanges), result, error };
  }

  function callThrough(options: ComparedCall, headers: Headers = {}): Promise<Side> {
    return run(options, gateway.base, { ...headers, 'X-Gateway-Key': gateway.key, ...options.gatewayHeaders });
  }

  async function compare(options: ComparedCall): Promise<Compared> {
    const trace = randomUUID();
    const callId = randomUUID();
    const runHeaders = {
      'X-Gateway-Trace-Id': trace,
      'X-Gateway-Span-Path': 'sdk/call',
      'X-Gateway-Feature': 'comparison',
    };
    const direct = await run(options, provider.origin, { 'x-call-id': callId });
    expect(provider.ledger.get(callId)).toBe(direct.requests.length);
    const through = await callThrough(options, { 'x-call-id': callId, ...runHeaders });
    expect(provider.ledger.get(callId)).toBe(direct.requests.length * 2);

    const expected = direct.requests.map((request) => describeRequest(request));
    expect(through.requests.map((request) => describeRequest(request))).toEqual(
      options.isAsked === true ? expected.map(withAskedUsage) : expected,
    );
    expect(through.exchanges.map(describeExchange)).toEqual(direct.exchanges.map(describeExchange));
    expect(through.result).toEqual(direct.result);
    expect(describeError(through.error)).toEqual(describeError(direct.error));

    const records: Record<string, unknown>[] = [];
    for (const { headers } of through.exchanges) {
      const record = await gateway.waitForLog(readHeader(headers, 'x-gateway-request-id') ?? '');
      expect(record).toMatchObject({ trace_id: trace, span_path: 'sdk/call' });
      // Header names have no case, and some SDKs lower them.
      const metadata = Object.entries(asRecord(record['raw_metadata']));
      expect(metadata.map(([name, value]) => [name.toLowerCase(), value])).toEqual([['feature', 'comparison']]);
      records.push(record);
    }
    return { through, records };
  }

  return {
    gateway,
    provider,
    compare,
    callThrough,
    stop: async () => {
      await gateway.stop();
      await provider.close();
    },
  };
}

async function readExchange(response: Response): Promise<Exchange> {
  return {
    status: response.status,
    headers: [...response.headers],
    body: Buffer.from(await response.arrayBuffer()),
  };
}

export function readHeader(headers: HeaderPairs, name: string): string | undefined {
  return headers.find(([found]) => found.toLowerCase() === name)?.[1];
}

interface SeenByProvider {
  readonly requestLine: string;
  readonly headers: readonly string[];
  readonly body: string;
}

/** The AWS SDK numbers each call at random. */
function describeRequest({ requestLine, rawHeaders, body }: RecordedRequest): SeenByProvider {
  const headers: string[] = [];
  let text = body().toString('latin1');
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    let value = rawHeaders[index + 1] ?? '';
    if (HOP.has(name.toLowerCase())) continue;
    if (name === 'amz-sdk-invocation-id') value = '*';
    // Drawn by the SDK for each form.
    const boundary = /boundary=([^;]+)/.exec(value)?.[1];
    if (boundary !== undefined) {
      value = value.replace(boundary, '*');
      text = text.replaceAll(boundary, '*');
    }
    headers.push(`${name}: ${value}`);
  }
  return { requestLine, headers, body: text };
}

/** The two differences of a stream for which the gateway asks. */
function withAskedUsage(seen: SeenByProvider): SeenByProvider {
  return {
    ...seen,
    headers: seen.headers.map((line) => (/^accept-encoding: /i.test(line) ? 'accept-encoding: identity' : line)),
    body: `{${ASKED}${seen.body.slice(1)}`,
  };
}

function describeExchange({ status, headers, body }: Exchange) {
  const kept = headers.filter(
    ([name]) => !HOP.has(name.toLowerCase()) && name.toLowerCase() !== 'x-gateway-request-id',
  );
  return { status, headers: kept, body: body.toString('latin1') };
}

/** Name, message and HTTP status of an SDK's error, wherever that SDK keeps the status. */
export function describeError(error: unknown) {
  if (error === null) return null;
  if (!(error instanceof Error)) return { name: typeof error, message: String(error), status: null };
  const candidates = [
    'status' in error ? error.status : undefined,
    'statusCode' in error ? error.statusCode : undefined,
    '$metadata' in error ? asRecord(error.$metadata)['httpStatusCode'] : undefined,
  ];
  const status = candidates.find((candidate) => typeof candidate === 'number') ?? null;
  return { name: error.constructor.name, message: error.message, status };
}
