/** What can be said of the chart in deploy/helm without Helm. `npm run test:chart` renders it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { listUnknownSettings } from '../../src/supervisor/settings/unknown-settings.ts';
import { asRecord } from '../gateway/start-gateway.ts';

const ROOT = join(import.meta.dirname, '../..');
const CHART = join(ROOT, 'deploy/helm/tollgate');

const read = (...path: readonly string[]): string => readFileSync(join(...path), 'utf8');
const readYaml = (name: string): Readonly<Record<string, unknown>> => asRecord(parse(read(CHART, name)));
const schema = asRecord(JSON.parse(read(CHART, 'values.schema.json')));

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A schema, or the one that it refers to. */
function follow(found: unknown): Readonly<Record<string, unknown>> {
  const ref = isMap(found) ? found['$ref'] : undefined;
  return asRecord(typeof ref === 'string' ? asRecord(schema['definitions'])[ref.replace('#/definitions/', '')] : found);
}

/** Paths of values that the schema names: `proxy.spool.size`. What is free below a value is not looked into. */
function listNamed(node: Readonly<Record<string, unknown>>, path: string): string[] {
  const properties = node['properties'];
  if (!isMap(properties)) return [path];
  return Object.entries(properties).flatMap(([name, below]) =>
    listNamed(follow(below), path === '' ? name : `${path}.${name}`),
  );
}

function listGiven(values: unknown, node: Readonly<Record<string, unknown>>, path: string): string[] {
  const properties = node['properties'];
  if (!isMap(properties) || !isMap(values)) return [path];
  return Object.entries(values).flatMap(([name, below]) => {
    const inner = path === '' ? name : `${path}.${name}`;
    return properties[name] === undefined ? [`${inner} (unknown)`] : listGiven(below, follow(properties[name]), inner);
  });
}

test('the chart has the version of the product, and installs that version of the image', () => {
  const { version } = asRecord(JSON.parse(read(ROOT, 'package.json')));
  const { version: chart, appVersion } = readYaml('Chart.yaml');
  expect({ chart, appVersion }).toEqual({ chart: version, appVersion: version });
  expect(asRecord(readYaml('values.yaml')['image'])['tag']).toBe('');
});

test('every value has its default in values.yaml and its form in the schema, and nothing else has', () => {
  // `global` is what Helm itself passes on to a chart within another.
  const named = listNamed(schema, '').filter((path) => path !== 'global');
  expect(listGiven(readYaml('values.yaml'), schema, '').sort()).toEqual(named.sort());
});

test.each(['values-small.yaml', 'values-large.yaml'])('%s gives only values that there are', (name) => {
  const known = new Set(listNamed(schema, ''));
  const given = listGiven(readYaml(name), schema, '');
  expect(given.filter((path) => !known.has(path))).toEqual([]);
});

test('every variable that the chart sets is a setting, and none can be set a second time', () => {
  const text = read(CHART, 'templates/_env.tpl');
  const [, own = ''] = /define "tollgate\.ownSettings" -}}\n(.+)\n/.exec(text) ?? [];
  const reserved = own.split(' ');
  const set = [...text.matchAll(/name: ([A-Z][A-Z_]+)[, \n]/g)].map(([, name = '']) => name);
  expect(set).toContain('TOLLGATE_ROLE');
  expect(set.filter((name) => !reserved.includes(name))).toEqual([]);
  const { DATABASE_URL, DATABASE_URL_FILE, ...tollgate } = Object.fromEntries(reserved.map((name) => [name, 'x']));
  expect([DATABASE_URL, DATABASE_URL_FILE]).toEqual(['x', 'x']);
  expect(listUnknownSettings(tollgate)).toEqual([]);
});

test('the alerts of the chart are those of deploy/prometheus', () => {
  expect(read(CHART, 'files/rules.yaml')).toBe(read(ROOT, 'deploy/prometheus/rules.yaml'));
});

test('what the page on Kubernetes tells to set are values of the chart', () => {
  const known = listNamed(schema, '');
  const page = read(ROOT, 'docs/kubernetes.md');
  const told = [...page.matchAll(/--set(?:-string|-json)? '?([a-z]\w*(?:\.\w+)*)/g)].map(([, path = '']) => path);
  expect(told).toContain('database.existingSecret');
  expect(told.filter((path) => !known.some((name) => path === name || path.startsWith(`${name}.`)))).toEqual([]);
  const files = [...page.matchAll(/deploy\/[\w/.-]+/g)].map(([file]) => file);
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});
