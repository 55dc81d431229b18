import { expect, test } from 'vitest';
import { listStarted } from './list-started.ts';

const CLIENTS = ['aider', 'claude', 'codex', 'gemini', 'qwen', '@openai/codex', '@google/gemini-cli', 'aider-chat'];
const started = (...command: readonly string[]) =>
  listStarted(command, (names) => names.find((name) => CLIENTS.includes(name)));
const names = (...command: readonly string[]) => started(...command).map(({ client }) => client);

test.each([
  [['/opt/bin/claude', '-p', 'qwen'], ['claude']],
  [['codex.cmd'], ['codex']],
  [['npx', '-y', '@openai/codex@latest', 'exec'], ['@openai/codex']],
  [['npx', '--package', '@qwen-code/qwen-code', 'qwen'], ['qwen']],
  [['npx', '-c', 'claude -p hi'], ['claude']],
  [['npm', 'exec', '--', '@google/gemini-cli'], ['@google/gemini-cli']],
  [['uv', 'run', '--env-file', '.env', 'aider'], ['aider']],
  [['uv', 'tool', 'run', 'aider-chat==0.86.2'], ['aider-chat']],
  [['python3.12', '-m', 'aider', '--yes'], ['aider']],
  [['node', '/usr/lib/qwen.js'], ['qwen']],
  [['env', '-u', 'X', 'A=b', 'qwen'], ['qwen']],
  [['timeout', '60', 'qwen'], ['qwen']],
  [['time', '-p', 'claude'], ['claude']],
  [['sudo', '-n', 'qwen'], ['qwen']],
  [['op', 'run', '--', 'qwen'], ['qwen']],
  [['npm', 'run', 'claude'], ['claude']],
  [
    ['sh', '-c', 'cd x && A=b timeout 60 qwen -p "pi; claude" | tee y; if true; then gemini; fi'],
    ['qwen', 'gemini'],
  ],
  [['bash', '-lc', "exec gemini -p 'hi'"], ['gemini']],
])('%j starts %j', (command, expected) => {
  expect(names(...command)).toEqual(expected);
});

test('a name within a word, or among the words of a script, is no client', () => {
  expect(names('app', '--model', 'claude-sonnet-4-5')).toEqual([]);
  expect(names('python', 'app.py', '--client', 'claude')).toEqual([]);
  expect(names('sh', '-c', 'python app.py claude; ls')).toEqual([]);
  expect(names('bash', 'claude.sh')).toEqual([]);
});

test('a client has its own arguments, wherever it stands', () => {
  expect(started('sh', '-c', 'cd x && aider --openai-api-base "https://llm.corp/v1"')).toEqual([
    { client: 'aider', args: ['--openai-api-base', 'https://llm.corp/v1'] },
  ]);
});
