/** Run tokens on a whole gateway: made and ended by the API, known to every process at once, and after a restart. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { asRecord, readAdminFile, startGateway, type TestGateway, waitUntil } from './start-gateway.ts';

const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
});

let provider: ScriptedProvider;
let gateway: TestGateway;

beforeAll(async () => {
  provider = await startScriptedProvider({
    answer: () => buildAnswer({ headers: [['Content-Type', 'application/json']], body: ANSWER }),
  });
  gateway = await startGateway({ env: { TOLLGATE_UPSTREAM_OPENAI: provider.origin } });
});
afterAll(async () => {
  await gateway?.stop();
  await provider?.close();
});

async function make(asked: object): Promise<Record<string, unknown>> {
  return asRecord(await gateway.api('/api/v1/run-tokens', { method: 'POST', body: JSON.stringify(asked) }));
}

async function refusal(path: string, init: RequestInit): Promise<string> {
  const { token } = readAdminFile(gateway.dataDir);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(gateway.adminBase + path, { ...init, headers });
  return `${answer.status} ${String(asRecord(asRecord(await answer.json())['error'])['code'])}`;
}

async function call(address: unknown): Promise<{ status: number; code: string | null; id: string }> {
  const answer = await fetch(`${String(address)}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer sk-proj-0123456789abcdef' },
    body: '{"model":"gpt-4o-mini","messages":[]}',
  });
  await answer.text();
  const { headers } = answer;
  return {
    status: answer.status,
    code: headers.get('x-gateway-error'),
    id: headers.get('x-gateway-request-id') ?? '',
  };
}

test('a token is good when it was made, puts its calls in its run with its metadata, and is refused when ended', async () => {
  const made = await make({
    key: gateway.key,
    name: 'nightly',
    trace_id: 'nightly-1',
    span_path: 'ci/test',
    metadata: { Repo: 'shop', Branch: 'main' },
    ttl_seconds: 600,
  });
  expect(made).toMatchObject({
    name: 'nightly',
    trace_id: 'nightly-1',
    span_path: 'ci/test',
    provider: null,
    metadata: { Repo: 'shop', Branch: 'main' },
    ended_at: null,
  });
  expect(made['address']).toBe(`${gateway.base}/@${String(made['token'])}`);
  expect(Date.parse(String(made['expires_at'])) - Date.parse(String(made['created_at']))).toBe(600_000);

  const { status, id } = await call(made['address']);
  expect(status).toBe(200);
  expect(await gateway.waitForLog(id)).toMatchObject({
    trace_id: 'nightly-1',
    span_path: 'ci/test',
    key_id: made['key_id'],
    path: '/v1/chat/completions',
    raw_metadata: { Repo: 'shop', Branch: 'main' },
  });

  const path = `/api/v1/run-tokens/${String(made['id'])}`;
  const ended = asRecord(await gateway.api(path, { method: 'DELETE' }));
  expect(ended['ended_at']).toEqual(expect.any(String));
  expect(await call(made['address'])).toMatchObject({ status: 401, code: 'run_token_ended' });
  expect(await gateway.api(path, { method: 'DELETE' })).toEqual(ended);
  expect(await gateway.api(path)).toEqual(ended);
  const listed = await gateway.api('/api/v1/run-tokens');
  expect(listed).toMatchObject({ data: [ended] });
  expect(JSON.stringify(listed)).not.toContain(made['token']);
});

test('a token gets more time, also when its time is over, and none once it was ended', async () => {
  const made = await make({ key: gateway.key, ttl_seconds: 10 });
  const path = `/api/v1/run-tokens/${String(made['id'])}`;
  await waitUntil('its time is over', async () => ((await call(made['address'])).status === 401 ? true : undefined));
  const renew = (seconds: number) => ({ method: 'PATCH', body: JSON.stringify({ ttl_seconds: seconds }) });
  const renewed = asRecord(await gateway.api(path, renew(900)));
  expect(renewed['ended_at']).toBeNull();
  expect((await call(made['address'])).status).toBe(200);
  // 30 days from its making at most.
  const longest = asRecord(await gateway.api(path, renew(2_592_000)));
  expect(Date.parse(String(longest['expires_at'])) - Date.parse(String(made['created_at']))).toBe(2_592_000_000);
  await gateway.api(path, { method: 'DELETE' });
  expect(await refusal(path, renew(900))).toBe('409 run_token_ended');
  expect(await refusal('/api/v1/run-tokens/99999', renew(900))).toBe('404 run_token_not_found');
  expect(await call(made['address'])).toMatchObject({ status: 401, code: 'run_token_ended' });
});

test('a token ends with its key', async () => {
  const key = asRecord(await gateway.api('/api/v1/keys', { method: 'POST', body: '{"name":"short"}' }));
  const made = await make({ key_id: key['id'] });
  expect((await call(made['address'])).status).toBe(200);
  await gateway.api(`/api/v1/keys/${String(key['id'])}`, { method: 'DELETE' });
  expect(await call(made['address'])).toMatchObject({ status: 401, code: 'run_token_ended' });
  const asked = { method: 'POST', body: JSON.stringify({ key_id: key['id'] }) };
  expect(await refusal('/api/v1/run-tokens', asked)).toBe('409 key_unusable');
});

test('it outlives a restart of the gateway, and the end of its proxy process', async () => {
  const made = await make({ key: gateway.key, trace_id: 'kept' });
  const proxy = (await gateway.processes()).find(({ role }) => role === 'proxy');
  process.kill(proxy?.pid ?? 0, 'SIGKILL');
  await waitUntil('a new proxy process takes the token', async () => {
    const answer = await call(made['address']).catch(() => null);
    return answer?.status === 200 ? true : undefined;
  });
  const { dataDir, port, adminPort } = gateway;
  await gateway.stop({ remove: false });
  gateway = await startGateway({
    dataDir,
    ports: { port, adminPort },
    env: { TOLLGATE_UPSTREAM_OPENAI: provider.origin },
  });
  expect((await call(made['address'])).status).toBe(200);
});

test.each([
  ['a name that is a header of its own', { metadata: { 'Trace-Id': 'x' } }, '400 invalid_request'],
  ['a name that no header has', { metadata: { 'a b': 'x' } }, '400 invalid_request'],
  ['one name twice', { metadata: { Repo: 'a', repo: 'b' } }, '400 invalid_request'],
  ['a line end', { metadata: { Repo: 'a\nb' } }, '400 invalid_request'],
  [
    'too much',
    {
      metadata: { A: 'x'.repeat(900), B: 'x'.repeat(900), C: 'x'.repeat(900), D: 'x'.repeat(900), E: 'x'.repeat(900) },
    },
    '400 invalid_request',
  ],
  ['an end too far away', { ttl_seconds: 2_592_001 }, '400 invalid_request'],
  ['no provider', { provider: 'nobody' }, '400 invalid_request'],
  ['what is no key', { key: 'tgk_0' }, '400 invalid_request'],
  ['two keys', { key_id: 1, key: 'own' }, '400 invalid_request'],
  ['a key that is not there', { key_id: 99_999 }, '409 key_unusable'],
  ['no key where there are several', {}, '400 key_required'],
])('%s is refused', async (_, asked, expected) => {
  const body = JSON.stringify({
    ...('key' in asked || 'key_id' in asked || expected === '400 key_required' ? {} : { key: gateway.key }),
    ...asked,
  });
  expect(await refusal('/api/v1/run-tokens', { method: 'POST', body })).toBe(expected);
});

test('what is not there is not ended', async () => {
  expect(await refusal('/api/v1/run-tokens/99999', { method: 'DELETE' })).toBe('404 run_token_not_found');
  expect(await refusal('/api/v1/run-tokens/99999', {})).toBe('404 run_token_not_found');
});
