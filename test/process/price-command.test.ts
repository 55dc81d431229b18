/** `tollgate price` as a user runs it, against a real admin API without a database; the examples of the docs among it. */

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAdminApp } from '../../src/control/admin/admin-app.ts';
import { type AdminServer, listenAdmin } from '../../src/control/admin/admin-server.ts';
import { createCurrentPriceBook } from '../../src/control/prices/declared/current-price-book.ts';
import { bareAdminDeps } from '../support/admin-deps.ts';

const ROOT = join(import.meta.dirname, '../..');
const TOKEN = 'test-admin-token';

let api: AdminServer;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-price-'));
  const app = createAdminApp(bareAdminDeps({ adminToken: TOKEN, prices: createCurrentPriceBook() }));
  api = await listenAdmin(app, '127.0.0.1', 0);
});
afterAll(async () => {
  await api.close();
  rmSync(folder, { recursive: true });
});

interface Ran {
  readonly code: number | string | null | undefined;
  readonly output: string;
  readonly errors: string;
}

function run(args: readonly string[], input = ''): Promise<Ran> {
  const env = {
    PATH: process.env['PATH'],
    TOLLGATE_ADMIN_URL: `http://127.0.0.1:${api.port}`,
    TOLLGATE_ADMIN_TOKEN: TOKEN,
  };
  return new Promise((resolve) => {
    const command = [join(ROOT, 'src/main.ts'), 'price', ...args];
    const child = execFile(process.execPath, command, { cwd: folder, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, output: stdout, errors: stderr });
    });
    child.stdin?.end(input);
  });
}

/** It changes with every price. */
function withoutVersion(text: string): string {
  return text.replace(/price version [\da-f]{16}/g, 'price version …').trimEnd();
}

test('the examples in docs/pricing.md print what they are said to print', async () => {
  const docs = readFileSync(join(ROOT, 'docs/pricing.md'), 'utf8');
  const section = docs.split('\n## What would it cost?\n')[1]?.split('\n## ')[0] ?? '';
  const blocks = [...section.matchAll(/```(\w+)\n(.*?)```/gs)].map(([, kind = '', text = '']) => ({ kind, text }));
  writeFileSync(join(folder, 'case.json'), blocks.find(({ kind }) => kind === 'json')?.text ?? '');
  const examples = blocks.filter(({ kind }) => kind === 'console');
  expect(examples.length).toBeGreaterThan(2);
  for (const { text } of examples) {
    const [command = '', ...said] = text.split('\n');
    const [prompt, program, name, ...args] = command.split(' ');
    expect([prompt, program, name]).toEqual(['$', 'tollgate', 'price']);
    const { output, errors } = await run(args);
    expect(withoutVersion(output + errors)).toBe(withoutVersion(said.join('\n')));
  }
});

test('reads a question from stdin, and answers programs in JSON', async () => {
  const question = {
    provider: 'anthropic',
    endpoint: 'POST /v1/messages',
    model: 'claude-haiku-4-5-20251001',
    usage: { input_tokens: 40, cache_creation: { ephemeral_1h_input_tokens: 20_000 }, output_tokens: 600 },
  };
  const { code, output } = await run(['--file', '-', '--json'], JSON.stringify(question));
  expect(code).toBe(0);
  expect(JSON.parse(output)).toMatchObject({ total_cost: '0.04304', cost_status: 'exact' });
});

test('says in one line what is wrong and what to write', async () => {
  const refused = async (args: readonly string[], input = '') => {
    const { code, output, errors } = await run(args, input);
    expect([code, output]).toEqual([1, '']);
    return errors;
  };
  // As it can be typed in this folder, for this gateway.
  expect(await refused(['openai'])).toMatch(
    /^tollgate: say whose model: `\S*tollgate price openai gpt-5\.4 --input 1200 --output 350( --data-dir \S+)?`\n$/,
  );
  expect(await refused(['openai', 'gpt-5.4', '--input', '12k'])).toBe(
    'tollgate: --input: "12k" is not a whole number\n',
  );
  expect(await refused(['openai', 'gpt-5.4', '--class', 'images=2'])).toMatch(
    /^tollgate: --class: "images" is no class/,
  );
  expect(await refused(['--file', '-'], '[]')).toMatch(/^tollgate: --file: - is not one JSON object/);
});
