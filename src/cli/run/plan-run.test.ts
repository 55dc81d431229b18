import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { planRun } from './plan-run.ts';

const TARGET = {
  address: 'http://127.0.0.1:4141/@tgr_0123',
  token: 'tgr_0123',
  traceId: 'claude-1',
  ownDir: mkdtempSync(join(tmpdir(), 'tollgate-run-')),
  home: mkdtempSync(join(tmpdir(), 'tollgate-home-')),
  cwd: mkdtempSync(join(tmpdir(), 'tollgate-cwd-')),
};

beforeEach(() => {
  for (const dir of [TARGET.home, TARGET.cwd, TARGET.ownDir]) {
    rmSync(dir, { recursive: true });
    mkdirSync(dir);
  }
});

function writeHome(name: string, text: string | object, dir: string = TARGET.home): string {
  const path = join(dir, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof text === 'string' ? text : JSON.stringify(text));
  return path;
}

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

test('the program gets none of the gateway’s secrets, and keeps its own', () => {
  const own = { DATABASE_URL: 'postgres://app', TOLLGATE_KEY: 'tgk_1', TOLLGATE_ADMIN_URL: 'http://127.0.0.1:4142' };
  const secrets = {
    TOLLGATE_ADMIN_TOKEN: 'CANARY',
    TOLLGATE_ADMIN_TOKEN_FILE: '/run/CANARY',
    TOLLGATE_METRICS_TOKEN: 'CANARY',
    TOLLGATE_CREDENTIALS_KEY: 'CANARY',
    TOLLGATE_OIDC_CLIENT_SECRET_FILE: '/run/CANARY',
    TOLLGATE_SMTP_URL: 'smtp://CANARY',
    TOLLGATE_AWS_BEDROCK_SECRET_ACCESS_KEY: 'CANARY',
  };
  const { env } = planRun(['claude'], { ...own, ...secrets }, TARGET);
  expect(env).toMatchObject(own);
  expect(JSON.stringify(env)).not.toContain('CANARY');
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
  const lasting = {
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:4141',
    ANTHROPIC_CUSTOM_HEADERS: 'X-Team: a\nX-Gateway-Key: tgk_1',
  };
  writeHome('.claude/settings.json', { env: lasting });
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
  expect(planRun(['cn'], {}, TARGET).notes[0]).toMatch(/^Continue is not led here: .* add one first$/);
  writeHome(
    '.continue/config.yaml',
    'models:\n  - name: A # mine\n    provider: together\n    apiBase: https://api.together.xyz/v1\n',
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
  const providers = { anthropic: { settings: { apiKey: 'a' } } };
  writeHome('.cline/data/settings/providers.json', { providers });
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
  writeHome('.aider.conf.yml', 'set-env:\n  - A=1\n  - OPENAI_API_BASE=http://127.0.0.1:4141/v1\n');
  expect(planRun(['aider'], {}, TARGET).env['AIDER_SET_ENV']).toBe(
    '[A=1, OPENAI_API_BASE=http://127.0.0.1:4141/@tgr_0123/v1]',
  );
});

test('Claude Code whose settings lead to a server of one’s own stays there, and so does what its credential is for', () => {
  const path = writeHome('.claude/settings.json', {
    env: { ANTHROPIC_BASE_URL: 'https://llm.corp', ANTHROPIC_AUTH_TOKEN: 'corp-1' },
  });
  const { args, env, files, left } = planRun(['claude', '-p', 'hi'], {}, TARGET);
  expect([args, files, left]).toEqual([['-p', 'hi'], [], [`ANTHROPIC_BASE_URL (${path})`]]);
  expect([env['ANTHROPIC_BASE_URL'], env['ANTHROPIC_API_BASE']]).toEqual([undefined, undefined]);
});

test('an address that `tollgate setup` wrote is a gateway’s, wherever that was', () => {
  const env = { ANTHROPIC_BASE_URL: 'https://gw.corp/team' };
  writeHome('.claude/settings.json', { env });
  const record = { key: 'tgk_1', key_id: null, address: 'https://gw.corp', files: [] };
  writeHome('setup/claude.json', record, TARGET.ownDir);
  const { files, left } = planRun(['claude'], {}, TARGET);
  expect([files.length, left]).toEqual([1, []]);
});

test('a model of Continue at a server of one’s own stays as it is; one at another provider’s host names that one', () => {
  const path = writeHome(
    '.continue/config.yaml',
    `models:
  - name: Router
    provider: openai
    apiBase: https://openrouter.ai/api/v1
    apiKey: sk-or-1
  - name: Seek
    provider: openai
    apiBase: https://api.deepseek.com/v1
  - name: GPT
    provider: openai
`,
  );
  const { args, left } = planRun(['cn'], {}, TARGET);
  expect(left).toEqual([`model "Router" at openrouter.ai (${path})`]);
  expect(readFileSync(args[1] ?? '', 'utf8')).toBe(`models:
  - name: Router
    provider: openai
    apiBase: https://openrouter.ai/api/v1
    apiKey: sk-or-1
  - name: Seek
    provider: openai
    apiBase: http://127.0.0.1:4141/v1/
    requestOptions:
      headers:
        X-Gateway-Key: tgr_0123
        X-Gateway-Provider: deepseek
  - name: GPT
    provider: openai
    apiBase: http://127.0.0.1:4141/v1/
    requestOptions:
      headers:
        X-Gateway-Key: tgr_0123
`);
  const twins = ['https://openrouter.ai/api/v1', 'https://api.openai.com/v1'];
  writeHome('.continue/config.yaml', {
    models: twins.map((apiBase) => ({ name: 'A', provider: 'openai', apiBase })),
  });
  expect(planRun(['cn'], {}, TARGET)).toMatchObject({
    args: [],
    files: [],
    left: [`model "A" at openrouter.ai (${path})`],
  });
});

test('a provider of Cline at a server of one’s own stays as it is', () => {
  const settings = { apiKey: 'sk-or-1', baseUrl: 'https://openrouter.ai/api/v1' };
  const path = writeHome('.cline/data/settings/providers.json', { providers: { openai: { settings } } });
  const { env, files, left } = planRun(['cline'], {}, TARGET);
  expect([env['CLINE_PROVIDER_SETTINGS_PATH'], files]).toEqual([undefined, []]);
  expect(left).toEqual([`provider "openai" at openrouter.ai (${path})`]);
});

test('aider’s addresses of servers of one’s own stay, also where another variable of the same key would win over them', () => {
  const path = writeHome(
    '.aider.conf.yml',
    'set-env:\n  - OPENAI_API_BASE=https://openrouter.ai/api/v1\n  - ANTHROPIC_API_BASE=http://127.0.0.1:4141\n',
  );
  const { env, left } = planRun(['aider'], {}, TARGET);
  expect(env['AIDER_SET_ENV']).toBe(
    '[OPENAI_API_BASE=https://openrouter.ai/api/v1, ANTHROPIC_API_BASE=http://127.0.0.1:4141/@tgr_0123]',
  );
  expect([env['OPENAI_BASE_URL'], env['OPENAI_API_BASE']]).toEqual([undefined, undefined]);
  expect(left).toEqual([`OPENAI_API_BASE (${path})`]);
  writeHome('.aider.conf.yml', 'openai-api-base: https://openrouter.ai/api/v1\n');
  expect(planRun(['aider'], {}, TARGET).env['OPENAI_BASE_URL']).toBeUndefined();
});

test('variables of one provider have one key: where one of them leads elsewhere, those that are not set stay unset', () => {
  const own = planRun(['x'], { OPENAI_BASE_URL: 'https://openrouter.ai/api/v1' }, TARGET);
  expect([own.env['OPENAI_BASE_URL'], own.env['OPENAI_API_BASE']]).toEqual(['https://openrouter.ai/api/v1', undefined]);
  expect(own.left).toEqual(['OPENAI_BASE_URL']);
  const other = planRun(['x'], { OPENAI_BASE_URL: 'https://api.deepseek.com' }, TARGET);
  expect(other.env['OPENAI_API_BASE']).toBe('http://127.0.0.1:4141/@tgr_0123.deepseek/v1');
});

test('a file .env, which gives way to the environment, is heeded: its key goes with its address', () => {
  const path = writeHome('.env', 'OPENAI_BASE_URL=https://openrouter.ai/api/v1\nOPENAI_API_KEY=sk-or-1\n', TARGET.cwd);
  const inner = join(TARGET.cwd, 'src');
  mkdirSync(inner);
  const { env, left } = planRun(['python', 'app.py'], {}, { ...TARGET, cwd: inner });
  expect([env['OPENAI_BASE_URL'], env['OPENAI_API_BASE'], left]).toEqual([
    undefined,
    undefined,
    [`OPENAI_BASE_URL (${path})`],
  ]);
  expect(env['ANTHROPIC_BASE_URL']).toBe('http://127.0.0.1:4141/@tgr_0123');
  // A pipe, as some managers of secrets have it, is not waited for.
  spawnSync('mkfifo', [join(inner, '.env')]);
  // What the user says in the environment wins over the file, as it does for the program.
  const said = planRun(['python'], { OPENAI_BASE_URL: 'https://api.openai.com/v1' }, { ...TARGET, cwd: inner });
  expect(said.env['OPENAI_BASE_URL']).toBe('http://127.0.0.1:4141/@tgr_0123/v1');
});

test('Gemini CLI, Qwen Code and Codex stay with a server of one’s own that their files name', () => {
  const gemini = writeHome('.gemini/.env', 'GOOGLE_GEMINI_BASE_URL=https://llm.corp\n');
  const led = planRun(['gemini'], {}, TARGET);
  expect([led.env['GOOGLE_GEMINI_BASE_URL'], led.left]).toEqual([undefined, [`GOOGLE_GEMINI_BASE_URL (${gemini})`]]);

  const qwen = writeHome('.qwen/settings.json', { env: { OPENAI_BASE_URL: 'https://dashscope.aliyuncs.com/v1' } });
  const asked = planRun(['qwen'], {}, TARGET);
  expect([asked.env['OPENAI_BASE_URL'], asked.left]).toEqual([undefined, [`OPENAI_BASE_URL (${qwen})`]]);
  writeHome('.qwen/settings.json', { security: { auth: { baseUrl: 'https://dashscope.aliyuncs.com/v1' } } });
  expect(planRun(['qwen'], {}, TARGET).env['OPENAI_BASE_URL']).toBeUndefined();

  const codex = writeHome(
    '.codex/config.toml',
    'model_provider = "corp"\n[model_providers.corp]\nbase_url = "https://llm.corp/v1"\nenv_key = "OPENAI_API_KEY"\n',
  );
  expect(planRun(['codex'], { OPENAI_API_KEY: 'corp-1' }, TARGET)).toMatchObject({
    args: [],
    left: [`provider "corp" at llm.corp (${codex})`],
  });
  writeHome('.codex/config.toml', 'openai_base_url = "https://llm.corp/v1"\n');
  expect(planRun(['codex'], {}, TARGET).args).toEqual([]);
  rmSync(codex);
  const env = { OPENAI_BASE_URL: 'https://llm.corp/v1', OPENAI_API_KEY: 'corp-1' };
  expect(planRun(['codex'], env, TARGET)).toMatchObject({ args: [], left: ['OPENAI_BASE_URL'] });
  expect(planRun(['codex'], { OPENAI_API_KEY: 'sk-1' }, TARGET).args).toHaveLength(4);
});

test('what a client’s files say is heeded as well where another program starts it', () => {
  writeHome('.qwen/settings.json', { env: { OPENAI_BASE_URL: 'https://dashscope.aliyuncs.com/v1' } });
  for (const command of [
    ['npx', '@qwen-code/qwen-code@latest', '-p', 'hi'],
    ['sh', '-c', 'cd x && qwen -p hi'],
  ])
    expect(planRun(command, {}, TARGET).env['OPENAI_BASE_URL']).toBeUndefined();
  expect(planRun(['python', 'app.py'], {}, TARGET).env['OPENAI_BASE_URL']).toBeDefined();
});

test('providers of opencode and pi at servers of one’s own stay as they are', () => {
  const options = { baseURL: 'https://llm.corp/v1', apiKey: 'corp-1' };
  const path = writeHome('.config/opencode/opencode.json', { provider: { anthropic: { options } } });
  const own = writeHome(
    'opencode.jsonc',
    `{"provider": {"openai": {"options": {"baseURL": "{env:MINE}"}}}} // x`,
    TARGET.cwd,
  );
  const { env, left } = planRun(['opencode'], {}, TARGET);
  const content = JSON.parse(env['OPENCODE_CONFIG_CONTENT'] ?? '');
  expect(Object.keys(content.provider)).toEqual(['google', 'deepseek', 'togetherai', 'fireworks-ai']);
  expect(left).toEqual([`provider "anthropic" at llm.corp (${path})`, `provider "openai" (${own})`]);

  const models = writeHome('.pi/agent/models.json', {
    providers: { openai: { baseUrl: 'https://llm.corp/v1' }, anthropic: { baseUrl: 'https://api.anthropic.com' } },
  });
  const pi = planRun(['pi'], {}, TARGET);
  const extension = readFileSync(pi.args[1] ?? '', 'utf8');
  expect([extension.includes("registerProvider('openai'"), extension.includes("registerProvider('anthropic'")]).toEqual(
    [false, true],
  );
  expect(pi.left).toEqual([`provider "openai" at llm.corp (${models})`]);
  expect(pi.files.every((file) => existsSync(file))).toBe(true);
});

const LED = 'http://127.0.0.1:4141/@tgr_0123';

test('an address in a region of its own stays, and is told; a path and a provider stay with what is led', () => {
  const { env, left } = planRun(
    ['x'],
    {
      OPENAI_BASE_URL: 'https://eu.api.openai.com/v1',
      ANTHROPIC_BASE_URL: 'https://api.deepseek.com/anthropic',
      GEMINI_API_BASE: 'http://localhost:4141/@tgk_1.together/v1',
      AWS_ENDPOINT_URL_BEDROCK_RUNTIME: 'https://bedrock-runtime.eu-west-1.amazonaws.com',
    },
    TARGET,
  );
  expect(left).toEqual(['OPENAI_BASE_URL', 'AWS_ENDPOINT_URL_BEDROCK_RUNTIME']);
  expect(env).toMatchObject({
    OPENAI_BASE_URL: 'https://eu.api.openai.com/v1',
    ANTHROPIC_BASE_URL: `${LED}.deepseek/anthropic`,
    // Not set, so it goes where its key is for.
    ANTHROPIC_API_BASE: `${LED}.deepseek/anthropic`,
    GEMINI_API_BASE: `${LED}.together/v1`,
  });
  expect(env['OPENAI_API_BASE']).toBeUndefined();
  expect(env['ANTHROPIC_BEDROCK_BASE_URL']).toBeUndefined();
});

test('what stays at another gateway keeps its key there', () => {
  const ANTHROPIC_CUSTOM_HEADERS = 'X-Gateway-Key: tgk_1';
  const own = { ANTHROPIC_BASE_URL: 'https://gw.corp/team', ANTHROPIC_CUSTOM_HEADERS };
  expect(planRun(['claude'], own, TARGET).env).toMatchObject(own);
  const others = ['https://gw.corp/team'];
  expect(planRun(['claude'], own, { ...TARGET, others }).env).toMatchObject({
    ANTHROPIC_BASE_URL: LED,
    ANTHROPIC_CUSTOM_HEADERS: '',
  });
  writeHome('.claude/settings.json', { env: own });
  expect(planRun(['claude'], {}, TARGET)).toMatchObject({ args: [], files: [] });
});

test('Claude Code’s settings, which win over variables, decide; at another provider’s host that one is named', () => {
  writeHome('.claude/settings.json', { env: { ANTHROPIC_BASE_URL: 'https://api.deepseek.com/anthropic' } });
  const { args, left } = planRun(['claude'], { ANTHROPIC_BASE_URL: 'https://llm.corp' }, TARGET);
  expect(left).toEqual([]);
  expect(JSON.parse(readFileSync(args[1] ?? '', 'utf8'))).toEqual({
    env: { ANTHROPIC_BASE_URL: `${LED}.deepseek/anthropic` },
  });
});

test('opencode and pi keep the path of an address that is led', () => {
  writeHome('.config/opencode/opencode.json', {
    provider: {
      openai: { options: { baseURL: 'https://generativelanguage.googleapis.com/v1beta/openai/' } },
      deepseek: { options: { baseURL: 'https://api.deepseek.com/beta' } },
    },
  });
  const content = JSON.parse(planRun(['opencode'], {}, TARGET).env['OPENCODE_CONFIG_CONTENT'] ?? '');
  expect(content.provider).toMatchObject({
    openai: { options: { baseURL: `${LED}.gemini/v1beta/openai` } },
    deepseek: { options: { baseURL: `${LED}.deepseek/beta` } },
  });
  writeHome('.pi/agent/models.json', {
    providers: { openai: { baseUrl: 'http://127.0.0.1:4141/@tgk_1.together/v1' } },
  });
  const extension = readFileSync(planRun(['pi'], {}, TARGET).args[1] ?? '', 'utf8');
  expect(extension).toContain(`pi.registerProvider('openai', { baseUrl: address + ".together/v1", headers })`);
});

/** Neither variable leads an OpenAI key of another server here: LiteLLM takes OPENAI_BASE_URL before the other. */
test.each([
  [['--openai-api-base', 'https://openrouter.ai/api/v1'], {}, 'OPENAI_API_BASE (--openai-api-base)'],
  [['--openai-api-base=https://openrouter.ai/api/v1'], {}, 'OPENAI_API_BASE (--openai-api-base)'],
  [['--set-env', 'OPENAI_API_BASE=https://llm.corp/v1'], {}, 'OPENAI_API_BASE (--set-env)'],
  [[], { AIDER_SET_ENV: '[OPENAI_API_BASE=https://llm.corp/v1]' }, 'OPENAI_API_BASE (AIDER_SET_ENV)'],
  [[], { AIDER_OPENAI_API_BASE: 'https://llm.corp/v1' }, 'OPENAI_API_BASE (AIDER_OPENAI_API_BASE)'],
])('aider %j with %j stays at that server', (args, given, told) => {
  for (const command of [
    ['aider', ...args],
    ['sh', '-c', ['cd x && aider', ...args].join(' ')],
    ['python', '-m', 'aider', ...args],
  ]) {
    const { env, left } = planRun(command, given, TARGET);
    expect([env['OPENAI_BASE_URL'], env['OPENAI_API_BASE'], left]).toEqual([undefined, undefined, [told]]);
    expect(env['ANTHROPIC_API_BASE']).toBe(LED);
  }
});

test('aider’s files are those of home, of the repository and of the folder, and its option wins over its list', () => {
  mkdirSync(join(TARGET.cwd, '.git'));
  const cwd = join(TARGET.cwd, 'src');
  mkdirSync(cwd);
  const root = writeHome('.aider.conf.yml', 'openai-api-base: https://llm.corp/v1\n', TARGET.cwd);
  writeHome('.aider.conf.yml', 'set-env: [OPENAI_API_BASE=https://api.openai.com/v1]\n');
  const { env, left } = planRun(['aider'], {}, { ...TARGET, cwd });
  expect([env['OPENAI_BASE_URL'], env['OPENAI_API_BASE'], left]).toEqual([
    undefined,
    undefined,
    [`OPENAI_API_BASE (${root})`],
  ]);
  writeHome('.aider.conf.yml', 'openai-api-base: https://api.deepseek.com/beta\n', cwd);
  expect(planRun(['aider'], {}, { ...TARGET, cwd }).env).toMatchObject({
    OPENAI_BASE_URL: `${LED}.deepseek/beta`,
    AIDER_OPENAI_API_BASE: `${LED}.deepseek/beta`,
    AIDER_SET_ENV: `[OPENAI_API_BASE=${LED}.deepseek/beta]`,
  });
});

test('aider’s .env, which wins over the environment, is won over for this start, where that can be said', () => {
  writeHome('.env', 'ANTHROPIC_API_BASE=https://api.anthropic.com\n');
  const { env } = planRun(['aider'], { ANTHROPIC_API_BASE: 'https://llm.corp' }, TARGET);
  expect([env['ANTHROPIC_API_BASE'], env['AIDER_SET_ENV']]).toEqual([LED, `[ANTHROPIC_API_BASE=${LED}]`]);
  writeHome('.aider.conf.yml', 'set-env: ["A=1,2"]\n');
  expect(planRun(['aider'], {}, TARGET)).toMatchObject({
    notes: ['aider is led here in part: a value of set-env has a comma, which no variable can say'],
  });
});

test('a client’s name among the words of another program says nothing', () => {
  writeHome('.claude/settings.json', { env: { ANTHROPIC_BASE_URL: 'https://llm.corp' } });
  const { env, left } = planRun(['python', 'app.py', '--model', 'claude-sonnet-4-5'], {}, TARGET);
  expect([env['ANTHROPIC_BASE_URL'], left]).toEqual([LED, []]);
  expect(planRun(['npx', '@anthropic-ai/claude-code@2'], {}, TARGET).env['ANTHROPIC_BASE_URL']).toBeUndefined();
});

test('Gemini CLI and Qwen Code read one file of variables: the first, their own before the folder’s', () => {
  const files = [
    ['gemini', '.gemini/.env', 'GOOGLE_GEMINI_BASE_URL'],
    ['qwen', '.qwen/.env', 'OPENAI_BASE_URL'],
  ] as const;
  for (const [program, own, name] of files) {
    writeHome('.env', `${name}=https://llm.corp\n`, TARGET.cwd);
    expect(planRun([program], {}, TARGET).env[name]).toBeUndefined();
    writeHome(own, 'A=1\n', TARGET.cwd);
    expect(planRun([program], {}, TARGET).env[name]).toContain(LED);
  }
});

test('aider with an address on its own command line says that it wins', () => {
  const command = ['aider', '--openai-api-base', 'https://api.openai.com/v1'];
  expect(planRun(command, {}, TARGET).notes).toEqual([
    'aider is led here in part: its --openai-api-base wins over what is said here',
  ]);
});

test('Codex beside a variable for another provider is not led, and says why', () => {
  const env = { OPENAI_BASE_URL: 'https://api.deepseek.com/v1', OPENAI_API_KEY: 'sk-1' };
  expect(planRun(['codex'], env, TARGET)).toMatchObject({
    args: [],
    notes: [expect.stringContaining('Codex is not led here: OPENAI_BASE_URL is an address of deepseek')],
  });
});

test('calls of Bedrock with an API key, which tells no region, are said to leave theirs', () => {
  const AWS_BEARER_TOKEN_BEDROCK = 'ABSK1';
  const notesOf = (env: object) => planRun(['x'], { AWS_BEARER_TOKEN_BEDROCK, ...env }, TARGET).notes;
  expect(notesOf({ AWS_REGION: 'eu-west-1' })).toEqual([
    "calls of Bedrock with an API key go to the gateway's own region for them (us-east-1 unless it is set otherwise), whatever AWS_REGION says; boto3's go to eu-west-1. --alias names an upstream in that region",
  ]);
  expect(notesOf({ AWS_REGION: 'us-east-1' })).toEqual([]);
  const ofAlias = { ...TARGET, hasAlias: true };
  expect(planRun(['x'], { AWS_BEARER_TOKEN_BEDROCK, AWS_REGION: 'eu-west-1' }, ofAlias).notes).toEqual([]);
  expect(notesOf({ AWS_REGION: 'eu-west-1', AWS_BEARER_TOKEN_BEDROCK: '' })).toEqual([]);
  const own = 'https://bedrock-runtime.eu-west-1.amazonaws.com';
  expect(notesOf({ AWS_REGION: 'eu-west-1', AWS_ENDPOINT_URL_BEDROCK_RUNTIME: own })).toEqual([]);
});
