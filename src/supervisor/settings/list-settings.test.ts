import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ConfigFlags, Setting } from '../../vocabulary/config.ts';
import { listSettings } from './list-settings.ts';
import { readConfig } from './read-config.ts';

function settingsOf(env: Record<string, string>, flags: ConfigFlags = {}): ReadonlyMap<string, Setting> {
  const listed = listSettings(readConfig(flags, env), flags, env);
  return new Map(listed.map((setting) => [setting.name, setting]));
}

test('each setting has its value and where it came from', () => {
  const settings = settingsOf(
    {
      TOLLGATE_PORT: '5000',
      TOLLGATE_BODIES: ' ',
      TOLLGATE_WORKERS: '2',
      TOLLGATE_UPSTREAM_OPENAI_EU_WEST: 'http://a/b',
    },
    { workers: '3', demo: true },
  );
  const shown = ['TOLLGATE_PORT', 'TOLLGATE_BODIES', 'TOLLGATE_WORKERS', 'TOLLGATE_PUBLIC_URL', '--demo'];
  expect([...shown, 'TOLLGATE_UPSTREAM_OPENAI_EU_WEST'].map((name) => settings.get(name))).toEqual([
    { name: 'TOLLGATE_PORT', value: '5000', source: 'environment' },
    { name: 'TOLLGATE_BODIES', value: 'full', source: 'default' },
    { name: 'TOLLGATE_WORKERS', value: '3', source: 'flag' },
    { name: 'TOLLGATE_PUBLIC_URL', value: null, source: 'default' },
    { name: '--demo', value: 'on', source: 'flag' },
    { name: 'TOLLGATE_UPSTREAM_OPENAI_EU_WEST', value: 'http://a/b', source: 'environment' },
  ]);
});

test('no secret is shown', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tg-'));
  const file = join(dir, 'token');
  writeFileSync(file, 'hunter2-hunter2-hunter2\n');
  const settings = settingsOf({
    DATABASE_URL: 'postgresql://me:hunter2@db.example:5432/calls?password=hunter2',
    TOLLGATE_ADMIN_TOKEN_FILE: file,
    https_proxy: 'http://me:hunter2@proxy.example:3128/',
    HTTP_PROXY: 'me:hunter2@proxy.example:3128',
  });
  expect(JSON.stringify([...settings.values()])).not.toContain('hunter2');
  expect(
    ['DATABASE_URL', 'TOLLGATE_ADMIN_TOKEN', 'HTTPS_PROXY', 'HTTP_PROXY'].map((name) => settings.get(name)),
  ).toEqual([
    { name: 'DATABASE_URL', value: 'postgresql://db.example:5432/calls', source: 'environment' },
    { name: 'TOLLGATE_ADMIN_TOKEN', value: '(set)', source: 'file' },
    { name: 'HTTPS_PROXY', value: 'http://proxy.example:3128/', source: 'environment' },
    { name: 'HTTP_PROXY', value: '(set)', source: 'environment' },
  ]);
  rmSync(dir, { recursive: true });
});

test('of credentials for AWS only that they are there is shown', () => {
  const settings = settingsOf({
    TOLLGATE_AWS_BEDROCK_EU_REGION: 'eu-west-1',
    TOLLGATE_AWS_BEDROCK_EU_ACCESS_KEY_ID: 'AKIAHUNTER2HUNTER2',
    TOLLGATE_AWS_BEDROCK_EU_SECRET_ACCESS_KEY: 'hunter2',
    TOLLGATE_AWS_BEDROCK_EU_SESSION_TOKEN: 'hunter2',
    TOLLGATE_AWS_BEDROCK_REGION: 'eu-west-1',
    TOLLGATE_AWS_BEDROCK_CREDENTIALS: 'Ambient',
  });
  const shown = [...settings.values()].filter(({ name }) => name.includes('BEDROCK'));
  expect(JSON.stringify(shown)).not.toMatch(/hunter2/i);
  expect(shown.map(({ name, value, source }) => `${name}=${value} ${source}`)).toEqual([
    'TOLLGATE_UPSTREAM_BEDROCK=https://bedrock-runtime.eu-west-1.amazonaws.com/ default',
    'TOLLGATE_AWS_BEDROCK_REGION=eu-west-1 environment',
    'TOLLGATE_AWS_BEDROCK_CREDENTIALS=ambient environment',
    'TOLLGATE_UPSTREAM_BEDROCK_EU=https://bedrock-runtime.eu-west-1.amazonaws.com/ default',
    'TOLLGATE_AWS_BEDROCK_EU_REGION=eu-west-1 environment',
    'TOLLGATE_AWS_BEDROCK_EU_ACCESS_KEY_ID=(set) environment',
    'TOLLGATE_AWS_BEDROCK_EU_SECRET_ACCESS_KEY=(set) environment',
    'TOLLGATE_AWS_BEDROCK_EU_SESSION_TOKEN=(set) environment',
  ]);
});

test('a first start shows the token of its own making as not set', () => {
  expect(settingsOf({}).get('TOLLGATE_ADMIN_TOKEN')).toEqual({
    name: 'TOLLGATE_ADMIN_TOKEN',
    value: null,
    source: 'default',
  });
});
