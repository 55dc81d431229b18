import http2, { type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { LookupFunction } from 'node:net';
import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { install, run, step, uninstall } from './index.ts';

const HOST = 'bedrock-runtime.eu-west-1.amazonaws.com';
const ANSWER = JSON.stringify({ output: { message: { role: 'assistant', content: [{ text: 'Hello' }] } }, usage: {} });

/** A gateway that remembers what it was asked. */
const seen: http2.IncomingHttpHeaders[] = [];
const sessions = new Set<ServerHttp2Session>();
const gateway = http2.createServer();
gateway.on('session', (session) => sessions.add(session));
gateway.on('stream', (stream: ServerHttp2Stream, headers) => {
  seen.push(headers);
  stream.respond({ ':status': 200, 'content-type': 'application/json' });
  stream.end(ANSWER);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => void gateway.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  for (const session of sessions) session.destroy();
  gateway.close();
});
beforeEach(() => {
  const address = gateway.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  install({ url: `http://127.0.0.1:${address.port}/@tgr_run`, key: '' });
  seen.length = 0;
});
afterEach(uninstall);

/** No name is anywhere: what is not led has no address. */
const lookup: LookupFunction = (host, _, done) => {
  done(Object.assign(new Error(host), { code: 'ENOTFOUND' }), '', 4);
};

/** The status, or why there is none. */
async function ask(host: string, headers: http2.OutgoingHttpHeaders | readonly string[]): Promise<string> {
  const session = http2.connect(`https://${host}`, { lookup });
  session.on('error', () => {});
  const stream = session.request(headers);
  try {
    return await new Promise<string>((resolve) => {
      stream.on('error', (error: Error) => resolve(String(Reflect.get(Object(error.cause ?? error), 'code'))));
      stream.on('response', (answer) => resolve(String(answer[':status'])));
      stream.resume().end();
    });
  } finally {
    session.close();
  }
}

test('AWS’s client with an API key is led in HTTP/2, which it speaks by default, with its step', async () => {
  const client = new BedrockRuntimeClient({
    region: 'eu-west-1',
    token: { token: 'bedrock-api-key-1' },
    authSchemePreference: ['httpBearerAuth'],
  });
  const messages = [{ role: 'user' as const, content: [{ text: 'Hi' }] }];
  const answer = await run('r-1', { feature: 'search' }, () =>
    step('plan', () => client.send(new ConverseCommand({ modelId: 'eu.amazon.nova-lite-v1:0', messages }))),
  );
  expect(answer.output?.message?.content).toEqual([{ text: 'Hello' }]);
  expect(seen).toMatchObject([
    {
      ':authority': HOST,
      ':path': '/@tgr_run/model/eu.amazon.nova-lite-v1%3A0/converse',
      authorization: 'Bearer bedrock-api-key-1',
      'x-gateway-provider': 'bedrock',
      'x-gateway-trace-id': 'r-1',
      'x-gateway-span-path': 'plan',
      'x-gateway-feature': 'search',
    },
  ]);
});

test('what a signature covers in HTTP/2 is not led, nor what goes both ways, nor another host', async () => {
  const path = '/model/m/converse';
  const asked = { ':path': path, ':method': 'POST' };
  expect(await ask(HOST, { ...asked, authorization: 'AWS4-HMAC-SHA256 Credential=a' })).toBe('ENOTFOUND');
  expect(await ask(HOST, { ...asked, ':path': '/model/m/invoke-with-bidirectional-stream' })).toBe('ENOTFOUND');
  for (const host of ['api.openai.com', `${HOST}.example`, 'bedrock.eu-west-1.amazonaws.com'])
    expect(await ask(host, asked), host).toBe('ENOTFOUND');
  expect(seen).toEqual([]);
  expect(await ask(HOST, [':method', 'POST', ':path', path, 'X-Own', 'a'])).toBe('200');
  uninstall();
  expect(await ask(HOST, asked)).toBe('ENOTFOUND');
  expect(seen).toMatchObject([{ ':path': `/@tgr_run${path}`, 'x-own': 'a' }]);
});
