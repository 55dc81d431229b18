/** Alerts on a whole gateway: what is found goes to a webhook, to Slack and by mail, signed, tried again, and once each. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { asRecord, findFreePort, startGateway, type TestGateway, waitUntil } from './start-gateway.ts';

interface Received {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Whatever was asked for. */
let served = 'gpt-4o-mini';
const answerOf = (model: string) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model,
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
});

const received: Received[] = [];
const mails: string[] = [];
/** Answers of the receiver, in order; 200 afterwards. */
const statuses: number[] = [];
let receiver: Server;
let mailServer: SMTPServer;
let provider: ScriptedProvider;
let gateway: TestGateway;
let origin: string;

beforeAll(async () => {
  receiver = createServer((request, answer) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      received.push({ path: request.url ?? '', headers: request.headers, body });
      answer
        .writeHead(statuses.shift() ?? 200, { location: 'http://127.0.0.1:1/' })
        .end('a secret of the inner network');
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const mailPort = await findFreePort();
  mailServer = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: false,
    onAuth: ({ username, password }, _session, done) =>
      username === 'gate' && password === 'hunter2' ? done(null, { user: 'gate' }) : done(new Error('wrong password')),
    onData: (stream, session, done) => {
      let text = `${session.envelope.rcptTo.map(({ address }) => address).join(' ')}\n`;
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      stream.on('end', () => {
        mails.push(text);
        done();
      });
    },
  });
  await new Promise<void>((resolve) => mailServer.listen(mailPort, '127.0.0.1', resolve));
  provider = await startScriptedProvider({
    answer: () =>
      buildAnswer({ headers: [['Content-Type', 'application/json']], body: JSON.stringify(answerOf(served)) }),
  });
  gateway = await startGateway({
    env: {
      TOLLGATE_UPSTREAM_OPENAI: provider.origin,
      TOLLGATE_ALERT_HOSTS: '127.0.0.1',
      TOLLGATE_SMTP_URL: `smtp://gate:hunter2@127.0.0.1:${mailPort}`,
      TOLLGATE_SMTP_FROM: 'gate@example.com',
    },
  });
});
afterAll(async () => {
  await gateway?.stop();
  await provider?.close();
  receiver?.close();
  await new Promise<void>((resolve) => mailServer?.close(() => resolve()));
});

const post = async (path: string, body: object) =>
  asRecord(await gateway.api(`/api/v1/${path}`, { method: 'POST', body: JSON.stringify(body) }));

async function call(): Promise<string> {
  const answer = await fetch(`${gateway.base}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer sk-proj-0123456789abcdef',
      'x-gateway-key': gateway.key,
      'x-gateway-trace-id': 'noisy',
    },
    body: JSON.stringify({ model: served, messages: [] }),
  });
  await answer.text();
  return answer.headers.get('x-gateway-request-id') ?? '';
}

async function deliveries(alertId: unknown): Promise<readonly Record<string, unknown>[]> {
  const { data } = asRecord(await gateway.api(`/api/v1/alert-deliveries?alert_id=${String(alertId)}`));
  return Array.isArray(data) ? data.map(asRecord) : [];
}

test('a question over the log is told to a webhook, to Slack and by mail, once while it lasts', async () => {
  const webhook = await post('alert-destinations', { kind: 'webhook', name: 'pager', url: `${origin}/hook` });
  expect(webhook['secret']).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  const slack = await post('alert-destinations', {
    kind: 'slack',
    name: 'team',
    url: `${origin}/services/T0/B0/secret`,
  });
  expect(slack).toMatchObject({ address: `https://${new URL(origin).host}/…`, secret: null });
  const mail = await post('alert-destinations', {
    kind: 'email',
    name: 'office',
    to: ['a@example.com', 'b@example.com'],
  });
  const listed = JSON.stringify(await gateway.api('/api/v1/alert-destinations'));
  expect(listed).not.toContain(String(webhook['secret']));
  expect(listed).not.toContain('B0/secret');

  expect(await gateway.api(`/api/v1/alert-destinations/${String(webhook['id'])}/test`, { method: 'POST' })).toEqual({
    is_sent: true,
    status: 200,
    error: null,
  });
  expect(JSON.parse(received.shift()?.body ?? '')).toMatchObject({ type: 'alert.test' });

  for (let number = 0; number < 3; number += 1) await gateway.waitForLog(await call());
  // The first try fails; its repetition has the same id.
  statuses.push(500);
  const question = { filters: ['trace_id:eq:noisy'], measure: 'calls', window_seconds: 3_600, threshold: '3' };
  const alert = await post('alerts', {
    name: 'noisy <run>',
    kind: 'question',
    settings: question,
    destinations: [webhook['id'], slack['id'], mail['id']],
  });
  const sent = await waitUntil(
    'three deliveries are sent',
    async () => {
      const rows = await deliveries(alert['id']);
      return rows.length === 3 && rows.every(({ state }) => state === 'sent') ? rows : undefined;
    },
    90_000,
  );
  expect(sent.map(({ destination_name: name }) => name).sort()).toEqual(['office', 'pager', 'team']);
  expect(sent.map(({ attempts }) => Number(attempts)).sort()).toEqual([1, 1, 2]);

  const hooks = received.filter(({ path }) => path === '/hook');
  const ids = received.filter(({ path }) => path === '/hook').map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(1);
  const last = hooks.at(-1);
  const verified = new Webhook(String(webhook['secret'])).verify(last?.body ?? '', {
    'webhook-id': String(last?.headers['webhook-id']),
    'webhook-timestamp': String(last?.headers['webhook-timestamp']),
    'webhook-signature': String(last?.headers['webhook-signature']),
  });
  expect(verified).toMatchObject({
    type: 'alert.fired',
    data: {
      account_id: 1,
      alert: { id: alert['id'], name: 'noisy <run>', kind: 'question' },
      title: 'noisy <run>: 3 calls',
      numbers: { sum: '3', threshold: '3', window_seconds: 3_600 },
    },
  });
  const told = received.filter(({ path }) => path === '/services/T0/B0/secret');
  expect(JSON.parse(told.at(-1)?.body ?? '')).toMatchObject({
    text: expect.stringContaining('*noisy &lt;run&gt;: 3 calls*'),
  });
  expect(mails).toHaveLength(1);
  expect(mails[0]).toContain('a@example.com b@example.com');
  expect(mails[0]).toMatch(/Subject: noisy <run>: 3 calls/);

  // It lasts, so it is not told again.
  await gateway.waitForLog(await call());
  const problem = asRecord(await gateway.api('/api/v1/alerts'));
  expect(problem).toMatchObject({ data: [{ id: alert['id'], problem: null, is_on: true }] });
  expect(await deliveries(alert['id'])).toHaveLength(3);

  expect(await post('alerts/preview', question)).toMatchObject({ fired: 1, highest: '4', step_seconds: 60 });
  expect(await post('alerts/preview', { ...question, threshold: '5' })).toMatchObject({
    fired: 0,
    times: [],
    highest: '4',
  });
});

test('hits of brakes and calls without a price are told once each', async () => {
  served = 'a-model-of-nobody';
  const brake = await post('alerts', { name: 'runaway', kind: 'brake' });
  const unpriced = await post('alerts', { name: 'no price', kind: 'unpriced' });
  await gateway.api('/api/v1/brakes/call_rate/run', {
    method: 'PUT',
    body: '{"action":"pause","settings":{"calls":2}}',
  });
  for (let number = 0; number < 4; number += 1) await call();
  const titles = async (id: unknown) => (await deliveries(id)).map(({ title }) => title);
  const found = await waitUntil(
    'the hit and the model are found',
    async () => {
      const all = [await titles(brake['id']), await titles(unpriced['id'])];
      return all.every(({ length }) => length > 0) ? all : undefined;
    },
    90_000,
  );
  expect(found).toEqual([['runaway: run noisy is paused'], ['no price: no price for a-model-of-nobody of openai']]);
});

test('addresses that are not public are refused unless the operator names their host, and so are unknown destinations', async () => {
  const make = (url: string) => post('alert-destinations', { kind: 'webhook', name: 'inner', url });
  await expect(make('https://10.0.0.7/hook')).rejects.toThrow(/400.*not public/);
  await expect(make('https://[::1]/hook')).rejects.toThrow(/400.*not public/);
  await expect(make('https://localhost/hook')).rejects.toThrow(/400.*not public/);
  await expect(make('http://example.com/hook')).rejects.toThrow(/400.*https/);
  await expect(make('https://user:pass@example.com/')).rejects.toThrow(/400.*user name/);
  await expect(post('alerts', { name: 'x', kind: 'jobs', destinations: [999] })).rejects.toThrow(/400.*destination/);
  await expect(post('alerts', { name: 'x', kind: 'question', settings: { measure: 'cost' } })).rejects.toThrow('400');
  await expect(post('alerts', { name: 'x', kind: 'budget', settings: { percents: 5 } })).rejects.toThrow('400');
  // A redirect is not followed, and nothing of the answer is shown.
  statuses.push(302);
  const { id } = await make(`${origin}/moved`);
  const test = await gateway.api(`/api/v1/alert-destinations/${String(id)}/test`, { method: 'POST' });
  expect(test).toEqual({ is_sent: false, status: 302, error: 'the receiver answered with status 302' });
  expect(await gateway.api(`/api/v1/alert-destinations/${String(id)}`, { method: 'DELETE' })).toEqual({ id });
  expect(gateway.output()).not.toContain('hunter2');
});
