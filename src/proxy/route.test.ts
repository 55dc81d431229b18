import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { ClientNames } from './client-names.ts';
import { splitGatewayHeaders } from './gateway-headers.ts';
import { HeaderNames } from './header-names.ts';
import { chooseRoute, type RouteSettings } from './route.ts';
import { UpstreamHosts } from './upstream-place.ts';
import { validateRequest } from './validate-request.ts';

const SIGNED = 'AWS4-HMAC-SHA256 Credential=A/20260101/eu-west-1/bedrock/aws4_request, SignedHeaders=host, Signature=0';
const NOTHING: RouteSettings = { upstreams: {}, aliases: {} };

function routeOf(url: string, headers: readonly string[], settings: RouteSettings = NOTHING) {
  const message = new IncomingMessage(new Socket());
  message.url = url;
  message.method = 'POST';
  message.httpVersion = '1.1';
  message.httpVersionMajor = 1;
  message.httpVersionMinor = 1;
  message.rawHeaders = headers.includes('Host') ? [...headers] : ['Host', 'gate.example', ...headers];
  const request = validateRequest(message, new HeaderNames());
  return chooseRoute(request, splitGatewayHeaders(request, false, new ClientNames()), settings, new UpstreamHosts());
}

test('a call signed for a host of AWS’s goes to that host by https, with the Host that was signed', () => {
  const host = 'Bedrock-Runtime.eu-west-1.amazonaws.com:443';
  expect(routeOf('/model/m/converse', ['Host', host, 'Authorization', SIGNED])).toMatchObject({
    origin: 'https://bedrock-runtime.eu-west-1.amazonaws.com',
    path: '/model/m/converse',
    region: 'eu-west-1',
    signature: { host, isClients: true, signing: null },
  });
});

test('one signed for a configured private endpoint, or for the public name of it, goes there', () => {
  const origin = 'https://vpce-1-a.bedrock-runtime.eu-west-1.vpce.amazonaws.com';
  const settings: RouteSettings = { upstreams: { bedrock: { origin, region: 'eu-west-1' } }, aliases: {} };
  for (const host of [
    'vpce-1-a.bedrock-runtime.eu-west-1.vpce.amazonaws.com',
    'bedrock-runtime.eu-west-1.amazonaws.com',
  ])
    expect(routeOf('/model/m/converse', ['Host', host, 'Authorization', SIGNED], settings)).toMatchObject({
      origin,
      signature: { host },
    });
});

test('an unsigned call never goes where its Host says', () => {
  const host = 'bedrock-runtime.eu-west-1.amazonaws.com';
  expect(routeOf('/v1/messages', ['Host', 'evil.example', 'x-api-key', 'k'])).toMatchObject({
    origin: 'https://api.anthropic.com',
    signature: { host: null, isClients: false },
  });
  expect(routeOf('/v1/messages', ['Host', host, 'X-Gateway-Provider', 'anthropic', 'x-api-key', 'k'])).toMatchObject({
    origin: 'https://api.anthropic.com',
    signature: { host: null },
  });
});

test('an alias is one of the configured names, not whatever else an object answers to', () => {
  const local = { origin: 'http://127.0.0.1:1', region: null };
  const settings: RouteSettings = { upstreams: { openai: local }, aliases: { openai: { eu: local } } };
  const originOf = (alias: string) =>
    routeOf('/v1/responses', ['X-Gateway-Provider', 'openai', 'X-Gateway-Provider-Alias', alias], settings).origin;
  expect(originOf('EU')).toBe('http://127.0.0.1:1');
  for (const alias of ['constructor', '__proto__'])
    expect(() => originOf(alias)).toThrow(expect.objectContaining({ code: 'alias_unknown' }));
});

test('an alias at Bedrock’s mantle keeps the base that the client chose, also where a relay is signed for as it', () => {
  const origin = 'https://bedrock-mantle.us-east-1.api.aws';
  const host = 'bedrock-mantle.us-east-1.api.aws';
  const aws = { host, service: 'bedrock-mantle', region: 'us-east-1', credentials: 'ambient' as const };
  const settings: RouteSettings = {
    upstreams: {},
    aliases: {
      bedrock: {
        mantle: { origin, region: 'us-east-1' },
        relay: { origin: 'http://relay.internal/aws', region: 'us-east-1', aws },
        runtime: { origin: 'https://bedrock-runtime.us-east-1.amazonaws.com', region: 'us-east-1' },
      },
    },
  };
  const pathOf = (path: string, alias: string) =>
    routeOf(path, ['X-Gateway-Provider', 'bedrock', 'X-Gateway-Provider-Alias', alias], settings);
  expect(pathOf('/v1/responses', 'mantle')).toMatchObject({
    origin,
    path: '/v1/responses',
    endpoint: { family: 'responses', format: 'responses' },
  });
  expect(pathOf('/responses', 'mantle')).toMatchObject({ path: '/v1/responses', isRepaired: true });
  expect(pathOf('/openai/v1/responses', 'mantle').path).toBe('/openai/v1/responses');
  expect(pathOf('/v1/messages', 'mantle').path).toBe('/anthropic/v1/messages');
  expect(pathOf('/v1/responses', 'relay').path).toBe('/aws/v1/responses');
  expect(pathOf('/v1/responses', 'runtime').path).toBe('/openai/v1/responses');
});

test('a call of one provider is not led to another by its signature: it would be recorded and priced as the wrong one', () => {
  const signed = ['Host', 'bedrock-runtime.eu-west-1.amazonaws.com', 'Authorization', SIGNED];
  for (const provider of ['openai', 'anthropic', 'deepseek'])
    expect(() => routeOf('/v1/responses', [...signed, 'X-Gateway-Provider', provider])).toThrow(
      expect.objectContaining({ code: 'signature_host' }),
    );
  expect(() =>
    routeOf('/v1/responses?X-Amz-Signature=0', [...signed.slice(0, 2), 'X-Gateway-Provider', 'openai']),
  ).toThrow(expect.objectContaining({ code: 'signature_host' }));
  const host = 'aws-external-anthropic.us-east-1.api.aws';
  expect(routeOf('/v1/messages', ['Host', host, 'Authorization', SIGNED]).origin).toBe(`https://${host}`);
});

test('only an address that the operator named may be private: not the built-in ones, not what follows from a region', () => {
  const host = 'bedrock-runtime.eu-west-1.amazonaws.com';
  const signed = ['Host', host, 'Authorization', SIGNED];
  const derived: RouteSettings = {
    upstreams: { bedrock: { origin: `https://${host}`, region: 'eu-west-1', isBuiltIn: true } },
    aliases: {},
  };
  const named: RouteSettings = { upstreams: { bedrock: { origin: `https://${host}`, region: null } }, aliases: {} };
  const path = '/model/m/converse';
  expect(routeOf('/v1/messages', ['x-api-key', 'k']).mayBePrivate).toBe(false);
  expect(routeOf(path, signed).mayBePrivate).toBe(false);
  expect(routeOf(path, [], derived)).toMatchObject({ origin: `https://${host}`, mayBePrivate: false });
  expect(routeOf(path, [], named)).toMatchObject({ origin: `https://${host}`, mayBePrivate: true });
});

test('a region that is none never becomes a part of a host', () => {
  for (const region of [
    'us-east-1.evil.example',
    'us-east-1.evil.example#',
    'evil.example/',
    'us-east-1@evil',
    'eu-west-1%23',
  ]) {
    const arn = encodeURIComponent(`arn:aws:bedrock:${region}:1:inference-profile/m`);
    const scope = `AWS4-HMAC-SHA256 Credential=A/20260101/${region}/bedrock/aws4_request, SignedHeaders=x, Signature=0`;
    const origin = 'https://bedrock-runtime.us-east-1.amazonaws.com';
    expect(routeOf(`/model/${arn}/converse`, [])).toMatchObject({ origin, region: 'us-east-1' });
    const signed = () =>
      routeOf('/model/m/converse', ['Host', `bedrock-runtime.${region}.amazonaws.com`, 'Authorization', scope]);
    expect(signed).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^(?:signature_host|host_invalid)$/) }),
    );
  }
});

test('a server of the operator’s own takes whatever credential, as an alias; a provider’s host under another name does not', () => {
  const own = { origin: 'http://10.0.0.1:8000', region: null };
  const eu = { origin: 'https://eu.api.openai.com', region: null };
  const other = { origin: 'https://api.fireworks.ai/inference', region: null };
  const settings: RouteSettings = { upstreams: {}, aliases: { openai: { own, eu, other } } };
  const originOf = (alias: string, credential: string, ...more: string[]) =>
    routeOf(
      '/v1/chat/completions',
      ['X-Gateway-Provider-Alias', alias, 'Authorization', `Bearer ${credential}`, ...more],
      settings,
    ).origin;
  const named = ['X-Gateway-Provider', 'openai'];
  expect(originOf('own', 'sk-ant-0', ...named)).toBe('http://10.0.0.1:8000');
  expect(originOf('own', 'sk-ant-0')).toBe('http://10.0.0.1:8000');
  expect(originOf('other', 'fw_0', ...named)).toBe('https://api.fireworks.ai');
  expect(originOf('eu', 'sk-proj-0', ...named)).toBe('https://eu.api.openai.com');
  for (const [alias, credential] of [
    ['eu', 'sk-ant-0'],
    ['other', 'sk-proj-0'],
  ] as const)
    expect(() => originOf(alias, credential, ...named)).toThrow(
      expect.objectContaining({ code: 'credential_of_other_provider' }),
    );
});

test('what the gateway’s own signature replaces may be anything; what goes on beside it may not', () => {
  const keys = { accessKeyId: 'A', secretAccessKey: 'S', sessionToken: null };
  const host = 'bedrock-runtime.eu-west-1.amazonaws.com';
  const aws = { host, service: 'bedrock', region: 'eu-west-1', credentials: keys };
  const settings: RouteSettings = {
    upstreams: { bedrock: { origin: `https://${host}`, region: 'eu-west-1', aws } },
    aliases: {},
  };
  const signed = (name: string, value: string) => () =>
    routeOf('/model/m/converse', ['X-Gateway-Provider', 'bedrock', name, value], settings);
  expect(signed('x-api-key', 'sk-ant-0')().origin).toBe(`https://${host}`);
  expect(signed('api-key', 'sk-ant-0')).toThrow(expect.objectContaining({ code: 'credential_of_other_provider' }));
});

test('the refusal names both providers and the header to set, and nothing of the credential', () => {
  try {
    routeOf('/v1/responses', ['X-Gateway-Provider', 'openai', 'x-api-key', 'sk-ant-secret']);
    expect.unreachable();
  } catch (error) {
    expect(error).toMatchObject({
      code: 'credential_of_other_provider',
      detail: 'a credential of anthropic, and the call is for openai; X-Gateway-Provider: anthropic sends it there',
    });
  }
});

test('digests, signatures and ids of retries are no keys, however much they look like one', () => {
  const digest = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  for (const header of [
    ['Idempotency-Key', digest],
    ['Cookie', `session=${digest}`],
    ['x-amz-content-sha256', digest],
  ])
    expect(routeOf('/v1/responses', ['Authorization', 'Bearer k', ...header]).provider.name).toBe('openai');
  expect(routeOf(`/v1/responses?after=${digest}`, ['Authorization', 'Bearer k']).provider.name).toBe('openai');
});

test.each([
  ['https://eu.api.openai.com', 'eu'],
  ['https://us.api.openai.com/v1', 'us'],
  ['https://JP.api.openai.com:443', 'jp'],
  ['https://api.openai.com', null],
  ['http://127.0.0.1:9', null],
  ['http://relay:8080', null],
  ['https://egress.acme.internal', null],
  ['https://acme.openai.azure.com', 'acme.openai.azure.com'],
  ['https://openrouter.ai/api', 'openrouter.ai'],
  ['https://api.together.ai', 'api.together.ai'],
])('an alias to %s is served at %s', (origin, region) => {
  const settings: RouteSettings = { upstreams: {}, aliases: { openai: { other: { origin, region: null } } } };
  const headers = ['X-Gateway-Provider', 'openai', 'X-Gateway-Provider-Alias', 'other'];
  expect(routeOf('/v1/responses', headers, settings).region).toBe(region);
});

test('Fireworks’ address for the United States is a place, since it has prices of its own', () => {
  const us = { origin: 'https://us.api.fireworks.ai', region: null };
  const settings: RouteSettings = { upstreams: {}, aliases: { fireworks: { us } } };
  const headers = ['X-Gateway-Provider', 'fireworks', 'X-Gateway-Provider-Alias', 'us', 'Authorization', 'Bearer fw_0'];
  expect(routeOf('/v1/chat/completions', headers, settings).region).toBe('us');
});

test.each([
  ['https://eu.api.openai.com', 'eu'],
  ['https://acme.openai.azure.com', 'acme.openai.azure.com'],
  // The operator says that it leads to the provider.
  ['https://egress.acme.com', null],
])('the provider at %s is served at %s', (origin, region) => {
  const settings: RouteSettings = { upstreams: { openai: { origin, region: null } }, aliases: {} };
  expect(routeOf('/v1/responses', ['X-Gateway-Provider', 'openai'], settings).region).toBe(region);
});
