import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { planRun } from './plan-run.ts';

const TARGET = {
  address: 'http://127.0.0.1:4141/@tgr_0123',
  token: 'tgr_0123',
  traceId: 'claude-1',
  ownDir: mkdtempSync(join(tmpdir(), 'tollgate-run-')),
  home: mkdtempSync(join(tmpdir(), 'tollgate-home-')),
  cwd: '/',
};

test('every SDK is led to the gateway, and those whose paths do not tell name their provider', () => {
  const { env, args, left } = planRun(['python', 'app.py'], { HOME: '/home/a' }, TARGET);
  expect(env).toMatchObject({
    HOME: '/home/a',
    OPENAI_BASE_URL: 'http://127.0.0.1:4141/@tgr_0123/v1',
    OPENAI_API_BASE: 'http://127.0.0.1:4141/@tgr_0123/v1',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:4141/@tgr_0123',
    GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:4141/@tgr_0123',
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: 'http://127.0.0.1:4141/@tgr_0123',
    TOGETHER_BASE_URL: 'http://127.0.0.1:4141/@tgr_0123.together',
    FIREWORKS_BASE_URL: 'http://127.0.0.1:4141/@tgr_0123.fireworks',
    DEEPSEEK_API_BASE: 'http://127.0.0.1:4141/@tgr_0123.deepseek/v1',
    TOLLGATE_BASE_URL: 'http://127.0.0.1:4141/@tgr_0123',
    TOLLGATE_RUN_TOKEN: 'tgr_0123',
    TOLLGATE_RUN: 'claude-1',
  });
  expect([args, left]).toEqual([['app.py'], []]);
});

test('a variable of another provider names it, one of the gateway is replaced, one of a server of one’s own stays', () => {
  const { env, left } = planRun(
    ['x'],
    {
      OPENAI_BASE_URL: 'https://api.deepseek.com/v1',
      OPENAI_API_BASE: 'http://localhost:11434/v1',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:4141/@tgk_1',
      ANTHROPIC_API_BASE: 'https://api.anthropic.com',
    },
    TARGET,
  );
  expect(env['OPENAI_BASE_URL']).toBe('http://127.0.0.1:4141/@tgr_0123.deepseek/v1');
  expect(env['OPENAI_API_BASE']).toBe('http://localhost:11434/v1');
  expect(env['ANTHROPIC_BASE_URL']).toBe('http://127.0.0.1:4141/@tgr_0123');
  expect(env['ANTHROPIC_API_BASE']).toBe('http://127.0.0.1:4141/@tgr_0123');
  expect(left).toEqual(['OPENAI_API_BASE']);
});

test('a lasting key and run do not win over the token; a proxy is not asked for the gateway', () => {
  const { env } = planRun(
    ['x'],
    {
      ANTHROPIC_CUSTOM_HEADERS: 'X-Gateway-Key: tgk_1\nX-Gateway-Team: a\nx-gateway-trace-id: b',
      HTTPS_PROXY: 'http://proxy:3128',
      NO_PROXY: 'example.com',
    },
    TARGET,
  );
  expect(env['ANTHROPIC_CUSTOM_HEADERS']).toBe('X-Gateway-Team: a');
  expect([env['NO_PROXY'], env['no_proxy']]).toEqual(['example.com,127.0.0.1', 'example.com,127.0.0.1']);
});

test('Codex has the token in a variable, and none in its arguments', () => {
  const { args } = planRun(['/opt/bin/codex', 'exec', 'hi'], { OPENAI_API_KEY: 'sk-1' }, TARGET);
  expect(args).toEqual([
    '-c',
    'model_provider="tollgate"',
    '-c',
    'model_providers.tollgate={name="Tollgate",base_url="http://127.0.0.1:4141/v1",wire_api="responses",env_http_headers={"X-Gateway-Key"="TOLLGATE_RUN_TOKEN"},env_key="OPENAI_API_KEY"}',
    'exec',
    'hi',
  ]);
});

test('opencode, pi and Gemini CLI get what their variables cannot say, unless the user says it', () => {
  const opencode = planRun(['opencode'], {}, TARGET).env['OPENCODE_CONFIG_CONTENT'];
  expect(JSON.parse(opencode ?? '')).toMatchObject({
    provider: { anthropic: { options: { baseURL: 'http://127.0.0.1:4141/@tgr_0123.anthropic/v1' } } },
  });
  expect(planRun(['opencode'], { OPENCODE_CONFIG_CONTENT: '{}' }, TARGET).env['OPENCODE_CONFIG_CONTENT']).toBe('{}');
  const [flag, file = '', ...rest] = planRun(['pi', '-p', 'hi'], {}, TARGET).args;
  expect([flag, rest]).toEqual(['-e', ['-p', 'hi']]);
  expect(readFileSync(file, 'utf8')).toContain("pi.registerProvider('anthropic', { baseUrl: address, headers })");
  const defaults = planRun(['gemini'], { GEMINI_API_KEY: 'AIza' }, TARGET).env['GEMINI_CLI_SYSTEM_DEFAULTS_PATH'];
  expect(readFileSync(defaults ?? '', 'utf8')).toBe('{"security":{"auth":{"selectedType":"gemini-api-key"}}}');
});

test('Claude Code’s own settings, which win over variables, are won over for this start, and its other headers stay', () => {
  expect(planRun(['claude', '-p', 'hi'], {}, TARGET)).toMatchObject({ args: ['-p', 'hi'], files: [] });
  mkdirSync(join(TARGET.home, '.claude'));
  const lasting = { ANTHROPIC_BASE_URL: 'http://gw', ANTHROPIC_CUSTOM_HEADERS: 'X-Team: a\nX-Gateway-Key: tgk_1' };
  writeFileSync(join(TARGET.home, '.claude/settings.json'), JSON.stringify({ env: lasting }));
  const { args, files } = planRun(['claude', '-p', 'hi'], {}, TARGET);
  const [flag, file = '', ...rest] = args;
  expect([flag, rest, files]).toEqual(['--settings', ['-p', 'hi'], [file]]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:4141/@tgr_0123', ANTHROPIC_CUSTOM_HEADERS: 'X-Team: a' },
  });
  expect(planRun(['claude', '--settings', 'own.json'], {}, TARGET).args).toEqual(['--settings', 'own.json']);
});

test('botocore finds its plugin beside the user’s own plugins and modules', () => {
  const own = { BOTOCORE_EXPERIMENTAL__PLUGINS: 'a=b', PYTHONPATH: '/lib' };
  const { env } = planRun(['python', 'app.py'], own, TARGET);
  expect(env['BOTOCORE_EXPERIMENTAL__PLUGINS']).toBe('a=b,tollgate=tollgate_run_botocore');
  expect(env['PYTHONPATH']).toBe(`${join(TARGET.ownDir, 'python')}:/lib`);
  expect(readFileSync(join(TARGET.ownDir, 'python/tollgate_run_botocore.py'), 'utf8')).toContain(
    'def initialize_client_plugin(client):',
  );
});

test('Cline and Continue get a copy of their own file for this start, and are told what they lack', () => {
  expect(planRun(['cn'], {}, TARGET).note).toMatch(/^Continue is not led here: .* add one first$/);
  mkdirSync(join(TARGET.home, '.continue'));
  writeFileSync(
    join(TARGET.home, '.continue/config.yaml'),
    'models:\n  - name: A # mine\n    provider: together\n    apiBase: http://old\n',
  );
  const { args, files } = planRun(['cn', '-p', 'hi'], {}, TARGET);
  const [flag, copy = '', ...rest] = args;
  expect([flag, rest, files]).toEqual(['--config', ['-p', 'hi'], [copy]]);
  expect(readFileSync(copy, 'utf8')).toBe(`models:
  - name: A # mine
    provider: together
    apiBase: http://127.0.0.1:4141/v1/
    requestOptions:
      headers:
        X-Gateway-Key: tgr_0123
        X-Gateway-Provider: together
`);
  mkdirSync(join(TARGET.home, '.cline/data/settings'), { recursive: true });
  const providers = { anthropic: { settings: { apiKey: 'a' } } };
  writeFileSync(join(TARGET.home, '.cline/data/settings/providers.json'), JSON.stringify({ providers }));
  const { env } = planRun(['cline'], {}, TARGET);
  expect(env['CLINE_SESSION_BACKEND_MODE']).toBe('local');
  const file = env['CLINE_PROVIDER_SETTINGS_PATH'];
  expect(JSON.parse(readFileSync(file ?? '', 'utf8'))).toEqual({
    providers: {
      anthropic: {
        settings: { apiKey: 'a', baseUrl: 'http://127.0.0.1:4141/v1', headers: { 'X-Gateway-Key': 'tgr_0123' } },
      },
    },
  });
  expect(planRun(['cline'], { CLINE_PROVIDER_SETTINGS_PATH: '/own' }, TARGET).files).toEqual([]);
});

test('addresses that aider’s own configuration sets are those of this start; its other variables stay', () => {
  expect(planRun(['aider'], {}, TARGET).env['AIDER_SET_ENV']).toBeUndefined();
  writeFileSync(join(TARGET.home, '.aider.conf.yml'), 'set-env:\n  - A=1\n  - OPENAI_API_BASE=http://gw/v1\n');
  expect(planRun(['aider'], {}, TARGET).env['AIDER_SET_ENV']).toBe(
    '[A=1, OPENAI_API_BASE=http://127.0.0.1:4141/@tgr_0123/v1]',
  );
});
