/** The snippets of Get started, run as a user would: copied into a file or a terminal, against a whole gateway. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listSnippets } from '../../dashboard/src/pages/start/client-snippets.ts';
import { type FakeProvider, startFakeProvider } from '../../src/demo/fake-provider.ts';
import { PROVIDER_NAMES } from '../../src/vocabulary/call-record.ts';
import { asRecord, startGateway, type TestGateway, waitUntil } from './start-gateway.ts';

const root = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);
const RUN_LIMIT_MS = 60_000;

let provider: FakeProvider;
let gateway: TestGateway;
/** A user's project: its modules are ours. */
let project: string;
let lastSeenId: unknown;

beforeAll(async () => {
  provider = await startFakeProvider({
    host: '127.0.0.1',
    port: 0,
    fixturesDir: join(root, 'fixtures'),
    latencyMs: 0,
    eventDelayMs: 0,
  });
  const upstreams = PROVIDER_NAMES.map((name) => [
    `TOLLGATE_UPSTREAM_${name.toUpperCase()}`,
    `${provider.origin}/${name}`,
  ]);
  gateway = await startGateway({ env: Object.fromEntries(upstreams) });
  project = mkdtempSync(join(tmpdir(), 'tollgate-snippets-'));
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
});
afterAll(async () => {
  await gateway?.stop();
  await provider?.close();
  rmSync(project, { recursive: true, force: true });
});

function codeOf(id: string, isFull: boolean): string {
  const settings = { baseUrl: gateway.base, keyPlaceholder: isFull ? '$TOLLGATE_KEY' : gateway.key };
  const found = listSnippets({ ...settings, withMetadata: isFull, withRun: isFull }).find((item) => item.id === id);
  if (found === undefined) throw new Error(`no snippet ${id}`);
  return found.code;
}

/** What it printed. */
async function runCode(command: string, code: string): Promise<string> {
  const { stdout } = await run(command, command === 'sh' ? ['-c', code] : [writeProgram(code)], {
    cwd: project,
    timeout: RUN_LIMIT_MS,
    env: {
      PATH: process.env['PATH'],
      // Nothing of the user's own settings.
      HOME: project,
      TOLLGATE_KEY: gateway.key,
      OPENAI_API_KEY: 'placeholder',
      ANTHROPIC_API_KEY: 'placeholder',
      GEMINI_API_KEY: 'placeholder',
      AWS_BEARER_TOKEN_BEDROCK: 'placeholder',
    },
  });
  return stdout;
}

function writeProgram(code: string): string {
  const file = join(project, 'hello.mjs');
  writeFileSync(file, code);
  return file;
}

async function readNextRecord(): Promise<Record<string, unknown>> {
  const record = await waitUntil('the record', async () => {
    const { data } = asRecord(await gateway.api('/api/v1/logs?limit=1'));
    const [latest] = Array.isArray(data) ? data : [];
    return latest === undefined || asRecord(latest)['id'] === lastSeenId ? undefined : asRecord(latest);
  });
  lastSeenId = record['id'];
  return record;
}

const FULL = {
  outcome: 'ok',
  trace_id: expect.stringMatching(/^(?:run-\d+|[0-9a-f-]{36})$/),
  span_path: 'plan/search%201',
  // Some clients write header names in small letters.
  raw_metadata: expect.toSatisfy((metadata: object) => {
    const entries = Object.entries(metadata).map(([name, value]) => [name.toLowerCase(), value]);
    expect(Object.fromEntries(entries)).toEqual({ feature: 'checkout', 'user-id': 'user-42' });
    return true;
  }),
};
const PLAIN = { outcome: 'ok', trace_id: null, span_path: null, raw_metadata: {} };

const CHAT = { provider: 'openai', path: '/v1/chat/completions', model_requested: 'gpt-5.4-mini' };
const MESSAGES = { provider: 'anthropic', path: '/v1/messages', model_requested: 'claude-haiku-4-5' };

const PROGRAMS: readonly (readonly [id: string, record: object])[] = [
  ['openai-node', CHAT],
  ['anthropic-node', MESSAGES],
  [
    'gemini-node',
    {
      provider: 'gemini',
      path: expect.stringMatching(/^\/v1(?:beta)?\/models\/gemini-3\.5-flash:generateContent$/),
      model_requested: 'gemini-3.5-flash',
    },
  ],
  ['ai-sdk', CHAT],
  [
    'bedrock-js',
    {
      provider: 'bedrock',
      path: '/model/us.amazon.nova-lite-v1%3A0/converse',
      model_requested: 'us.amazon.nova-lite-v1:0',
    },
  ],
];

describe.each(PROGRAMS)('the snippet %s', (id, record) => {
  test('works as it is, and marks its call with metadata and its place in a run', async () => {
    expect(await runCode(process.execPath, codeOf(id, true))).toContain('Tollgate demo');
    expect(await readNextRecord()).toMatchObject({ ...record, ...FULL });
  });

  test('works with the key written into it, without metadata and run', async () => {
    expect(await runCode(process.execPath, codeOf(id, false))).toContain('Tollgate demo');
    expect(await readNextRecord()).toMatchObject({ ...record, ...PLAIN });
  });
});

test('the curl line works in a terminal', async () => {
  expect(await runCode('sh', codeOf('curl', true))).toContain('Tollgate demo');
  expect(await readNextRecord()).toMatchObject({ ...CHAT, ...FULL });
  expect(await runCode('sh', codeOf('curl', false))).toContain('Tollgate demo');
  expect(await readNextRecord()).toMatchObject({ ...CHAT, ...PLAIN });
});

const UNCHANGED_OPENAI = `
  import OpenAI from 'openai';
  const answer = await new OpenAI().chat.completions.create({
    model: 'gpt-5.4-mini', messages: [{ role: 'user', content: 'Say hello.' }] });
  console.log(answer.choices[0].message.content);`;
const UNCHANGED_ANTHROPIC = `
  import Anthropic from '@anthropic-ai/sdk';
  const message = await new Anthropic().messages.create({
    model: 'claude-haiku-4-5', max_tokens: 256, messages: [{ role: 'user', content: 'Say hello.' }] });
  console.log(message.content);`;

test.each([
  ['OpenAI', UNCHANGED_OPENAI, CHAT],
  ['Anthropic', UNCHANGED_ANTHROPIC, MESSAGES],
])('the environment alone brings an unchanged program with the SDK of %s here', async (_, program, record) => {
  const start = `'${process.execPath}' '${writeProgram(program)}'`;
  expect(await runCode('sh', `${codeOf('environment', true)}\n${start}`)).toContain('Tollgate demo');
  expect(await readNextRecord()).toMatchObject({ ...record, ...FULL });
  expect(await runCode('sh', `${codeOf('environment', false)}\n${start}`)).toContain('Tollgate demo');
  expect(await readNextRecord()).toMatchObject({ ...record, ...PLAIN });
});
