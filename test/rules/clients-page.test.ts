/** docs/clients.md and the lane that runs its recipes name the same ones, and the page says of each whether it is run. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { judgeRecord } from '../recipes/judge-record.ts';
import { readRecipes } from '../recipes/read-recipes.ts';
import { RECIPE_CASES } from '../recipes/recipe-cases.ts';
import { RUNNERS } from '../recipes/runners.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/clients.md'), 'utf8');

test('every recipe of the page is run, and every one that is run is on the page', () => {
  const onPage = readRecipes(page).map(({ name }) => name);
  const openings = Object.values(RUNNERS).flatMap(({ opening }) => opening ?? []);
  const run = [...RECIPE_CASES.map(({ recipe }) => recipe), ...openings];
  expect(onPage.toSorted()).toEqual([...new Set(run)].toSorted());
});

test('two recipes of one name are refused, and blocks without a name are none', () => {
  const block = '```sh recipe curl\ncurl x\n```\n';
  expect(readRecipes(`a\n\`\`\`sh\nls\n\`\`\`\n${block}`)).toEqual([
    { name: 'curl', language: 'sh', code: 'curl x\n' },
  ]);
  expect(() => readRecipes(block + block)).toThrow('two recipes are named curl');
});

/** The cells under "State" of every table that has such a column in second place. */
function readStates(text: string): readonly string[] {
  const tables = text.split(/\n{2,}/).filter((part) => /^\|[^|]+\| State +\|/.test(part));
  return tables.flatMap((table) =>
    table
      .split('\n')
      .slice(2)
      .map((row) => row.split('|')[2]?.trim() ?? ''),
  );
}

test('each client has a state: tested with a version, or not run', () => {
  const states = readStates(page);
  expect(states.length).toBeGreaterThan(50);
  expect(states.filter((state) => !/^(?:tested(?: in CI)?, \d|not run$)/.test(state))).toEqual([]);
});

const CASE = { recipe: 'openai', runner: 'python', modules: ['openai'], provider: 'openai', model: /^m$/ } as const;
const ROW = {
  outcome: 'ok',
  provider: 'openai',
  model_requested: 'm',
  trace_id: 'run-1',
  span_path: 'plan/search',
  raw_metadata: { feature: 'checkout' },
  input_tokens: 3,
  output_tokens: 1,
};

test('a call is as its recipe says only with its run, its place, its metadata and its tokens', () => {
  expect(judgeRecord(CASE, ROW)).toEqual([]);
  expect(judgeRecord(CASE, { ...ROW, trace_id: null, input_tokens: null, raw_metadata: {} })).toEqual([
    'trace_id is null, not "run-1"',
    'the metadata Feature is null, not "checkout"',
    'it has no tokens',
  ]);
  expect(judgeRecord({ ...CASE, traceId: /^codex:/, spanPath: null, feature: null }, ROW)).toEqual([
    'trace_id is "run-1", not /^codex:/',
    'span_path is "plan/search", not null',
    'the metadata Feature is "checkout", not null',
  ]);
});
