/**
 * The local provider behind `--demo`: an HTTP/1.1 server that answers like all seven providers from the fixtures, so
 * that the gateway can be tried without an account. It costs nothing, checks no credential and keeps nothing. Not a
 * test instrument: tests that need exact bytes or faults use the scripted provider of `test/`.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROVIDER_NAMES } from '../call-record.ts';
import { chooseFixture, type DemoRequest } from './choose-fixture.ts';
import { type Fixture, readFixtures } from './fixture-store.ts';
import { type JsonObject, parseJson } from './json-object.ts';
import { modelList, notFound, type PlainAnswer, refusal } from './plain-answers.ts';
import { shapeAnswer } from './shape-answer.ts';

export interface FakeProviderOptions {
  readonly host: string;
  /** 0: one that the system chooses. */
  readonly port: number;
  /** A listening socket that was handed down; it is used instead of host and port. */
  readonly listenFd?: number;
  readonly fixturesDir: string;
  /** Before the head of an answer. */
  readonly latencyMs?: number;
  /** Between two events of a stream. */
  readonly eventDelayMs?: number;
}

export interface FakeProvider {
  /** Without a path; the upstream of a provider is `<origin>/<provider>`. */
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

/** Null when the body is larger than the limit; it is read to its end all the same, so that the answer is seen. */
async function readBody(request: IncomingMessage): Promise<JsonObject | null> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    if (!Buffer.isBuffer(part)) continue;
    length += part.length;
    if (length <= BODY_LIMIT_BYTES) parts.push(part);
  }
  return length > BODY_LIMIT_BYTES ? null : (parseJson(Buffer.concat(parts).toString('utf8')) ?? {});
}

/** `/openai/v1/models` is openai and `/v1/models`; null without a provider in front. */
function splitTarget(target: string): Pick<DemoRequest, 'provider' | 'path'> | null {
  const provider = PROVIDER_NAMES.find((name) => target.startsWith(`/${name}/`));
  return provider === undefined ? null : { provider, path: target.slice(provider.length + 1) };
}

/** Two calls must not seem to be one: ids in headers are made anew. */
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
  const request: DemoRequest = { ...target, method, body: body ?? {} };
  if (pace.latencyMs > 0) await sleep(pace.latencyMs);
  if (body === null) {
    sendPlain(response, refusal(request, { status: 413, message: 'The demo reads bodies of up to 32 MiB.' }));
    return;
  }
  const fixture = chooseFixture(fixtures, request);
  if (fixture !== null) await sendFixture(response, fixture, request, pace);
  else sendPlain(response, modelList(fixtures, request) ?? notFound(request));
}

export async function startFakeProvider(options: FakeProviderOptions): Promise<FakeProvider> {
  const { host, port, fixturesDir, latencyMs = LATENCY_MS, eventDelayMs = EVENT_DELAY_MS } = options;
  const fixtures = readFixtures(fixturesDir);
  const server = createServer({ noDelay: true }, (incoming, response) => {
    // Only a client that left can make this fail; there is nobody to tell.
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
