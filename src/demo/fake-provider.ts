/** The server behind `--demo`: it answers like every provider from fixtures, and is no test instrument. */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROVIDER_NAMES } from '../vocabulary/call-record.ts';
import { chooseFixture, type DemoRequest, kindOf } from './choose-fixture.ts';
import { decodeText } from './decode-text.ts';
import { type Fixture, readFixtures } from './fixture-store.ts';
import { type JsonObject, parseJson } from './json-object.ts';
import { modelList, notFound, type PlainAnswer, refusal, unknownModel } from './plain-answers.ts';
import { shapeAnswer } from './shape-answer.ts';

export interface FakeProviderOptions {
  readonly host: string;
  /** 0: the system chooses. */
  readonly port: number;
  /** An inherited listening socket, used instead of host and port. */
  readonly listenFd?: number;
  readonly fixturesDir: string;
  /** Delay before the head of an answer. */
  readonly latencyMs?: number;
  /** Delay between two stream events. */
  readonly eventDelayMs?: number;
}

export interface FakeProvider {
  /** A provider's upstream is `<origin>/<provider>`. */
  readonly origin: string;
  readonly close: () => Promise<void>;
}

const LATENCY_MS = 80;
const EVENT_DELAY_MS = 20;
const BODY_LIMIT_BYTES = 32 * 1024 * 1024;

interface Pace {
  readonly latencyMs: number;
  readonly eventDelayMs: number;
}

type ReadBody = JsonObject | 'too_large' | 'not_json';

/** A body that is too large is still read to its end, so that the client sees the answer. */
async function readBody(request: IncomingMessage): Promise<ReadBody> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    if (!Buffer.isBuffer(part)) continue;
    length += part.length;
    if (length <= BODY_LIMIT_BYTES) parts.push(part);
  }
  if (length > BODY_LIMIT_BYTES) return 'too_large';
  const text = decodeText(Buffer.concat(parts), request.headers['content-encoding']);
  return text === null ? 'not_json' : (parseJson(text) ?? 'not_json');
}

/** `/openai/v1/models` is openai and `/v1/models`; null without a provider in front. */
function splitTarget(target: string): Pick<DemoRequest, 'provider' | 'path'> | null {
  const provider = PROVIDER_NAMES.find((name) => target.startsWith(`/${name}/`));
  return provider === undefined ? null : { provider, path: target.slice(provider.length + 1) };
}

/** Ids in headers are made anew, so that two calls never look like one. */
function freshHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const id = `req_demo_${randomBytes(8).toString('hex')}`;
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, /request-?id$/i.test(name) ? id : value]),
  );
}

function sendPlain(response: ServerResponse, { status, headers, body }: PlainAnswer): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { ...headers, 'content-length': bytes.length }).end(bytes);
}

async function sendFixture(
  response: ServerResponse,
  fixture: Fixture,
  request: DemoRequest,
  pace: Pace,
): Promise<void> {
  const pieces = shapeAnswer(fixture, request);
  const isWhole = fixture.kind === 'json' && pieces.length === 1;
  const length = isWhole ? { 'content-length': String(pieces[0]?.length ?? 0) } : {};
  response.writeHead(fixture.status, { ...freshHeaders(fixture.headers), ...length });
  for (const [index, piece] of pieces.entries()) {
    if (index > 0 && pace.eventDelayMs > 0) await sleep(pace.eventDelayMs);
    if (response.destroyed) return;
    response.write(piece);
  }
  response.end();
}

async function answer(fixtures: readonly Fixture[], pace: Pace, incoming: IncomingMessage, response: ServerResponse) {
  const method = incoming.method ?? 'GET';
  const target = splitTarget(incoming.url ?? '/');
  if (target === null) {
    const body = { error: { message: `The path must begin with one of: ${PROVIDER_NAMES.join(', ')}.` } };
    sendPlain(response, { status: 404, headers: { 'content-type': 'application/json' }, body });
    return;
  }
  const body = await readBody(incoming);
  const request: DemoRequest = { ...target, method, body: typeof body === 'string' ? {} : body };
  if (pace.latencyMs > 0) await sleep(pace.latencyMs);
  const refused = judgeBody(fixtures, request, body);
  if (refused !== null) {
    sendPlain(response, refused);
    return;
  }
  const fixture = chooseFixture(fixtures, request);
  if (fixture !== null) await sendFixture(response, fixture, request, pace);
  else sendPlain(response, modelList(fixtures, request) ?? notFound(request));
}

/** A newcomer's mistakes must show here, or they show with the provider. */
function judgeBody(fixtures: readonly Fixture[], request: DemoRequest, body: ReadBody): PlainAnswer | null {
  if (body === 'too_large') return refusal(request, 'too_large', 'The demo reads bodies of up to 32 MiB.');
  // Other paths have bodies of any form, or none.
  if (kindOf(request.method, request.path) === null) return null;
  if (body === 'not_json') return refusal(request, 'not_json', 'The body of the request is not a JSON object.');
  return unknownModel(fixtures, request);
}

export async function startFakeProvider(options: FakeProviderOptions): Promise<FakeProvider> {
  const { host, port, fixturesDir, latencyMs = LATENCY_MS, eventDelayMs = EVENT_DELAY_MS } = options;
  const fixtures = readFixtures(fixturesDir);
  const server = createServer({ noDelay: true }, (incoming, response) => {
    // This fails only when the client has left.
    answer(fixtures, { latencyMs, eventDelayMs }, incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.listenFd === undefined ? { port, host } : { fd: options.listenFd }, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the demo has no port');
  return {
    origin: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
