import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';

let provider: ScriptedProvider;
let proxy: InProcessProxy;

beforeAll(async () => {
  provider = await startScriptedProvider({ answer: () => buildAnswer({ body: '{}' }) });
  proxy = await startProxy(provider.origin);
});
afterAll(async () => {
  await proxy.close();
  await provider.close();
});

test.each([
  ['key=CANARY&alt=sse', 'key=***&alt=sse'],
  ['k%65y=CANARY', 'k%65y=***'],
  ['%6b%65%79=CANARY', '%6b%65%79=***'],
  ['api_key%5B%5D=CANARY', 'api_key%5B%5D=***'],
  ['api_key[]=CANARY', 'api_key[]=***'],
  ['key%20=CANARY', 'key%20=***'],
  ['key+=CANARY', 'key+=***'],
  ['a=1;key=CANARY', 'a=1;key=***'],
  ['key=CANARY;CANARY&a=1', 'key=***&a=1'],
  ['auth=CANARY&Authorization=CANARY&jwt=CANARY', 'auth=***&Authorization=***&jwt=***'],
  ['%zz=1&sig=CANARY', '%zz=1&sig=***'],
  ['code=CANARY&bearer=CANARY&state=1', 'code=***&bearer=***&state=1'],
  ['sk-CANARY0123456789', '***'],
  ['a=1&sk-proj-CANARY0123456789&b=2', 'a=1&***&b=2'],
  ['q=s%6b-CANARY0123456789', 'q=***'],
  ['callback=https://a.example/?api_key=CANARY', 'callback=***'],
  ['callback=https%3A%2F%2Fa.example%2F%3Fapi_key%3DCANARY', 'callback=***'],
  ['callback=https%253A%252F%252Fa.example%252F%253Fapi_key%253DCANARY', 'callback=***'],
  ['callback=https%3A%2F%2Fa.example%2F%23access_token%3DCANARY&a=1', 'callback=***&a=1'],
  ['url=https%3A%2F%2Fa.example%2F%3Fpage%3D2', 'url=https%3A%2F%2Fa.example%2F%3Fpage%3D2'],
  ['session=CANARY&sid=CANARY&hmac=CANARY', 'session=***&sid=***&hmac=***'],
  ['a=Bearer%20CANARY0123456789&b=Basic+CANARY0123456789', 'a=***&b=***'],
  ['proxy=https://user:CANARY@a.example/&b=1', 'proxy=***&b=1'],
  ['q=Bearer%20understanding&u=https://a.example:8080/x@y', 'q=Bearer%20understanding&u=https://a.example:8080/x@y'],
  ['max_tokens=5&keyword=x&author=y&key', 'max_tokens=5&keyword=x&author=y&key'],
  ['language_code=de&barcode=1&after=task-0123456789abcdef', 'language_code=de&barcode=1&after=task-0123456789abcdef'],
])('of the query %j the log keeps %j; the provider gets it as it is', async (query, logged) => {
  const seen = provider.requests.length;
  await readRawAnswer(
    '127.0.0.1',
    proxy.port,
    `GET /v1/models?${query} HTTP/1.1\r\nHost: a\r\nX-Gateway-Key: ${proxy.key}\r\n\r\n`,
  );
  expect((await proxy.lastCall()).begin.path).toBe(`/v1/models?${logged}`);
  expect((await provider.waitForRequest(seen)).requestLine).toContain(`?${query} `);
});

/** Whose forms those are: nobody else is sent them. */
const OWNERS = [
  ['/sk-ant-', 'anthropic'],
  ['/fw_', 'fireworks'],
  ['/tgp_', 'together'],
  ['/AIza', 'gemini'],
  ['/ABSK', 'bedrock'],
] as const;

/** Documentation's own examples, and made-up ones of the same form. */
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJDQU5BUlkifQ.c2lnbmF0dXJl';
test.each([
  ['/v1/models;key=CANARY', '/v1/models;key=***'],
  ['/v1/models;v=1;key=CANARY/x', '/v1/models;v=1;key=***/x'],
  ['/v1/models%3Fkey=CANARY', '/v1/models%3Fkey=***'],
  ['/v1/models%3Fkey%3DCANARY', '/v1/***'],
  ['/v1/models%253Fkey%253DCANARY', '/v1/***'],
  ['/v1/key=CANARY/models', '/v1/key=***/models'],
  ['/v1/sk-CANARY0123456789/models', '/v1/***/models'],
  ['/v1/sk-ant-api03-CANARY0123456789', '/v1/***'],
  ['/v1/fw_CANARY0123456789', '/v1/***'],
  ['/v1/tgp_v1_CANARY0123456789', '/v1/***'],
  [`/v1/${'0123456789abcdef'.repeat(4)}/x`, '/v1/***/x'],
  ['/v1beta/models/AIzaSyCANARY0123456789abcdefghij:countTokens', '/v1beta/models/***:countTokens'],
  ['/v1/AKIACANARY0123456789', '/v1/***'],
  ['/v1/ABSKCANARY0123456789QUJD=', '/v1/***'],
  [`/v1/x/${JWT}`, '/v1/x/***'],
  ['/v1/tgk_CANARY0123456789abcdefghij', '/v1/***'],
  ['/v1/x/%73k-CANARY0123456789', '/v1/x/***'],
  ['/v1/x/CANARYsent0123', '/v1/x/***'],
  ['/v1/models/ft:gpt-4o:acme::task-0123456789ab', '/v1/models/ft:gpt-4o:acme::task-0123456789ab'],
  [`/v1/responses/resp_${'0123456789abcdef'.repeat(4)}`, `/v1/responses/resp_${'0123456789abcdef'.repeat(4)}`],
  [
    '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ax%2Fy/converse',
    '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ax%2Fy/converse',
  ],
])('of the path %s the log keeps %s; the provider gets it as it is', async (path, logged) => {
  const owner = OWNERS.find(([form]) => path.includes(form))?.[1] ?? 'openai';
  const seen = provider.requests.length;
  await readRawAnswer(
    '127.0.0.1',
    proxy.port,
    `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Gateway-Key: ${proxy.key}\r\nX-Gateway-Provider: ${owner}\r\nApi-Key: CANARYsent0123\r\n\r\n`,
  );
  expect((await proxy.lastCall()).begin.path).toBe(logged);
  expect((await provider.waitForRequest(seen)).requestLine).toContain(`${path} `);
});

test('a key that was sent as the alias by mistake is not kept as a label', async () => {
  const head = ['GET /v1/models HTTP/1.1', 'Host: a', `X-Gateway-Key: ${proxy.key}`, 'X-Gateway-Provider: together'];
  for (const alias of ['tgp_v1_CANARY0123456789', 'CANARYsent0123456']) {
    const lines = [...head, 'Authorization: Bearer CANARYsent0123456', `X-Gateway-Provider-Alias: ${alias}`];
    await readRawAnswer('127.0.0.1', proxy.port, `${lines.join('\r\n')}\r\n\r\n`);
    expect((await proxy.lastCall()).begin.providerAlias).toBe('***');
  }
});

test('a credential in another header, in the model of a path or in the name of the program is not kept', async () => {
  const secret = 'CANARYsent0123456';
  const lines = [
    'POST /v1beta/models/AIzaSyCANARY0123456789abcdefghij:generateContent HTTP/1.1',
    'Host: a',
    `X-Gateway-Key: ${proxy.key}`,
    `X-Goog-Api-Key: ${secret}`,
    `User-Agent: ${secret}/1.0 x`,
    `Accept: a/b;key=${secret}`,
    `Content-Type: application/json; boundary=${secret}`,
    `X-Request-Id: ${secret}`,
    `anthropic-beta: ${secret}`,
    `openai-organization: ${secret}`,
    `openai-beta: ${proxy.key}`,
    'Content-Length: 2',
  ];
  const seen = provider.requests.length;
  await readRawAnswer('127.0.0.1', proxy.port, `${lines.join('\r\n')}\r\n\r\n{}`);
  const { begin, end } = await proxy.lastCall();
  expect(JSON.stringify([begin, end, await proxy.entries()])).not.toContain(secret);
  expect(JSON.stringify([begin, end])).not.toContain(proxy.key);
  expect([begin.client, begin.modelRequested]).toEqual(['***', '***']);
  expect(Object.fromEntries(end.requestHeaders)).toMatchObject({
    'user-agent': '***/1.0 x',
    'content-type': 'application/json; boundary=***',
    accept: 'a/b;key=***',
  });
  expect((await provider.waitForRequest(seen)).header('user-agent')).toBe(`${secret}/1.0 x`);
});

test('refused attempts are shown without it', async () => {
  await readRawAnswer(
    '127.0.0.1',
    proxy.port,
    'GET /v1/sk-CANARY0123456789;key=CANARY HTTP/1.1\r\nHost: a\r\nUser-Agent: sk-CANARY0123456789\r\n\r\n',
  );
  expect(proxy.attempts.at(-1)).toMatchObject({ path: '/v1/***', userAgent: '***' });
});
