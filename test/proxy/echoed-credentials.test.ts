/** What the log keeps of answers that repeat the request's credentials; what the client gets is untouched. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { type AnswerOptions, buildAnswer } from '../support/scripted-answer.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';

let provider: ScriptedProvider;
let proxy: InProcessProxy;
beforeAll(async () => {
  provider = await startScriptedProvider();
  proxy = await startProxy(provider.origin);
});
afterAll(async () => {
  await proxy.close();
  await provider.close();
});

const SECRET = 'sk-CANARY-0123456789abcdef';

interface Kept {
  readonly sent: string;
  readonly message: string | null;
  readonly body: string | null;
  readonly encoding: string | null | undefined;
}

async function call(answer: AnswerOptions, headers: Record<string, string>, path = '/v1/messages'): Promise<Kept> {
  provider.setAnswer(() => buildAnswer(answer));
  const response = await fetch(proxy.base + path, {
    method: 'POST',
    headers: { 'x-gateway-key': proxy.key, 'content-type': 'application/json', ...headers },
    body: '{"model":"m"}',
  });
  const sent = await response.text();
  const { begin, end } = await proxy.waitForCall(response.headers.get('x-gateway-request-id') ?? '');
  const bodies = (await proxy.entries()).filter((entry) => entry.type === 'body').map(({ body }) => body);
  const kept = bodies.find((body) => body.id === begin.id && body.direction === 'response');
  return { sent, message: end.errorMessage, body: kept?.bytes.toString() ?? null, encoding: kept?.contentEncoding };
}

function refusal(text: string): AnswerOptions {
  const body = JSON.stringify({ error: { type: 'auth', message: text } });
  return { status: 401, headers: [['content-type', 'application/json']], body };
}

test.each([
  ['authorization', `Bearer ${SECRET}`],
  ['x-api-key', SECRET],
  ['x-goog-api-key', SECRET],
  ['api-key', SECRET],
  ['cookie', `a=1; session=${SECRET}`],
  ['x-amz-security-token', SECRET],
])('an error that repeats %s is kept without it, and reaches the client with it', async (name, value) => {
  const kept = await call(refusal(`Incorrect key: ${SECRET}. See the docs.`), { [name]: value });
  expect(kept.sent).toContain(SECRET);
  expect(kept.message).toBe('Incorrect key: ***. See the docs.');
  expect(kept.body).toBe(kept.sent.replace(SECRET, '*'.repeat(SECRET.length)));
});

test('a key of the query is found as sent and as decoded', async () => {
  const kept = await call(refusal('Bad key CANARY+0123/45 or CANARY%2B0123%2F45'), {}, '/v1/x?key=CANARY%2B0123%2F45');
  expect(kept.message).toBe('Bad key *** or ***');
});

test('a compressed error is looked through, and kept plain when something was found', async () => {
  const { headers = [], body = '' } = refusal(`Wrong: ${SECRET}`);
  const zipped: AnswerOptions = { status: 403, headers, body, encoding: 'gzip' };
  const kept = await call(zipped, { 'x-api-key': SECRET });
  expect([kept.body, kept.encoding]).toEqual([body.toString().replace(SECRET, '*'.repeat(SECRET.length)), null]);
  const other = await call({ ...zipped, body: '{}' }, { 'x-api-key': SECRET });
  expect(other.encoding).toBe('gzip');
  const broken = { status: 403, headers: [...headers, ['content-encoding', 'gzip'] as const], body: 'not gzip' };
  // `fetch` cannot read it either.
  const unread = await call(broken, { 'x-api-key': SECRET }).catch(() => 'unreadable');
  expect(unread).toBe('unreadable');
  expect((await proxy.lastCall()).end.flags).toContain('undecodable');
});

test('a message that is cut at its limit does not end with the beginning of a credential', async () => {
  const kept = await call(refusal('x'.repeat(985) + SECRET), { 'x-api-key': SECRET });
  expect(kept.message).toBe(`${'x'.repeat(985)}***`);
});

test('of a body with its middle left out no part of a credential is kept, before and behind what is missing', async () => {
  const half = 512 * 1024;
  const places = [half - 12, half + 100_000 - SECRET.length + 12];
  const body = Buffer.alloc(2 * half + 100_000, 'x');
  for (const place of places) body.write(SECRET, place);
  const kept = await call({ status: 400, body }, { 'x-api-key': SECRET });
  expect(kept.body?.slice(half - 13, half + 13)).toBe(`x${'*'.repeat(24)}x`);
});

test.each([
  ['escaped slashes', 'CANARY\\/0123+45=='],
  ['escaped signs', 'CANARY/0123+45\\u003d\\u003d'],
  ['percent signs', 'CANARY%2F0123%2B45%3D%3D'],
])('a credential that is repeated with %s is kept without it', async (_, spelling) => {
  const kept = await call({ status: 403, body: `{"error":"${spelling}"}` }, { 'x-api-key': 'CANARY/0123+45==' });
  expect([kept.sent.includes(spelling), kept.body]).toEqual([true, `{"error":"${'*'.repeat(spelling.length)}"}`]);
});

const KEY = 'sk-proj-CANARY?0123>456789wxyz';
const bytesOf = (text: string, encoding: BufferEncoding) => Buffer.from(text).toString(encoding);

test.each([
  ['masked', 'sk-pr***wxyz'],
  ['masked with dots', 'sk-proj-CAN...wxyz'],
  ['masked with an ellipsis', 'sk-proj-…9wxyz'],
  ['masked with bullets', 'sk-p••••••wxyz'],
  ['masked but for its end', '****wxyz'],
  ['masked but for its beginning', 'sk-proj-CANA****'],
  ['as base64', bytesOf(KEY, 'base64')],
  ['as base64url', bytesOf(KEY, 'base64url')],
  ['within base64', bytesOf(`Bearer ${KEY}`, 'base64')],
  ['within base64, a byte later', bytesOf(`{"key":"${KEY}"}`, 'base64')],
  ['as hex', bytesOf(KEY, 'hex')],
  ['as hex in capitals', bytesOf(KEY, 'hex').toUpperCase()],
  ['percent-encoded', encodeURIComponent(KEY)],
  ['percent-encoded as a whole', bytesOf(KEY, 'hex').replace(/../g, '%$&')],
  ['percent-encoded twice', bytesOf(KEY, 'hex').replace(/../g, '%25$&')],
  ['in the references of HTML', Array.from(KEY, (one) => `&#${one.charCodeAt(0)};`).join('')],
  ['in the hex references of HTML', bytesOf(KEY, 'hex').replace(/../g, '&#x$&;')],
  ['in the escapes of source text', bytesOf(KEY, 'hex').replace(/../g, '\\x$&')],
  ['as a dump', bytesOf(KEY, 'hex').replace(/../g, '$& ')],
  ['as a list of numbers', Array.from(Buffer.from(KEY)).join(', ')],
  ['masked by a word', 'sk-proj-CANAR[REDACTED]wxyz'],
  ['masked with number signs', 'sk-p####wxyz'],
  ['in small letters', KEY.toLowerCase()],
  ['in capitals', KEY.toUpperCase()],
  ['without its beginning', KEY.slice(8)],
  ['by its beginning', KEY.slice(0, 18)],
  ['by its end', KEY.slice(-12)],
  ['broken over lines', `${KEY.slice(0, 16)}\n  ${KEY.slice(16)}`],
])('a key that an error repeats %s is kept without it', async (_, echo) => {
  const kept = await call(refusal(`Incorrect key ${echo} given`), { authorization: `Bearer ${KEY}` });
  expect(JSON.parse(kept.sent).error.message).toContain(echo);
  for (const text of [kept.message ?? '', kept.body ?? '']) {
    expect(text).toContain('Incorrect key ');
    // Three characters of base64 tell two bytes.
    for (let at = 0; at + 12 <= echo.length; at += 1)
      expect(text).not.toContain(JSON.stringify(echo.slice(at, at + 12)).slice(1, -1));
    expect(text).not.toContain('wxyz');
  }
});

test('the parts of Basic auth, which the provider decodes, are not kept', async () => {
  const encoded = bytesOf('CANARYname:CANARYpassword', 'base64');
  const kept = await call(refusal(`No CANARYname with CANARYpassword (${encoded}, CANARYname:CANARYpassword)`), {
    authorization: `Basic ${encoded}`,
  });
  expect(kept.message).toBe('No *** with *** (***, ***)');
});

test('a key in a path, in a nested address or without a name is found in an error', async () => {
  const target =
    '/v1/x/sk-CANARYpath012345;key=CANARYmatrix?sk-CANARYbare012345&callback=https%3A%2F%2Fa%2F%3Fapi_key%3DCANARYnested';
  const kept = await call(refusal(`no ${target} ${decodeURIComponent(target)}`), {}, target);
  expect(kept.message).not.toContain('CANARY');
  expect(kept.body).not.toContain('CANARY');
});

test('ordinary words with stars and dots are left as they are', async () => {
  const message =
    'The **model** is x... see docs/*** or skip it, xxxx; 1.2.3... Keys begin with sk-proj-. Internal error ---';
  for (const key of [KEY, 'my-internal-error-token', 'sk-proj-internal'])
    expect((await call(refusal(message), { authorization: `Bearer ${key}` })).message).toBe(message);
});

test('a credential and an answer of one letter keep the process busy for no more than a moment', async () => {
  const before = process.cpuUsage();
  await call({ status: 400, body: Buffer.alloc(200_000, 'a') }, { 'x-api-key': 'a'.repeat(12_000) });
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
});

test('an error event in a stream and a body that is cut are kept without it, in the checkpoint too', async () => {
  const event = `data: {"error":{"message":"no ${SECRET}","type":"t"}}\n\n`;
  const stream: AnswerOptions = { headers: [['content-type', 'text/event-stream']], body: event, framing: 'chunked' };
  const kept = await call(stream, { authorization: `Bearer ${SECRET}` }, '/v1/chat/completions');
  expect([kept.message, kept.body]).toEqual(['no ***', event.replace(SECRET, '*'.repeat(SECRET.length))]);
  const half = SECRET.slice(0, 12);
  const cut = await call(
    { ...refusal(`no ${half}`), body: `{"error":"${half}`, framing: 'close' },
    { authorization: `Bearer ${SECRET}` },
  );
  expect(cut.body).toBe('{"error":"************');
  expect(JSON.stringify(await proxy.entries()).includes(SECRET)).toBe(false);
});

test('a successful answer that repeats it is kept without it', async () => {
  const kept = await call({ body: `{"echo":"${SECRET}"}` }, { authorization: `Bearer ${SECRET}` });
  expect([kept.sent, kept.body]).toEqual([`{"echo":"${SECRET}"}`, `{"echo":"${'*'.repeat(SECRET.length)}"}`]);
});

test('what an answer says of itself is kept without it', async () => {
  const body = `{"model":"${SECRET}","service_tier":"t-${SECRET}","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`;
  await call(
    { headers: [['content-type', `application/json; echo=${SECRET}`]], body },
    { authorization: `Bearer ${SECRET}` },
    '/v1/chat/completions',
  );
  const { model, serviceTier } = (await proxy.lastCall()).end;
  expect([model, serviceTier]).toEqual(['***', 't-***']);
  expect(JSON.stringify(await proxy.entries()).includes(SECRET)).toBe(false);
});

test('its usage object is kept without it, also where the body is not read', async () => {
  const usage = `{"prompt_tokens":1,"completion_tokens":1,"billed_to":["k ${SECRET}"]}`;
  const body = `{"model":"m","choices":[],"usage":${usage}}`;
  await call(
    { headers: [['content-type', 'application/json']], body, encoding: 'gzip' },
    { authorization: `Bearer ${SECRET}` },
    '/v1/chat/completions',
  );
  expect((await proxy.lastCall()).end.usage?.native).toEqual({
    prompt_tokens: 1,
    completion_tokens: 1,
    billed_to: ['k ***'],
  });
});

test('no name in its usage object is the credential', async () => {
  const body = `{"model":"m","choices":[],"usage":{"prompt_tokens":1,"by_key":{"${SECRET}":1}}}`;
  await call(
    { headers: [['content-type', 'application/json']], body, encoding: 'gzip' },
    { authorization: `Bearer ${SECRET}` },
    '/v1/chat/completions',
  );
  expect((await proxy.lastCall()).end.usage?.native).toEqual({ prompt_tokens: 1, by_key: { '***': 1 } });
});

test('what a stream says of itself is in no checkpoint either', async () => {
  const usage = `{"prompt_tokens":1,"completion_tokens":1,"billed_to":"${SECRET}"}`;
  const body = `data: {"model":"${SECRET}","choices":[],"usage":${usage}}\n\ndata: [DONE]\n\n`;
  await call(
    { headers: [['content-type', 'text/event-stream']], body },
    { authorization: `Bearer ${SECRET}` },
    '/v1/chat/completions',
  );
  const checkpoints = (await proxy.entries()).filter(({ type }) => type === 'checkpoint');
  expect(checkpoints.length).toBeGreaterThan(0);
  expect(JSON.stringify(checkpoints).includes(SECRET)).toBe(false);
});

test.each([
  '/v1/realtime/client_secrets',
  '/v1/realtime/sessions',
  '/v1/organization/admin_api_keys',
  '/v1/organization/projects/p/service_accounts',
  '/v1alpha/auth_tokens',
  '/v1/webhook_endpoints/we_1/rotate_secret',
  '/v1/tunnels/t_1/reveal_token',
  '/v1/organizations/webhooks',
])('the body of an answer that is a credential is not kept: %s', async (path) => {
  const kept = await call({ body: '{"value":"ek_CANARY"}' }, { 'x-gateway-provider': 'openai' }, path);
  expect([kept.sent, kept.body]).toEqual(['{"value":"ek_CANARY"}', null]);
});

test('a key that was sent as the provider by mistake is not shown to the operator', async () => {
  await fetch(`${proxy.base}/v1/x`, { headers: { 'x-gateway-provider': SECRET } });
  const attempt = proxy.attempts.at(-1);
  expect([attempt?.code, attempt?.provider]).toEqual(['key_missing', '***']);
});
