/** Headers as the real programs sent them, ids shortened. */
import { expect, test } from 'vitest';
import { readSessionOfUserId } from './claude-code-agent.ts';
import type { Client } from './client.ts';
import { CLIENTS } from './registry.ts';

type Headers = Readonly<Record<string, string>>;

function find(headers: Headers): Client | undefined {
  const header = (name: string) => headers[name];
  return CLIENTS.find(
    ({ userAgent, isOwn }) => userAgent.test(headers['user-agent'] ?? '') && (isOwn === undefined || isOwn(header)),
  );
}

function read(headers: Headers) {
  const client = find(headers);
  return { client: client?.name ?? null, agent: client?.readAgent((name) => headers[name]) ?? null };
}

const CLAUDE = {
  'user-agent': 'claude-cli/2.1.197 (external, sdk-cli)',
  'x-app': 'cli',
  'x-claude-code-session-id': 'd0202748-c40e-4cbb-ab99-ae36a82ed7ab',
};
const CODEX = {
  'user-agent': 'codex_exec/0.171.0 (Debian 12.0.0; x86_64) xterm (codex_exec; 0.171.0)',
  originator: 'codex_exec',
  'session-id': '01a22815-4469-73d3-b6f1-b486d00c2461',
};
const OPENCODE = { 'user-agent': 'opencode/1.18.33 ai-sdk/provider-utils/4.0.46 runtime/bun/1.3.14' };

test.each<[string, Headers, ReturnType<typeof read>]>([
  [
    'the main agent of Claude Code',
    CLAUDE,
    { client: 'claude-code', agent: { session: 'd0202748-c40e-4cbb-ab99-ae36a82ed7ab', agents: [], agentTurn: null } },
  ],
  [
    'a sub-agent of Claude Code',
    { ...CLAUDE, 'x-claude-code-agent-id': 'a2cad32b5b3ceea0d' },
    {
      client: 'claude-code',
      agent: { session: 'd0202748-c40e-4cbb-ab99-ae36a82ed7ab', agents: ['a2cad32b5b3ceea0d'], agentTurn: null },
    },
  ],
  [
    'a sub-agent that a sub-agent started, with telemetry on',
    {
      ...CLAUDE,
      'x-claude-code-agent-id': 'adafc63891a3930c6',
      'x-claude-code-parent-agent-id': 'a2cad32b5b3ceea0d',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    },
    {
      client: 'claude-code',
      agent: {
        session: 'd0202748-c40e-4cbb-ab99-ae36a82ed7ab',
        agents: ['a2cad32b5b3ceea0d', 'adafc63891a3930c6'],
        agentTurn: '4bf92f3577b34da6a3ce929d0e0e4736',
      },
    },
  ],
  [
    'the list of models of Claude Code',
    { 'user-agent': 'claude-code/2.1.197' },
    { client: 'claude-code', agent: null },
  ],
  [
    'a probe of Claude Code on Bedrock',
    { 'user-agent': 'WGr/JS 0.94.0', 'x-app': 'cli' },
    { client: 'claude-code', agent: null },
  ],
  ['another program with so short a name', { 'user-agent': 'WGr/JS 0.94.0' }, { client: null, agent: null }],
  [
    'the Claude Agent SDK',
    { ...CLAUDE, 'user-agent': 'claude-cli/2.1.332 (external, sdk-ts, agent-sdk/0.3.332)' },
    {
      client: 'claude-agent-sdk',
      agent: { session: 'd0202748-c40e-4cbb-ab99-ae36a82ed7ab', agents: [], agentTurn: null },
    },
  ],
  [
    'the main agent of Codex',
    {
      ...CODEX,
      'thread-id': '01a22815-4469-73d3-b6f1-b486d00c2461',
      'x-codex-turn-metadata':
        '{"agent_name":"/root","turn_id":"01a22815-4496","root_turn_id":"01a22815-4496","workspaces":{"/home/ada/shop":{}}}',
    },
    {
      client: 'codex',
      agent: { session: '01a22815-4469-73d3-b6f1-b486d00c2461', agents: [], agentTurn: '01a22815-4496' },
    },
  ],
  [
    'a sub-agent of Codex, in the turn of the person’s message',
    {
      ...CODEX,
      'thread-id': '01a22815-46a2-70d3-bf2c-63742eec96f6',
      'x-codex-parent-thread-id': '01a22815-4469-73d3-b6f1-b486d00c2461',
      'x-codex-turn-metadata': '{"turn_id":"01a22815-46bb","root_turn_id":"01a22815-4496"}',
    },
    {
      client: 'codex',
      agent: {
        session: '01a22815-4469-73d3-b6f1-b486d00c2461',
        agents: ['01a22815-46a2-70d3-bf2c-63742eec96f6'],
        agentTurn: '01a22815-4496',
      },
    },
  ],
  [
    'a handshake of Codex before the first message',
    { ...CODEX, 'x-codex-turn-metadata': '{"turn_id":"","request_kind":"prewarm"}' },
    { client: 'codex', agent: { session: '01a22815-4469-73d3-b6f1-b486d00c2461', agents: [], agentTurn: null } },
  ],
  [
    'a turn that is no JSON',
    { ...CODEX, 'x-codex-turn-metadata': '{"turn_id":' },
    { client: 'codex', agent: { session: '01a22815-4469-73d3-b6f1-b486d00c2461', agents: [], agentTurn: null } },
  ],
  [
    'the main agent of opencode',
    { ...OPENCODE, 'x-session-id': 'ses_dd7ea4420ffe', 'x-session-affinity': 'ses_dd7ea4420ffe' },
    { client: 'opencode', agent: { session: 'ses_dd7ea4420ffe', agents: [], agentTurn: null } },
  ],
  [
    'a sub-agent of opencode',
    { ...OPENCODE, 'x-session-id': 'ses_dd7ea079affe', 'x-parent-session-id': 'ses_dd7ea4420ffe' },
    { client: 'opencode', agent: { session: 'ses_dd7ea4420ffe', agents: ['ses_dd7ea079affe'], agentTurn: null } },
  ],
  [
    'pi',
    { 'user-agent': 'pi/1.6.0 (linux; node/v26.10.0; x64)', 'session-id': '01a22b99-6db3-717b-8b4d-05be6567110f' },
    { client: 'pi', agent: { session: '01a22b99-6db3-717b-8b4d-05be6567110f', agents: [], agentTurn: null } },
  ],
  [
    'pi with Anthropic’s API, which names no session',
    { 'user-agent': 'pi/1.6.0 (linux; node/v26.10.0; x64)' },
    { client: 'pi', agent: null },
  ],
  [
    'pi before 1.0, which has the user agent of an SDK',
    {
      'user-agent': 'OpenAI/JS 6.26.0',
      session_id: '01a22816-5e66-7115-8db2-673e77043255',
      'x-client-request-id': '01a22816-5e66-7115-8db2-673e77043255',
    },
    { client: 'pi', agent: { session: '01a22816-5e66-7115-8db2-673e77043255', agents: [], agentTurn: null } },
  ],
  ['that SDK itself', { 'user-agent': 'OpenAI/JS 6.26.0', session_id: 'mine' }, { client: null, agent: null }],
  [
    'somebody else’s session',
    { 'user-agent': 'my-app/1.0', 'x-session-id': 'ses_1', 'session-id': 'x' },
    { client: null, agent: null },
  ],
])('%s', (_, headers, expected) => {
  expect(read(headers)).toEqual(expected);
});

test('an id has no characters that a path, a terminal or a list would stumble over, and what is too long is none', () => {
  const idOf = (session: string) => read({ ...CLAUDE, 'x-claude-code-session-id': session }).agent?.session;
  expect(idOf(' a/b\x1b[31m%2Fc\xff ')).toBe('a_b__31m_2Fc_');
  expect(idOf('x'.repeat(128))).toBe('x'.repeat(128));
  expect(idOf('x'.repeat(129))).toBeUndefined();
  expect(idOf(' ')).toBeUndefined();
});

test('the session in metadata.user_id, as Claude Code writes it now and wrote it before', () => {
  expect(readSessionOfUserId('{"device_id":"1f","account_uuid":"","session_id":"d0202748-c40e"}')).toBe(
    'd0202748-c40e',
  );
  expect(readSessionOfUserId('user_1f_account__session_d0202748-c40e-4cbb-ab99-ae36a82ed7ab')).toBe(
    'd0202748-c40e-4cbb-ab99-ae36a82ed7ab',
  );
  for (const other of ['user-42', '{"session_id":', '{"session_id":7}', '{}'])
    expect(readSessionOfUserId(other)).toBeNull();
});
