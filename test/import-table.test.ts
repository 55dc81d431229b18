import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROVIDER_NAMES } from '../src/call-record.ts';
import { checkDashboard, checkTree, listSourceFiles, readDashboardViolations, readViolations } from './import-table.ts';

const src = join(import.meta.dirname, '..', 'src');

test('no folder imports what the import table does not allow', () => {
  expect(listSourceFiles(src).length).toBeGreaterThan(5);
  expect(checkTree(src)).toEqual([]);
});

test('the check sees a forbidden import: the proxy reaching for the database', () => {
  expect(readViolations('proxy/handle-call.ts', "import { pool } from '../store/pool.ts';")).toEqual([
    { file: 'proxy/handle-call.ts', imports: 'store/pool.ts' },
  ]);
});

test('the check sees a part that reaches for the steps of a call: the upstream client for the route', () => {
  expect(readViolations('proxy/upstream/upstream-pool.ts', "import { chooseRoute } from '../route.ts';")).toEqual([
    { file: 'proxy/upstream/upstream-pool.ts', imports: 'proxy/route.ts' },
  ]);
});

test('the check sees a dynamic import and an import by the vocabulary', () => {
  expect(readViolations('admin/app.ts', "await import('../proxy/route.ts')")).toHaveLength(1);
  expect(readViolations('usd.ts', "import { x } from './wire/sse.ts';")).toHaveLength(1);
});

test('the dashboard takes types from the server, and code only from what is pure', () => {
  expect(checkDashboard(join(src, '..'))).toEqual([]);
  expect(
    readDashboardViolations('dashboard/src/pages/a.tsx', "import { readRun } from '../../../src/runs/read-run.ts';"),
  ).toEqual([{ file: 'dashboard/src/pages/a.tsx', imports: 'src/runs/read-run' }]);
  expect(
    readDashboardViolations('dashboard/src/a.ts', "import type { Run } from '../../src/admin/runs-resource.ts';"),
  ).toEqual([]);
});

test('docs/layout.md has one row for each folder and each file of src, and for nothing that is not there', () => {
  const page = readFileSync(join(src, '..', 'docs', 'layout.md'), 'utf8').split('## Around')[0] ?? '';
  const firstCells = [...page.matchAll(/^\| (`.*?) +\|/gm)].map(([, cell = '']) => cell);
  const named = firstCells.flatMap((cell) => [...cell.matchAll(/`([\w.-]+)\/?`/g)].map(([, name = '']) => name));
  const present = readdirSync(src).filter((name) => !name.endsWith('.test.ts'));
  expect(named.toSorted()).toEqual(present.toSorted());
});

test('a provider is named only in its own file, the registry and the vocabulary', () => {
  const neutral = ['proxy/', 'wire/', 'spool/', 'shipper/', 'store/', 'runs/'];
  const named = listSourceFiles(src)
    .filter((file) => neutral.some((folder) => file.startsWith(folder)) && !file.endsWith('.test.ts'))
    .filter((file) => {
      const code = readFileSync(join(src, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      return PROVIDER_NAMES.some((name) => new RegExp(`\\b${name}\\b`, 'i').test(code));
    });
  expect(named).toEqual([]);
});
