import { expect, test } from 'vitest';
import { createRunModel } from './run-model.ts';
import { findKey, nameAt } from './run-table.ts';
import { listChildShares, listCostliestCalls, listModelShares, listSteps } from './step-summary.ts';
import { toColumns } from './test-columns.ts';

const model = createRunModel();
model.addCalls(
  toColumns([
    { path: 'plan', name: 'ask', cost: '0.1', model: 'small' },
    { path: 'plan', name: 'ask', cost: '0.2', model: 'large' },
    { path: 'plan/ask', name: 'deep', cost: '0.25', model: 'large', outcome: 'upstream_error' },
    { path: 'write', name: 'draft', cost: null, model: null },
  ]),
);
const table = model.build(true);
const plan = findKey(table, 'plan') ?? -1;

test('a step of a name and calls of the same name are two shares of the cost', () => {
  expect(listChildShares(table, plan).map(({ label, cost, calls }) => [label, cost, calls])).toEqual([
    ['ask', 300_000_000_000n, 2],
    ['ask', 250_000_000_000n, 1],
  ]);
});

test('shares by model add up to the step, with calls whose model is not known', () => {
  expect(listModelShares(table, 0).map(({ label, cost, unpriced }) => [label, cost, unpriced])).toEqual([
    ['large', 450_000_000_000n, 0],
    ['small', 100_000_000_000n, 0],
    ['(not known)', 0n, 1],
  ]);
});

test('the costliest calls come first, as many as asked for', () => {
  expect(listCostliestCalls(table, 0, 2).map((row) => nameAt(table, row))).toEqual(['deep', 'ask']);
});

test('steps are listed by cost, by errors, or as the tree has them', () => {
  const listed = (sort: Parameters<typeof listSteps>[1], isDescending: boolean) =>
    listSteps(table, sort, isDescending).map(({ path }) => path);
  expect(listed('cost', true)).toEqual(['plan', 'plan / ask', 'write']);
  expect(listed('cost', false)).toEqual(['write', 'plan / ask', 'plan']);
  expect(listed('path', false)).toEqual(['plan', 'plan / ask', 'write']);
  expect(listed('errors', true)).toEqual(['plan', 'plan / ask', 'write']);
});

test('the calls in no step are a line of their own, so that the outermost lines add up to the run', () => {
  const mixed = createRunModel();
  mixed.addCalls(
    toColumns([
      { path: 'plan', name: 'ask', cost: '0.1', model: 'small' },
      { path: null, name: 'a', cost: '0.2', model: 'small' },
      { path: null, name: 'b', cost: null, model: 'small', outcome: 'upstream_error' },
    ]),
  );
  const lines = listSteps(mixed.build(true), 'path', false);
  expect(
    lines.map(({ path, calls, cost, ownCost, unpriced, errors }) => [path, calls, cost, ownCost, unpriced, errors]),
  ).toEqual([
    ['(no step)', 2, 200_000_000_000n, 200_000_000_000n, 1, 1],
    ['plan', 1, 100_000_000_000n, 100_000_000_000n, 0, 0],
  ]);
});

test('a run without steps has the one line of its calls', () => {
  const flat = createRunModel();
  flat.addCalls(toColumns([{ path: null, name: 'a', cost: '0.2', model: 'small' }]));
  expect(listSteps(flat.build(true), 'cost', true).map(({ path, cost }) => [path, cost])).toEqual([
    ['(no step)', 200_000_000_000n],
  ]);
});
