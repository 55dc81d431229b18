import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  checkDashboard,
  checkTree,
  IMPORT_TABLE,
  listSourceFiles,
  listUnused,
  listUpward,
  readDashboardViolations,
  readViolations,
} from './import-table.ts';

const src = join(import.meta.dirname, '..', '..', 'src');

test('no room imports what the import table does not allow', () => {
  expect(listSourceFiles(src).length).toBeGreaterThan(5);
  expect(checkTree(src)).toEqual([]);
});

test('the table allows nothing that nobody does, and nothing that runs back up', () => {
  expect(listUnused(src)).toEqual([]);
  expect(listUpward()).toEqual([]);
});

test('the check sees a forbidden import: the proxy reaching for the database', () => {
  expect(readViolations('proxy/handle-call.ts', "import { pool } from '../control/store/pool.ts';")).toEqual([
    { file: 'proxy/handle-call.ts', imports: 'control/store/pool.ts' },
  ]);
});

test('the check sees a part that reaches for the steps of a call: the upstream client for the route', () => {
  expect(readViolations('proxy/upstream/upstream-pool.ts', "import { chooseRoute } from '../route.ts';")).toEqual([
    { file: 'proxy/upstream/upstream-pool.ts', imports: 'proxy/route.ts' },
  ]);
});

test('the check sees a dynamic import and an import by the vocabulary', () => {
  expect(readViolations('control/admin/app.ts', "await import('../../proxy/route.ts')")).toHaveLength(1);
  expect(readViolations('vocabulary/usd.ts', "import { x } from '../formats/wire/sse.ts';")).toHaveLength(1);
});

test('the dashboard takes types from the server, and code only from what is pure', () => {
  expect(checkDashboard(join(src, '..'))).toEqual([]);
  expect(
    readDashboardViolations(
      'dashboard/src/pages/a.tsx',
      "import { readRun } from '../../../src/control/log/read-run.ts';",
    ),
  ).toEqual([{ file: 'dashboard/src/pages/a.tsx', imports: 'src/control/log/read-run' }]);
  expect(
    readDashboardViolations(
      'dashboard/src/a.ts',
      "import type { Run } from '../../src/control/admin/runs-resource.ts';",
    ),
  ).toEqual([]);
});

test('docs/layout.md has one row for each room of the import table', () => {
  const page = readFileSync(join(src, '..', 'docs', 'layout.md'), 'utf8').split('## Around')[0] ?? '';
  const named = [...page.matchAll(/^\| `([\w./-]+?)\/?` +\|/gm)].map(([, name = '']) => name);
  expect(named.toSorted()).toEqual(Object.keys(IMPORT_TABLE).toSorted());
});

test('src holds the doors of the table and main.ts, and nothing else', () => {
  const doors = new Set(Object.keys(IMPORT_TABLE).map((room) => room.split('/')[0]));
  expect(readdirSync(src).toSorted()).toEqual([...doors].toSorted());
});
