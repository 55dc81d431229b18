import { expect, test } from 'vitest';
import type { PriceRows } from '../api/prices.ts';
import { listLineSources } from './line-sources.ts';

const FOUND: PriceRows = {
  billing_model: 'claude',
  rows: [
    {
      key: 'catalog/anthropic/claude/input',
      layer: 'catalog',
      unit: 'input',
      service_tier: 'standard',
      rate: '3',
      per: 1_000_000,
      valid_from: null,
      valid_to: null,
      calendar: null,
      prompt_tier: null,
      places: null,
      source: 'genai-prices',
      checked_on: '2026-09-23',
      in_force: true,
    },
  ],
  rules: [
    {
      key: 'overlay/anthropic/batch',
      kind: 'multiplier',
      text: 'batch: × 0.5',
      source: 'Anthropic, Message Batches',
      checked_on: '2026-08-21',
      in_force: true,
    },
  ],
};

test('a row and the rules on top of it are told with their sources and dates', () => {
  expect(listLineSources('catalog/anthropic/claude/input × overlay/anthropic/batch', FOUND)).toEqual([
    {
      key: 'catalog/anthropic/claude/input',
      kind: 'rate',
      text: '',
      source: 'genai-prices',
      checkedOn: '2026-09-23',
    },
    {
      key: 'overlay/anthropic/batch',
      kind: 'multiplier',
      text: 'batch: × 0.5',
      source: 'Anthropic, Message Batches',
      checkedOn: '2026-08-21',
    },
  ]);
});

test('a row that the price book does not have any more is told by its name alone', () => {
  expect(listLineSources('override/anthropic/claude#7/input', FOUND)).toEqual([
    { key: 'override/anthropic/claude#7/input', kind: 'forgotten', text: '', source: '', checkedOn: null },
  ]);
  expect(listLineSources(null, FOUND)).toEqual([]);
});

test('a model id may hold the sign between rows and rules', () => {
  const [row] = FOUND.rows;
  if (row === undefined) throw new Error('no row');
  const key = 'override/openai/a × b#1/input';
  const found = { ...FOUND, rows: [{ ...row, key }] };
  expect(listLineSources(`${key} × overlay/anthropic/batch`, found).map((source) => [source.key, source.kind])).toEqual(
    [
      [key, 'rate'],
      ['overlay/anthropic/batch', 'multiplier'],
    ],
  );
});
