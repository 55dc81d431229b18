import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { accept } from './accept.ts';
import { splitGatewayHeaders } from './gateway-headers.ts';
import { HeaderNames } from './header-names.ts';
import { chooseRoute, type RouteSettings } from './route.ts';

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
  const request = accept(message, new HeaderNames());
  return chooseRoute(request, splitGatewayHeaders(request), settings);
}

test('a call signed for a host of AWS’s goes to that host by https, with the Host that was signed', () => {
  const host = 'Bedrock-Runtime.eu-west-1.amazonaws.com:443';
  expect(routeOf('/model/m/converse', ['Host', host, 'Authorization', SIGNED])).toMatchObject({
    ...{ origin: 'https://bedrock-runtime.eu-west-1.amazonaws.com', host, path: '/model/m/converse' },
    ...{ region: 'eu-west-1', isSignedByClient: true, signing: null },
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
      host,
    });
});

test('an unsigned call never goes where its Host says', () => {
  const host = 'bedrock-runtime.eu-west-1.amazonaws.com';
  expect(routeOf('/v1/messages', ['Host', 'evil.example', 'x-api-key', 'k'])).toMatchObject({
    ...{ origin: 'https://api.anthropic.com', host: null, isSignedByClient: false },
  });
  expect(routeOf('/v1/messages', ['Host', host, 'X-Gateway-Provider', 'anthropic', 'x-api-key', 'k'])).toMatchObject({
    origin: 'https://api.anthropic.com',
    host: null,
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
