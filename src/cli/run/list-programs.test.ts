import { expect, test } from 'vitest';
import { listPrograms } from './list-programs.ts';

const names = (...command: readonly string[]) => listPrograms(command).map(({ name }) => name);

test.each([
  [['/opt/bin/claude', '-p', 'hi'], ['claude']],
  [['codex.cmd'], ['codex']],
  [
    ['npx', '-y', '@openai/codex@latest', 'exec'],
    ['npx', '@openai/codex', 'codex@latest'],
  ],
  [
    ['npx', '--package', '@qwen-code/qwen-code', 'qwen'],
    ['npx', 'qwen', 'qwen'],
  ],
  [
    ['npx', '-c', 'claude -p hi'],
    ['npx', 'claude'],
  ],
  [
    ['npm', 'exec', '--', '@google/gemini-cli'],
    ['npm', '@google/gemini-cli', 'gemini-cli'],
  ],
  [
    ['pnpm', 'dlx', 'opencode-ai'],
    ['pnpm', 'opencode-ai', 'opencode-ai'],
  ],
  [
    ['uvx', '--from', 'aider-chat', 'aider'],
    ['uvx', 'aider', 'aider'],
  ],
  [
    ['uv', 'tool', 'run', 'aider-chat==0.86.2'],
    ['uv', 'aider-chat', 'aider-chat==0.86.2'],
  ],
  [
    ['python3.12', '-m', 'aider', '--yes'],
    ['python3.12', 'aider'],
  ],
  [
    ['env', '-u', 'X', 'A=b', 'qwen'],
    ['env', 'qwen'],
  ],
  [
    ['sh', '-c', 'cd x && A=b qwen -p "pi; claude" | tee codex; if true; then cn; fi'],
    ['sh', 'cd', 'qwen', 'tee', 'true', 'cn', 'fi'],
  ],
  [
    ['bash', '-lc', "exec gemini -p 'hi'"],
    ['bash', 'exec', 'gemini'],
  ],
])('%j starts %j', (command, started) => {
  expect(names(...command)).toEqual(started);
});

test('a name among the words of another program is no program', () => {
  expect(names('python', 'app.py', '--model', 'claude-sonnet-4-5')).toEqual(['python']);
  expect(names('npm', 'run', 'claude')).toEqual(['npm']);
  expect(names('bash', 'claude.sh')).toEqual(['bash']);
  expect(names('sh', '-c', 'echo claude')).toEqual(['sh', 'echo']);
});

test('a program has its own arguments, wherever it stands', () => {
  expect(listPrograms(['sh', '-c', 'cd x && aider --openai-api-base "https://llm.corp/v1"']).at(-1)).toEqual({
    name: 'aider',
    args: ['--openai-api-base', 'https://llm.corp/v1'],
  });
});
