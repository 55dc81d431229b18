/** Signing by the gateway and signatures of clients, over sockets: what arrives is verified as AWS would. */
import { AnthropicBedrock } from '@anthropic-ai/bedrock-sdk';
import { Sha256 } from '@aws-crypto/sha256-js';
import {
  BedrockRuntimeClient,
  type BedrockRuntimeClientConfig,
  ConverseCommand,
  ConverseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { SignatureV4 } from '@smithy/signature-v4';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { HELD_BODIES_BYTES } from '../../src/proxy/gateway.ts';
import { readConfig } from '../../src/supervisor/settings/read-config.ts';
import type { UpstreamConfig } from '../../src/vocabulary/config.ts';
import { type RecordedRequest, type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { listFixtures } from '../support/fixtures.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { checkSignature } from '../support/verify-signature.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';

const SECRET = 'the-gateways/secret+key';
const TOKEN = 'the-gateways-session-token';
const RUNTIME = 'bedrock-runtime.eu-west-1.amazonaws.com';
const CLIENT_SECRET = 'the-clients-own-secret';
const MODEL = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';

let provider: ScriptedProvider;
let proxy: InProcessProxy;

function readAliases(origin: string): Readonly<Record<string, UpstreamConfig>> {
  const { aliases } = readConfig(
    {},
    {
      TOLLGATE_UPSTREAM_BEDROCK_SIGNED: origin,
      TOLLGATE_AWS_BEDROCK_SIGNED_REGION: 'eu-west-1',
      TOLLGATE_AWS_BEDROCK_SIGNED_ACCESS_KEY_ID: 'AKIAGATEWAY000000000',
      TOLLGATE_AWS_BEDROCK_SIGNED_SECRET_ACCESS_KEY: SECRET,
      TOLLGATE_AWS_BEDROCK_SIGNED_SESSION_TOKEN: TOKEN,
      TOLLGATE_UPSTREAM_BEDROCK_AMBIENT: origin,
      TOLLGATE_AWS_BEDROCK_AMBIENT_REGION: 'eu-west-1',
      TOLLGATE_AWS_BEDROCK_AMBIENT_CREDENTIALS: 'ambient',
      TOLLGATE_UPSTREAM_BEDROCK_PREFIXED: `${origin}/prefix`,
      TOLLGATE_UPSTREAM_BEDROCK_IRELAND: `https://${RUNTIME}`,
    },
  );
  return aliases.bedrock ?? {};
}

beforeAll(async () => {
  provider = await startScriptedProvider();
  const configured = readAliases(provider.origin);
  // Mantle has no address but its own, so this one is made here.
  const mantle: UpstreamConfig = {
    origin: provider.origin,
    region: 'us-east-1',
    aws: {
      host: 'bedrock-mantle.us-east-1.api.aws',
      service: 'bedrock-mantle',
      region: 'us-east-1',
      credentials: { accessKeyId: 'AKIAGATEWAY000000000', secretAccessKey: SECRET, sessionToken: null },
    },
  };
  proxy = await startProxy(
    provider.origin,
    {},
    {
      aliases: {
        bedrock: { ...configured, mantle, plain: { origin: provider.origin, region: null } },
        openai: { mantle },
      },
    },
  );
});
afterAll(async () => {
  await proxy.close();
  await provider.close();
});
beforeEach(() => provider.setAnswer(() => buildAnswer({ body: '{}' })));

function check(request: RecordedRequest, secret = SECRET) {
  const { method, target, rawHeaders } = request;
  return checkSignature({ method, target, rawHeaders, body: request.body() }, secret);
}

interface Sent {
  readonly line: string;
  readonly host?: string;
  readonly headers?: readonly string[];
  readonly body?: Buffer | string;
}

async function send({ line, host = 'gateway', headers = [], body = '' }: Sent) {
  const before = provider.requests.length;
  const head = [`${line} HTTP/1.1`, `Host: ${host}`, `X-Gateway-Key: ${proxy.key}`, ...headers, '', ''].join('\r\n');
  const answer = await readRawAnswer('127.0.0.1', proxy.port, Buffer.concat([Buffer.from(head), Buffer.from(body)]));
  const code = answer.rawHeaders.indexOf('X-Gateway-Error');
  return {
    status: answer.status,
    code: code === -1 ? null : answer.rawHeaders[code + 1],
    body: answer.body.toString(),
    arrived: provider.requests.at(before) ?? null,
  };
}

/** Whatever is kept of calls and refused attempts. */
async function everythingKept(): Promise<string> {
  const entries = await proxy.entries();
  const bodies = entries.map((entry) => (entry.type === 'body' ? entry.body.bytes.toString('latin1') : ''));
  return bodies.join() + JSON.stringify([entries.filter(({ type }) => type !== 'body'), proxy.attempts]);
}

describe('an upstream with credentials', () => {
  const signed = ['X-Gateway-Provider-Alias: signed'];

  test.each<[string, Sent]>([
    [
      'a JSON call, the model with an encoded colon',
      { line: `POST /model/${MODEL.replace(':', '%3A')}/converse`, headers: ['Content-Length: 2'], body: '{}' },
    ],
    [
      'a model with encoded slashes',
      {
        line: 'POST /model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Fx/converse-stream',
        headers: ['Content-Length: 2'],
        body: '{}',
      },
    ],
    ['a model as it is', { line: `POST /model/${MODEL}/invoke`, headers: ['Content-Length: 2'], body: '{}' }],
    ['a query', { line: 'GET /async-invoke?maxResults=2&statusEquals=Completed&nextToken=a%2Fb%3D' }],
    [
      'a body of 1 MB',
      {
        line: `POST /model/${MODEL}/invoke`,
        headers: [`Content-Length: ${1_000_000}`],
        body: Buffer.alloc(1_000_000, 'y'),
      },
    ],
    [
      'a chunked body',
      {
        line: `POST /model/${MODEL}/invoke`,
        headers: ['Transfer-Encoding: chunked'],
        body: '5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n',
      },
    ],
    [
      'a client with a bearer key of its own',
      {
        line: `POST /model/${MODEL}/invoke`,
        headers: ['Authorization: Bearer the-clients-own-key', 'x-api-key: the-clients-own-key', 'Content-Length: 2'],
        body: '{}',
      },
    ],
    [
      'a client that signed with placeholders, in the headers and in the query',
      {
        line: 'GET /async-invoke?a=1&X-Amz-Signature=00&X-Amz-Credential=placeholder&X-Amz-SignedHeaders=host',
        headers: [
          'Authorization: AWS4-HMAC-SHA256 Credential=placeholder/20260101/us-east-1/bedrock/aws4_request, SignedHeaders=host;x-gateway-key, Signature=00',
          'X-Amz-Date: 20260101T000000Z',
          'X-Amz-Content-Sha256: placeholder',
          'X-Amz-Security-Token: placeholder',
          'X-Amz-User-Agent: aws-sdk-js/3',
        ],
      },
    ],
  ])('signs %s', async (_, sent) => {
    const { status, arrived } = await send({ ...sent, headers: [...signed, ...(sent.headers ?? [])] });
    expect(status).toBe(200);
    if (arrived === null) throw new Error('nothing arrived');
    expect(check(arrived)).toMatchObject({
      isValid: true,
      accessKeyId: 'AKIAGATEWAY000000000',
      region: 'eu-west-1',
      service: 'bedrock',
    });
    expect(arrived.header('host')).toBe(RUNTIME);
    expect(arrived.header('x-amz-security-token')).toBe(TOKEN);
    expect(arrived.headBytes.toString('latin1')).not.toMatch(/the-clients-own-key|placeholder|x-gateway/i);
    expect((await proxy.lastCall()).begin).toMatchObject({ provider: 'bedrock', region: 'eu-west-1' });
  });

  test('its credentials go to it alone, as a signature, whatever address, region or upstream the caller names', async () => {
    const line = 'GET /async-invoke?region=us-east-1&endpoint=https%3A%2F%2Fevil.example';
    const named = [
      'X-Amz-Region: us-east-1',
      'X-Forwarded-Host: evil.example',
      'X-Gateway-Endpoint: https://evil.example',
    ];
    for (const host of ['evil.example', 'bedrock-runtime.us-east-1.amazonaws.com', '169.254.169.254']) {
      const { status, arrived } = await send({ line, host, headers: [...signed, ...named] });
      expect(status).toBe(200);
      if (arrived === null) throw new Error('nothing arrived');
      expect(check(arrived)).toMatchObject({ isValid: true, region: 'eu-west-1', service: 'bedrock' });
      expect(arrived.header('host')).toBe(RUNTIME);
      expect(arrived.headBytes.toString('latin1')).not.toContain(SECRET);
    }
    // A provider that sends elsewhere is not followed.
    provider.setAnswer(() =>
      buildAnswer({ status: 307, headers: [['Location', `http://127.0.0.1:${provider.port}/elsewhere`]], body: '' }),
    );
    const before = provider.requests.length;
    expect((await send({ line, headers: signed })).status).toBe(307);
    expect(provider.requests.length).toBe(before + 1);
  });

  test('its credentials are not used for any other upstream', async () => {
    const line = 'GET /async-invoke';
    const { arrived } = await send({ line });
    expect(arrived?.headBytes.toString('latin1')).toMatch(/^GET \/async-invoke /);
    expect(arrived?.headBytes.toString('latin1')).not.toMatch(/authorization|x-amz|AKIAGATEWAY/i);
    const asOther = await send({ line, headers: [...signed, 'X-Gateway-Provider: openai'] });
    expect(asOther).toMatchObject({ status: 400, code: 'alias_unknown', arrived: null });
  });

  test('signs for the service that its host belongs to', async () => {
    const { arrived } = await send({
      line: 'POST /v1/messages',
      headers: ['X-Gateway-Provider: bedrock', 'X-Gateway-Provider-Alias: mantle', 'Content-Length: 2'],
      body: '{}',
    });
    if (arrived === null) throw new Error('nothing arrived');
    expect(arrived.target).toBe('/anthropic/v1/messages');
    expect(check(arrived)).toMatchObject({ isValid: true, region: 'us-east-1', service: 'bedrock-mantle' });
  });

  test('the same call with one byte changed does not verify', async () => {
    const { arrived } = await send({ line: 'GET /async-invoke?a=1', headers: signed });
    if (arrived === null) throw new Error('nothing arrived');
    const { method, rawHeaders } = arrived;
    const changed = { method, target: '/async-invoke?a=2', rawHeaders, body: Buffer.alloc(0) };
    expect(checkSignature(changed, SECRET).isValid).toBe(false);
  });

  test.each([
    ['declared', (bytes: number) => [`Content-Length: ${bytes}`], (body: Buffer) => body],
    [
      'chunked',
      () => ['Transfer-Encoding: chunked'],
      (body: Buffer) =>
        Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]),
    ],
  ])('refuses a body over 32 MiB, %s', async (_, headersFor, frame) => {
    const body = Buffer.alloc(33 * 1024 * 1024, 'y');
    const { status, code, arrived } = await send({
      line: `POST /model/${MODEL}/invoke`,
      headers: [...signed, ...headersFor(body.length)],
      body: frame(body),
    });
    expect([status, code, arrived]).toEqual([413, 'signing_body_too_large', null]);
  });
});

test('a websocket handshake is not signed: the client is told to use HTTP', async () => {
  const headers = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAA',
    'X-Gateway-Provider: openai',
    'X-Gateway-Provider-Alias: mantle',
  ];
  const { status, code, arrived } = await send({ line: 'GET /v1/realtime?model=m', headers });
  expect([status, code, arrived]).toEqual([426, 'upgrade_unsupported', null]);
});

test('no room for a large body, or no credentials: refused, with leave to try again', async () => {
  const { heldBodies } = proxy.gateway;
  heldBodies.take(HELD_BODIES_BYTES);
  const large = { line: `POST /model/${MODEL}/invoke`, body: Buffer.alloc(1_000_000, 'y') };
  const headers = ['X-Gateway-Provider-Alias: signed', 'Content-Length: 1000000'];
  expect(await send({ ...large, headers })).toMatchObject({ status: 503, code: 'signing_busy', arrived: null });
  heldBodies.give(HELD_BODIES_BYTES);
  expect(await send({ ...large, headers })).toMatchObject({ status: 200 });

  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_PROFILE']) vi.stubEnv(name, undefined);
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nowhere/credentials');
  vi.stubEnv('AWS_CONFIG_FILE', '/nowhere/config');
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  const refused = await send({ line: 'GET /async-invoke', headers: ['X-Gateway-Provider-Alias: ambient'] });
  vi.unstubAllEnvs();
  expect(refused).toMatchObject({ status: 503, code: 'aws_credentials_unavailable', arrived: null });
  expect((await proxy.lastCall()).begin.path).toBe(`/model/${MODEL}/invoke`);
});

describe('the SDKs with placeholder credentials, at an upstream with credentials', () => {
  const placeholders = { accessKeyId: 'AKIAPLACEHOLDER00000', secretAccessKey: 'placeholder' };

  function fixtureAnswer(name: string) {
    const fixture = listFixtures().find((known) => known.provider === 'bedrock' && known.name === name);
    if (fixture === undefined) throw new Error(`no fixture ${name}`);
    const { status, body } = fixture;
    const headers = Object.entries(fixture.headers).filter(([header]) => !/length|encoding/.test(header));
    return buildAnswer({ status, headers, body, framing: 'chunked' });
  }

  function connectAws(config: Partial<BedrockRuntimeClientConfig> = {}): BedrockRuntimeClient {
    const client = new BedrockRuntimeClient({
      region: 'us-east-1',
      endpoint: proxy.base,
      credentials: placeholders,
      maxAttempts: 1,
      authSchemePreference: ['aws.auth#sigv4'],
      requestHandler: new NodeHttpHandler(),
      ...config,
    });
    client.middlewareStack.add(
      (next) => (args) => {
        const { request } = args;
        if (typeof request === 'object' && request !== null && 'headers' in request) {
          Object.assign(Object(request.headers), {
            'X-Gateway-Key': proxy.key,
            'X-Gateway-Provider-Alias': 'signed',
            'X-Gateway-Feature': 'search',
          });
        }
        return next(args);
      },
      { step: 'build', name: 'gatewayHeaders' },
    );
    return client;
  }

  test('@aws-sdk/client-bedrock-runtime: whole and as a stream', async () => {
    const before = provider.requests.length;
    provider.setAnswer((request) => fixtureAnswer(request.target.endsWith('-stream') ? 'converse-stream' : 'converse'));
    const input = { modelId: MODEL, messages: [{ role: 'user' as const, content: [{ text: 'Hi' }] }] };
    const client = connectAws();
    const { usage } = await client.send(new ConverseCommand(input));
    const { stream } = await client.send(new ConverseStreamCommand(input));
    let events = 0;
    for await (const _ of stream ?? []) events += 1;
    client.destroy();
    expect(usage).toMatchObject({ outputTokens: 26 });
    expect(events).toBeGreaterThan(3);
    for (const arrived of provider.requests.slice(before)) {
      expect(check(arrived)).toMatchObject({ isValid: true, region: 'eu-west-1' });
      expect(arrived.headBytes.toString('latin1')).not.toMatch(/placeholder|x-gateway/i);
    }
    expect((await proxy.lastCall()).end).toMatchObject({ outcome: 'ok', usageSource: 'provider' });
  });

  test('@anthropic-ai/bedrock-sdk', async () => {
    provider.setAnswer(() =>
      buildAnswer({
        headers: [['Content-Type', 'application/json']],
        body: '{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"Hi"}],"usage":{"input_tokens":1,"output_tokens":2}}',
      }),
    );
    const client = new AnthropicBedrock({
      awsAccessKey: placeholders.accessKeyId,
      awsSecretKey: placeholders.secretAccessKey,
      awsRegion: 'us-east-1',
      baseURL: proxy.base,
      maxRetries: 0,
      defaultHeaders: { 'X-Gateway-Key': proxy.key, 'X-Gateway-Provider-Alias': 'signed' },
    });
    const message = await client.messages.create({
      model: MODEL,
      max_tokens: 8,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(message.content).toMatchObject([{ text: 'Hi' }]);
    const arrived = provider.requests.at(-1);
    if (arrived === undefined) throw new Error('nothing arrived');
    expect(arrived.target).toBe(`/model/${MODEL}/invoke`);
    expect(check(arrived)).toMatchObject({ isValid: true, service: 'bedrock' });
  });
});

describe('an upstream without credentials', () => {
  interface Signing {
    readonly host?: string;
    readonly path?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly service?: string;
  }

  /** What a client signs by itself, as header lines. */
  async function signAsClient({
    host = RUNTIME,
    path = `/model/${MODEL}/converse`,
    headers = {},
    service = 'bedrock',
  }: Signing) {
    const signer = new SignatureV4({
      service,
      region: 'eu-west-1',
      sha256: Sha256,
      credentials: { accessKeyId: 'AKIACLIENT0000000000', secretAccessKey: CLIENT_SECRET },
    });
    const request = { method: 'POST', protocol: 'https:', hostname: host, path, query: {}, body: '{}' };
    const signed = await signer.sign({ ...request, headers: { host, 'content-length': '2', ...headers } });
    return Object.entries(signed.headers)
      .filter(([name]) => name !== 'host')
      .map(([name, value]) => `${name}: ${value}`);
  }

  async function sendSigned(signing: Signing, more: readonly string[] = []) {
    const { host = RUNTIME, path = `/model/${MODEL}/converse` } = signing;
    const headers = [...(await signAsClient(signing)), ...more];
    return send({ line: `POST ${path}`, host, headers, body: '{}' });
  }

  test.each<[string, Signing]>([
    ['Bedrock’s own API', {}],
    ['an encoded model', { path: '/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Fx/converse' }],
    [
      'a compatible API, whose path is then not mapped',
      { path: '/v1/chat/completions', host: 'bedrock-mantle.eu-west-1.api.aws' },
    ],
    ['a path that only the host makes Bedrock’s', { path: '/anthropic/v1/messages' }],
    ['the dual-stack name', { host: 'bedrock-runtime.eu-west-1.api.aws' }],
  ])('passes a signature for the real host, which still holds: %s', async (_, signing) => {
    const { status, arrived } = await sendSigned(signing);
    expect(status).toBe(200);
    if (arrived === null) throw new Error('nothing arrived');
    expect(check(arrived, CLIENT_SECRET)).toMatchObject({ isValid: true, accessKeyId: 'AKIACLIENT0000000000' });
    expect(arrived.header('host')).toBe(signing.host ?? RUNTIME);
    expect((await proxy.lastCall()).begin).toMatchObject({ provider: 'bedrock', region: 'eu-west-1' });
  });

  test('@aws-sdk/client-bedrock-runtime, led here behind its signer as docs/bedrock.md says', async () => {
    const { port } = proxy;
    const client = new BedrockRuntimeClient({
      region: 'eu-west-1',
      credentials: { accessKeyId: 'AKIACLIENT0000000000', secretAccessKey: CLIENT_SECRET },
      requestHandler: new NodeHttpHandler(),
      maxAttempts: 1,
    });
    client.middlewareStack.add(
      (next) => (args) => {
        const request = Object(args.request);
        Object.assign(request, { protocol: 'http:', hostname: '127.0.0.1', port });
        request.headers['X-Gateway-Key'] = proxy.key;
        return next(args);
      },
      { step: 'finalizeRequest', priority: 'low', name: 'throughGateway' },
    );
    await client.send(new ConverseCommand({ modelId: MODEL, messages: [{ role: 'user', content: [{ text: 'Hi' }] }] }));
    client.destroy();
    const arrived = provider.requests.at(-1);
    if (arrived === undefined) throw new Error('nothing arrived');
    expect(check(arrived, CLIENT_SECRET)).toMatchObject({ isValid: true, region: 'eu-west-1' });
    expect(check(arrived, CLIENT_SECRET).signedHeaders).toContain('content-length');
  });

  test('passes a bearer key unchanged, to the host that is configured', async () => {
    const { arrived } = await send({
      line: `POST /model/${MODEL}/converse`,
      headers: ['Authorization: Bearer the-clients-own-key', 'Content-Length: 2'],
      body: '{}',
    });
    expect([arrived?.header('authorization'), arrived?.header('host')]).toEqual([
      'Bearer the-clients-own-key',
      `127.0.0.1:${provider.port}`,
    ]);
  });

  test.each<[string, Signing, readonly string[], string]>([
    ['the gateway’s own host', { host: '127.0.0.1:4141' }, [], 'signature_host'],
    [
      'a host that only looks like AWS’s',
      { host: 'bedrock-runtime.eu-west-1.amazonaws.com.evil.example' },
      [],
      'signature_host',
    ],
    ['an address inside', { host: '169.254.169.254' }, [], 'signature_host'],
    ['another port of AWS’s', { host: `${RUNTIME}:8443` }, [], 'signature_host'],
    ['another service of AWS’s', { host: 's3.eu-west-1.amazonaws.com' }, [], 'signature_host'],
    [
      'a private endpoint that is not configured',
      { host: 'vpce-0a1b-2c3d.bedrock-runtime.eu-west-1.vpce.amazonaws.com' },
      [],
      'signature_host',
    ],
    [
      'another region than the alias’s',
      { host: 'bedrock-runtime.us-east-1.amazonaws.com' },
      ['X-Gateway-Provider-Alias: ireland'],
      'signature_host',
    ],
    ['X-Gateway headers', { headers: { 'x-gateway-feature': 'search' } }, [], 'signature_gateway_headers'],
    ['headers of the hop', { headers: { 'http2-settings': 'AAA' } }, [], 'signature_hop_headers'],
    ['a header that Connection names', { headers: { 'x-hop': '1' } }, ['Connection: x-hop'], 'signature_hop_headers'],
    ['HTTP/2', { headers: { ':authority': RUNTIME } }, [], 'signature_http2'],
    ['a repaired path', { path: `/v1/model/${MODEL}/converse` }, [], 'signature_path'],
    ['a base address with a prefix', {}, ['X-Gateway-Provider-Alias: prefixed'], 'signature_path'],
  ])('refuses a signature that cannot hold, with the reason: %s', async (_, signing, more, code) => {
    const lines = (await signAsClient(signing)).filter((line) => !line.startsWith(':'));
    const { host = RUNTIME, path = `/model/${MODEL}/converse` } = signing;
    const refused = await send({ line: `POST ${path}`, host, headers: [...lines, ...more], body: '{}' });
    expect([refused.status, refused.code, refused.arrived]).toEqual([400, code, null]);
    expect(refused.body).not.toMatch(/AKIA|Signature=/);
  });

  test('refuses a query-signed request for the gateway’s host, and passes one for AWS’s', async () => {
    const query = 'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-SignedHeaders=host%3Bx-a&X-Amz-Signature=00';
    expect((await send({ line: `GET /async-invoke?${query}` })).code).toBe('signature_host');
    const passed = await send({ line: `GET /async-invoke?${query}`, host: RUNTIME });
    expect([passed.status, passed.arrived?.target]).toEqual([200, `/async-invoke?${query}`]);
  });

  test('a query-signed request by an alias gets no kept credential besides its signature', async () => {
    const { credentials } = proxy.gateway;
    credentials.current = new Map([['1 bedrock plain', { origin: provider.origin, value: 'the-kept-key' }]]);
    const byAlias = ['X-Gateway-Provider-Alias: plain'];
    const query = 'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-SignedHeaders=host&X-Amz-Signature=00';
    const signed = await send({ line: `GET /async-invoke?${query}`, host: RUNTIME, headers: byAlias });
    const unsigned = await send({ line: 'GET /async-invoke', headers: byAlias });
    credentials.current = null;
    expect([signed.status, signed.arrived?.header('authorization')]).toEqual([200, null]);
    expect(unsigned.arrived?.header('authorization')).toBe('Bearer the-kept-key');
  });
});

test('neither the gateway’s credentials nor a client’s are in any record or refused attempt', async () => {
  const kept = await everythingKept();
  expect(kept).toContain(MODEL);
  for (const secret of [
    SECRET,
    TOKEN,
    'AKIAGATEWAY',
    'the-clients-own',
    'AKIACLIENT',
    'AKIAPLACEHOLDER',
    'Signature=0',
  ]) {
    expect(kept).not.toContain(secret);
  }
});
