/** A home of its own: every client set up, then taken back to the byte. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { carryOut, listAboutToWrite } from './carry-out.ts';
import { isChange, planSetup, planUndo } from './plan-setup.ts';
import { requireSetupClient, SETUP_CLIENTS } from './registry.ts';
import type { SetupRecord } from './setup-record.ts';

const FORMER: Readonly<Record<string, string>> = {
  '.claude/settings.json': '{\n    "env": {"ANTHROPIC_CUSTOM_HEADERS": "X-Team: a"},\n    "model": "opus"\n}',
  '.codex/config.toml': '# mine\r\nmodel = "gpt-5.5"\r\n',
  '.gemini/.env': 'GEMINI_API_KEY=abc',
  '.gemini/settings.json': '{"ui": {"theme": "x"}}\n',
  '.config/opencode/opencode.jsonc': '{\n  // mine\n  "theme": "x",\n}\n',
  '.qwen/settings.json': '{}',
  '.cline/data/settings/providers.json':
    '{"providers":{"anthropic":{"settings":{"apiKey":"a"}},"cline":{"settings":{}}}}',
  '.continue/config.yaml': 'name: a\nmodels:\n- {name: A, provider: anthropic, model: m}\n',
  '.aider.conf.yml': '# mine\nset-env: [A=1]\n',
};

let home = '';

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tollgate-setup-'));
  for (const [name, text] of Object.entries(FORMER)) {
    mkdirSync(join(home, dirname(name)), { recursive: true });
    writeFileSync(join(home, name), text, { mode: 0o644 });
  }
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function readTree(): Readonly<Record<string, string>> {
  const names = readdirSync(home, { recursive: true, encoding: 'utf8' });
  return Object.fromEntries(
    names.toSorted().map((name) => {
      const path = join(home, name);
      const { mode } = statSync(path);
      return [`${name} ${(mode & 0o777).toString(8)}`, statSync(path).isFile() ? readFileSync(path, 'utf8') : ''];
    }),
  );
}

function plan(name: string, key: string, record: SetupRecord | null = null) {
  const ownDir = join(home, '.config', 'tollgate');
  return planSetup(requireSetupClient(name), { origin: 'http://gw:4141', key, home, env: {}, ownDir }, record);
}

function setUp(name: string, key: string, record: SetupRecord | null = null): SetupRecord {
  return { key, key_id: null, files: [...carryOut(plan(name, key, record), record)] };
}

test.each(SETUP_CLIENTS.map(({ name }) => name))(
  '%s: set up twice is set up once, with another key too; undone, the home is as it was to the byte',
  (name) => {
    const before = readTree();
    const first = setUp(name, 'tgk_one');
    const after = readTree();
    expect(after).not.toEqual(before);
    expect(plan(name, 'tgk_one', first).some(isChange)).toBe(false);
    const second = setUp(name, 'tgk_two', first);
    const texts = JSON.stringify(readTree());
    expect([texts.includes('tgk_one'), texts.includes('tgk_two')]).toEqual([false, true]);
    for (const [file, text] of Object.entries(readTree())) if (text.includes('tgk_two')) expect(file).toMatch(/ 600$/);
    carryOut(planUndo(second), second);
    expect(readTree()).toEqual(before);
  },
);

test('what a program has written since stays, and what setup made goes', () => {
  const path = join(home, '.qwen/settings.json');
  const record = setUp('qwen', 'tgk_one');
  writeFileSync(path, readFileSync(path, 'utf8').replace('{', '{\n  "$version": 3,'));
  carryOut(planUndo(record), record);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ $version: 3 });
});

test('a file that setup made stays where somebody has added to it', () => {
  rmSync(join(home, '.codex'), { recursive: true });
  const path = join(home, '.codex/config.toml');
  const record = setUp('codex', 'tgk_one');
  writeFileSync(path, `${readFileSync(path, 'utf8')}\n[tui]\ntheme = "x"\n`);
  carryOut(planUndo(record), record);
  expect(readFileSync(path, 'utf8').trim()).toBe('[tui]\ntheme = "x"');
});

test('the user’s own headers stay beside the key, and a link stays a link', () => {
  const real = join(home, 'dotfiles.json');
  const path = join(home, '.claude/settings.json');
  writeFileSync(real, readFileSync(path, 'utf8'));
  chmodSync(real, 0o644);
  rmSync(path);
  symlinkSync(real, path);
  const record = setUp('claude', 'tgk_one');
  expect(JSON.parse(readFileSync(real, 'utf8'))).toEqual({
    env: { ANTHROPIC_CUSTOM_HEADERS: 'X-Team: a\nX-Gateway-Key: tgk_one', ANTHROPIC_BASE_URL: 'http://gw:4141' },
    model: 'opus',
  });
  carryOut(planUndo(record), record);
  expect(readFileSync(real, 'utf8')).toBe(FORMER['.claude/settings.json']);
  expect(existsSync(path)).toBe(true);
});

test('a client without anything to lead says what comes first', () => {
  rmSync(join(home, '.cline'), { recursive: true });
  expect(() => plan('cline', 'tgk_one')).toThrow('has no provider yet; sign in first');
  writeFileSync(join(home, '.continue/config.yaml'), 'models: []\n');
  expect(() => plan('continue', 'tgk_one')).toThrow('has no model of a provider that the gateway serves');
});

/** Whatever is written before it breaks off: nothing, or the first of its files. */
test.each([0, 1])(
  'opencode: broken off after %i files, it is undone to the byte, and can be tried again',
  (written) => {
    const before = readTree();
    const first = setUp('opencode', 'tgk_one');
    const half = plan('opencode', 'tgk_two', first);
    const record: SetupRecord = { key: 'tgk_two', key_id: null, files: [...listAboutToWrite(half, first)] };
    carryOut(half.toReversed().slice(0, written), first);
    const undo = planUndo(record);
    expect(undo.flatMap(({ left }) => left)).toEqual([]);
    const second = setUp('opencode', 'tgk_two', record);
    expect(JSON.stringify(readTree())).not.toContain('tgk_one');
    carryOut(planUndo(second), second);
    expect(readTree()).toEqual(before);
  },
);

test('an undoing that was broken off goes on', () => {
  const before = readTree();
  const record = setUp('gemini', 'tgk_one');
  carryOut(planUndo(record).slice(0, 1), record);
  carryOut(planUndo(record), record);
  expect(readTree()).toEqual(before);
});

test('a client with several addresses keeps those of servers of one’s own; with one alone it is said that it is replaced', () => {
  const servers = (name: string) => plan(name, 'tgk_one').flatMap(({ foreign, replaced }) => [...foreign, ...replaced]);
  const write = (name: string, text: string) => writeFileSync(join(home, name), text);
  write(
    '.continue/config.yaml',
    'models:\n- {name: A, provider: openai, apiBase: https://openrouter.ai/api/v1}\n- {name: B, provider: openai}\n',
  );
  write('.config/opencode/opencode.jsonc', '{"provider":{"openai":{"options":{"baseURL":"https://llm.corp/v1"}}}}');
  mkdirSync(join(home, '.pi/agent'), { recursive: true });
  write('.pi/agent/models.json', '{"providers":{"openai":{"baseUrl":"https://llm.corp/v1"}}}');
  write('.cline/data/settings/providers.json', '{"providers":{"openai":{"settings":{"baseUrl":"https://llm.corp"}}}}');
  expect(['continue', 'opencode', 'pi', 'cline'].map(servers)).toEqual([
    ['model "A" at openrouter.ai'],
    ['provider "openai" at llm.corp'],
    ['provider "openai" at llm.corp'],
    ['provider "openai" at llm.corp'],
  ]);
  for (const name of ['continue', 'opencode', 'pi', 'cline']) setUp(name, 'tgk_one');
  expect(readFileSync(join(home, '.continue/config.yaml'), 'utf8')).toContain('https://openrouter.ai/api/v1');
  expect(readFileSync(join(home, '.config/opencode/opencode.jsonc'), 'utf8')).toContain('https://llm.corp/v1');
  expect(readFileSync(join(home, '.pi/agent/extensions/tollgate.js'), 'utf8')).not.toContain("'openai'");
  expect(readFileSync(join(home, '.cline/data/settings/providers.json'), 'utf8')).not.toContain('tgk_one');

  write('.claude/settings.json', '{"env":{"ANTHROPIC_BASE_URL":"https://user:secret@llm.corp/x"}}');
  write('.qwen/settings.json', '{"security":{"auth":{"baseUrl":"https://dashscope.aliyuncs.com/v1"}}}');
  write('.gemini/.env', 'GOOGLE_GEMINI_BASE_URL=https://llm.corp\n');
  write('.aider.conf.yml', 'set-env: [OPENAI_API_BASE=https://openrouter.ai/api/v1]\n');
  write('.codex/config.toml', 'model_provider = "corp"\n[model_providers.corp]\nbase_url = "https://llm.corp/v1"\n');
  expect(['claude', 'qwen', 'gemini', 'aider', 'codex'].map(servers)).toEqual([
    ['ANTHROPIC_BASE_URL at llm.corp'],
    ['baseUrl at dashscope.aliyuncs.com'],
    ['GOOGLE_GEMINI_BASE_URL at llm.corp'],
    ['OPENAI_API_BASE at openrouter.ai'],
    ['the provider "corp" at llm.corp'],
  ]);
  write('.claude/settings.json', '{"env":{"ANTHROPIC_BASE_URL":"https://api.anthropic.com"}}');
  expect(servers('claude')).toEqual([]);
});

function writeHome(name: string, text: string): void {
  mkdirSync(dirname(join(home, name)), { recursive: true });
  writeFileSync(join(home, name), text);
}

function textAfter(client: string, name: string): string {
  setUp(client, 'tgk_one');
  return readFileSync(join(home, name), 'utf8');
}

test('aider has the key in the addresses that are led here, and nowhere else', () => {
  writeHome(
    '.aider.conf.yml',
    `openai-api-base: https://openrouter.ai/api/v1
set-env:
  - A=1
  - OPENAI_BASE_URL=https://api.deepseek.com/beta
  - TOGETHER_AI_API_BASE=https://llm.corp/v1
`,
  );
  expect(plan('aider', 'tgk_one').flatMap(({ replaced }) => replaced)).toEqual([
    'TOGETHER_AI_API_BASE at llm.corp',
    'openai-api-base at openrouter.ai',
  ]);
  expect(textAfter('aider', '.aider.conf.yml')).toBe(`openai-api-base: http://gw:4141/@tgk_one/v1
set-env:
  - A=1
  - OPENAI_API_BASE=http://gw:4141/@tgk_one/v1
  - ANTHROPIC_API_BASE=http://gw:4141/@tgk_one
  - GEMINI_API_BASE=http://gw:4141/@tgk_one
  - OPENAI_BASE_URL=http://gw:4141/@tgk_one.deepseek/beta
  - TOGETHER_AI_API_BASE=http://gw:4141/@tgk_one.together/v1
`);
  expect(existsSync(join(home, '.aider.model.settings.yml'))).toBe(false);
});

test('a client with one address, at another provider, names that one and keeps its path', () => {
  writeHome('.qwen/settings.json', '{"env":{"OPENAI_BASE_URL":"https://api.together.xyz/v1"}}');
  expect(JSON.parse(textAfter('qwen', '.qwen/settings.json'))).toEqual({
    env: { OPENAI_BASE_URL: 'http://gw:4141/v1' },
    model: {
      generationConfig: { customHeaders: { 'X-Gateway-Key': 'tgk_one', 'X-Gateway-Provider': 'together' } },
    },
  });
  writeHome('.claude/settings.json', '{"env":{"ANTHROPIC_BASE_URL":"https://api.deepseek.com/anthropic"}}');
  expect(JSON.parse(textAfter('claude', '.claude/settings.json'))).toEqual({
    env: {
      ANTHROPIC_BASE_URL: 'http://gw:4141/anthropic',
      ANTHROPIC_CUSTOM_HEADERS: 'X-Gateway-Key: tgk_one\nX-Gateway-Provider: deepseek',
    },
  });
  writeHome('.gemini/.env', 'GOOGLE_GEMINI_BASE_URL=http://gw:4141/@tgk_old.fireworks\n');
  expect(textAfter('gemini', '.gemini/.env')).toBe(
    'GOOGLE_GEMINI_BASE_URL="http://gw:4141"\nGEMINI_CLI_CUSTOM_HEADERS="X-Gateway-Key: tgk_one, X-Gateway-Provider: fireworks"\n',
  );
  // Its key is another one than for that provider.
  writeHome(
    '.codex/config.toml',
    'model_provider = "seek"\n[model_providers.seek]\nbase_url = "https://api.deepseek.com/v1"\n',
  );
  expect(plan('codex', 'tgk_one')[0]?.replaced).toEqual(['the provider "seek" at api.deepseek.com']);
});

test('an address in a region of its own is another server', () => {
  writeHome('.claude/settings.json', '{"env":{"ANTHROPIC_BASE_URL":"https://eu.api.openai.com"}}');
  expect(plan('claude', 'tgk_one')[0]?.replaced).toEqual(['ANTHROPIC_BASE_URL at eu.api.openai.com']);
  writeHome(
    '.config/opencode/opencode.jsonc',
    '{"provider":{"openai":{"options":{"baseURL":"https://eu.api.openai.com/v1"}}}}',
  );
  expect(plan('opencode', 'tgk_one')[1]?.foreign).toEqual(['provider "openai" at eu.api.openai.com']);
});
