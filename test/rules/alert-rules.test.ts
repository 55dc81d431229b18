/** The alerts of deploy/prometheus are about metrics, labels and values that there are. What they fire on, promtool tests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { METRICS } from '../../src/control/admin/metrics/metric-list.ts';
import { GATEWAY_ERRORS } from '../../src/vocabulary/errors.ts';

const folder = join(import.meta.dirname, '..', '..', 'deploy', 'prometheus');
const rules = readFileSync(join(folder, 'rules.yaml'), 'utf8');
const expressions = [...rules.matchAll(/^ +expr: (.+)$/gm)].map(([, expression = '']) => expression);

test('every metric that an alert names is one of ours, with the labels that it asks for', () => {
  const labelsOf = new Map(METRICS.map(({ name, labels }) => [name, labels ?? []]));
  const named = expressions.flatMap((text) => [...text.matchAll(/\b(tollgate_\w+)(?:\{(\w+)=)?/g)]);
  expect(named.length).toBeGreaterThan(14);
  for (const [, name = '', label] of named) {
    expect([name, labelsOf.has(name)]).toEqual([name, true]);
    if (label !== undefined) expect([name, labelsOf.get(name)?.includes(label)]).toEqual([name, true]);
  }
});

test('the refusals that an alert names are refusals of the gateway', () => {
  const codes = [...rules.matchAll(/code=~"([^"]+)"/g)].flatMap(([, list = '']) => list.split('|'));
  expect(codes).toEqual(['gateway_busy', 'log_unavailable']);
  expect(codes.filter((code) => !Object.hasOwn(GATEWAY_ERRORS, code))).toEqual([]);
});

test('every alert is tested to fire, and not to', () => {
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
  const tests = readFileSync(join(folder, 'rules.test.yaml'), 'utf8');
  const fire = [...tests.matchAll(/alertname="(\w+)"/g)].map(([, name]) => name);
  const stayQuiet = [...tests.matchAll(/alertname: (\w+)/g)].map(([, name]) => name);
  expect([fire.toSorted(), stayQuiet.toSorted()]).toEqual([alerts.toSorted(), alerts.toSorted()]);
});
