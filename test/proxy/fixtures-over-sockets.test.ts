import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CallEnd, PROVIDER_NAMES } from '../../src/vocabulary/call-record.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { type Fixture, listFixtures, requestBody } from '../support/fixtures.ts';
import { type RawAnswer, readRawAnswer } from '../support/read-raw-answer.ts';
import { type AnswerStep, buildAnswer } from '../support/scripted-answer.ts';
import { createSeededRandom } from './seeded-random.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';

/** Places at which each answer is cut in two, one call each. */
const CUTS = 50;
const AT_ONCE = 10;
const SEED = 20_261_128;

let provider: ScriptedProvider;
let proxy: InProcessProxy;

// A proxy for each test: its spool is read back whole.
beforeEach(async () => {
  provider = await startScriptedProvider();
  proxy = await startProxy(provider.origin);
});
afterEach(async () => {
  await proxy.close();
  await provider.close();
});

function requestBytes(fixture: Fixture, extra: readonly string[]): Buffer {
  const body = requestBody(fixture);
  const head = [
    `${fixture.request.method} ${fixture.request.path} HTTP/1.1`,
    'Host: gateway',
    ...Object.entries(fixture.request.headers).map(([name, value]) => `${name}: ${value}`),
    // As clients do: a request that has no body says nothing of its length.
    ...(body.length === 0 ? [] : [`Content-Length: ${body.length}`]),
    ...extra,
    '',
    '',
  ];
  return Buffer.concat([Buffer.from(head.join('\r\n')), body]);
}

function answerOf(fixture: Fixture, cut: number | null): AnswerStep[] {
  const headers = Object.entries(fixture.headers).filter(
    ([name]) => !/^(content-length|transfer-encoding)$/i.test(name),
  );
  return buildAnswer({
    status: fixture.status,
    headers,
    framing: 'chunked',
    body: fixture.body,
    ...(cut === null ? {} : { cuts: [cut], delayMs: 1 }),
  });
}

function callThrough(fixture: Fixture, extra: readonly string[] = []): Promise<RawAnswer> {
  const isNamed = Object.keys(fixture.request.headers).some((name) => name.toLowerCase() === 'x-gateway-provider');
  const named = isNamed ? [] : [`X-Gateway-Provider: ${fixture.provider}`];
  const headers = [`X-Gateway-Key: ${proxy.key}`, ...named, 'Connection: close', ...extra];
  return readRawAnswer('127.0.0.1', proxy.port, requestBytes(fixture, headers));
}

function requestIdOf(answer: RawAnswer): string {
  return answer.rawHeaders[answer.rawHeaders.indexOf('X-Gateway-Request-Id') + 1] ?? '';
}

interface Call {
  readonly fixture: Fixture;
  readonly cut: number | null;
}

/** Whole, and in two pieces at each place. */
function callsOf(fixture: Fixture): readonly Call[] {
  const random = createSeededRandom(SEED);
  const cuts = Array.from({ length: CUTS }, () => 1 + Math.floor(random() * Math.max(1, fixture.body.length - 1)));
  return [null, ...cuts].map((cut) => ({ fixture, cut }));
}

/** Makes the call, compares the bytes, and returns the id of its record. */
async function runCall({ fixture, cut }: Call): Promise<string> {
  const what = `${fixture.name}, cut at ${cut}`;
  const marks = [`X-Test-Case: ${fixture.name}`, ...(cut === null ? [] : [`X-Test-Cut: ${cut}`])];
  const answer = await callThrough(fixture, marks);
  expect(answer.end, what).toBe('complete');
  expect(answer.status, what).toBe(fixture.status);
  expect(answer.body.equals(fixture.body), `bytes of ${what}`).toBe(true);
  return requestIdOf(answer);
}

test.each(PROVIDER_NAMES)(
  'the exchanges of %s: same bytes and same usage, whole and cut at 50 seeded places',
  async (name) => {
    const fixtures = listFixtures().filter((fixture) => fixture.provider === name);
    // Case and place of the cut travel in headers of the request, so that calls can run beside each other.
    provider.setAnswer((request) => {
      const cut = request.header('x-test-cut');
      return answerOf(find(name, request.header('x-test-case') ?? ''), cut === null ? null : Number(cut));
    });
    const waiting = fixtures.flatMap(callsOf);
    const made = new Map<string, Call>();
    const runSome = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) made.set(await runCall(next), next);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, runSome));
    expect(made.size).toBe(fixtures.length * (CUTS + 1));

    const ends = await readEnds(made);
    for (const [id, { fixture, cut }] of made) {
      const end = ends.get(id);
      const { reported } = fixture.expected;
      // Where the body names no type, the provider's header may; and some were written as cut.
      const cutType = fixture.name.includes('-cut') ? 'upstream_ended_early' : null;
      const named = fixture.headers['x-amzn-errortype']?.split(':')[0] ?? cutType;
      expect(
        [end?.usage?.classes ?? null, end?.model ?? null, end?.errorType ?? null],
        `the record of ${fixture.name}, cut at ${cut}`,
      ).toEqual([classesOfRecord(fixture), reported.model, reported.error?.type ?? named]);
    }
  },
);

/** All of them are in the spool before their last byte is with the client; read once, since there are thousands. */
async function readEnds(calls: ReadonlyMap<string, Call>): Promise<ReadonlyMap<string, CallEnd>> {
  const ends = new Map<string, CallEnd>();
  for (const entry of await proxy.entries()) {
    if (entry.type === 'end' && calls.has(entry.end.id)) ends.set(entry.end.id, entry.end);
  }
  return ends;
}

/** Fetching a result that is not there yet, or that was counted when it was made, is a record without usage. */
function classesOfRecord({ expected: { endpoint, reported, sentClasses } }: Fixture) {
  if (sentClasses !== null) return sentClasses;
  return endpoint.fetchesResult && reported.laterResult?.isFinal !== true ? null : reported.classes;
}

const FIXTURES = new Map(listFixtures().map((fixture) => [`${fixture.provider}/${fixture.name}`, fixture]));

function find(provider: string, name: string): Fixture {
  const found = FIXTURES.get(`${provider}/${name}`);
  if (found === undefined) throw new Error(`no fixture ${provider}/${name}`);
  return found;
}

/** As OpenAI does: usage on the stream only when the body asks for it. */
function answerLikeOpenai(cut: number | null): void {
  const asked = find('openai', 'chat-stream-usage-asked');
  const plain = find('openai', 'chat-stream-usage-not-asked');
  provider.setAnswer((request) => answerOf(request.body().includes('"include_usage":true') ? asked : plain, cut));
}

test('an OpenAI stream that does not ask for usage: the client’s bytes are those of a direct call, the usage is exact', async () => {
  const fixture = find('openai', 'chat-stream-usage-not-asked');
  const random = createSeededRandom(SEED);
  const length = find('openai', 'chat-stream-usage-asked').body.length;
  for (let round = 0; round < CUTS; round += 1) {
    answerLikeOpenai(round === 0 ? null : 1 + Math.floor(random() * (length - 1)));
    const direct = await readRawAnswer('127.0.0.1', provider.port, requestBytes(fixture, ['Connection: close']));
    const through = await callThrough(fixture, ['Accept-Encoding: gzip']);
    expect(through.body.toString()).toBe(direct.body.toString());
    expect(through.end).toBe('complete');
    const seen = provider.requests.at(-1);
    expect(seen?.header('accept-encoding')).toBe('identity');
    const sent = JSON.stringify(fixture.request.body);
    expect(seen?.body().toString()).toBe(`{"stream_options":{"include_usage":true},${sent.slice(1)}`);
    const { begin, end } = await proxy.waitForCall(requestIdOf(through));
    expect(begin.flags).toEqual(['usage_asked']);
    expect(end.usage?.classes).toEqual(find('openai', 'chat-stream-usage-asked').expected.reported.classes);
  }
});

test.each([true, false])(
  'an explicit include_usage %s is respected: body and answer pass untouched',
  async (wanted) => {
    answerLikeOpenai(null);
    const plain = find('openai', 'chat-stream-usage-not-asked');
    const body = { ...Object(plain.request.body), stream_options: { include_usage: wanted } };
    const fixture = { ...plain, request: { ...plain.request, body } };
    const direct = await readRawAnswer('127.0.0.1', provider.port, requestBytes(fixture, ['Connection: close']));
    const through = await callThrough(fixture);
    expect(through.body.equals(direct.body)).toBe(true);
    expect(provider.requests.at(-1)?.body().toString()).toBe(JSON.stringify(body));
    const { end } = await proxy.waitForCall(requestIdOf(through));
    expect(end.flags).toEqual([]);
    expect(end.usage === null).toBe(!wanted);
  },
);
