/**
 * Which room of `src/` may import which: the structure of the code as a table, and the small reader that checks it.
 * `node test/rules/import-table.ts` says in a second what breaks it, and is the first thing `npm run check` does.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/**
 * Room → the rooms it imports besides itself and `vocabulary`, which every room below its row may import. A row names only rooms of
 * rows above it, so that nothing runs back up and there are no circles. The table is exact: an import without a
 * permission and a permission without an import are both faults.
 */
export const IMPORT_TABLE: Readonly<Record<string, readonly string[]>> = {
  providers: [],
  vocabulary: ['providers'],
  'formats/wire': [],
  clients: ['formats/wire'],
  'formats/usage': ['providers', 'formats/wire'],
  'formats/texts': ['formats/wire', 'formats/usage'],
  pricing: ['formats/wire', 'formats/usage', 'providers'],
  keys: [],
  budgets: [],
  sockets: [],
  spool: [],
  proxy: ['formats/wire', 'formats/usage', 'providers', 'clients', 'pricing', 'keys', 'budgets', 'sockets', 'spool'],
  'control/audit': ['formats/wire'],
  'control/store': ['control/audit'],
  'control/jobs': ['control/audit', 'control/store'],
  'control/search': ['control/store'],
  'control/log': ['formats/wire', 'control/store', 'control/search', 'control/jobs'],
  'control/metadata': ['control/store', 'control/jobs', 'control/log'],
  'control/texts': ['formats/wire', 'formats/texts', 'control/store', 'control/jobs', 'control/log'],
  'control/budgets': ['budgets', 'control/audit', 'control/store'],
  'control/brakes': ['formats/texts', 'control/store', 'control/audit'],
  'control/backup': ['control/audit', 'control/store'],
  'control/prices/quote': ['formats/usage', 'providers', 'pricing'],
  'control/prices/declared': [
    'providers',
    'pricing',
    'control/audit',
    'control/store',
    'control/log',
    'control/prices/quote',
  ],
  'control/prices/reprice': ['pricing', 'control/store', 'control/jobs', 'control/log', 'control/prices/declared'],
  'control/prices/estimates': [
    'formats/usage',
    'formats/texts',
    'pricing',
    'control/store',
    'control/log',
    'control/prices/declared',
  ],
  'control/erasure': ['budgets', 'control/audit', 'control/store', 'control/jobs', 'control/search', 'control/log'],
  'control/shipper': [
    'pricing',
    'spool',
    'formats/texts',
    'control/store',
    'control/brakes',
    'control/budgets',
    'control/log',
    'control/texts',
    'control/erasure',
  ],
  'control/demo-log': ['formats/usage', 'providers', 'pricing', 'control/store', 'control/shipper'],

  'control/alerts': ['keys', 'sockets', 'control/store', 'control/audit', 'control/log', 'control/brakes'],
  'control/mcp': ['control/store'],
  'control/admin': [
    'providers',
    'pricing',
    'keys',
    'budgets',
    'sockets',
    'control/audit',
    'control/store',
    'control/jobs',
    'control/log',
    'control/metadata',
    'control/texts',
    'control/erasure',
    'control/backup',
    'control/budgets',
    'control/brakes',
    'control/alerts',
    'control/prices/declared',
    'control/prices/quote',
    'control/prices/reprice',
    'control/mcp',
  ],
  'control/ledger': ['spool', 'control/shipper', 'control/admin'],
  'control/process': [
    'pricing',
    'keys',
    'budgets',
    'sockets',
    'spool',
    'control/audit',
    'control/store',
    'control/jobs',
    'control/log',
    'control/search',
    'control/metadata',
    'control/texts',
    'control/erasure',
    'control/backup',
    'control/budgets',
    'control/prices/declared',
    'control/prices/reprice',
    'control/prices/estimates',
    'control/shipper',
    'control/demo-log',
    'control/brakes',
    'control/alerts',
    'control/admin',
    'control/ledger',
  ],
  supervisor: ['providers', 'control/store'],
  demo: ['providers'],
  cli: ['providers', 'pricing', 'keys', 'spool', 'control/audit', 'control/log', 'control/backup', 'control/mcp'],
  'start.ts': ['supervisor', 'cli'],
  'main.ts': ['proxy', 'control/prices/declared', 'control/process', 'supervisor', 'demo', 'cli', 'start.ts'],
};

/** The part of a room that stands apart → the files and parts of the rest of its room that it may import. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  'proxy/upstream': [],
  'proxy/http2': ['proxy/client-exchange.ts', 'proxy/idle-sweep.ts'],
  'proxy/aws': ['proxy/validate-request.ts'],
  'supervisor/settings': [],
  'supervisor/postgres': [
    'supervisor/back-off.ts',
    'supervisor/crash-loop.ts',
    'supervisor/data-directory.ts',
    'supervisor/lifeline.ts',
    'supervisor/private-file.ts',
    'supervisor/process-identity.ts',
  ],
};

/** The dashboard takes types from anywhere in `src/`, but code only from these: pure, and fit for a browser. */
export const DASHBOARD_VALUES: readonly string[] = [
  'src/providers/registry',
  'src/vocabulary/usd',
  'src/vocabulary/format-amounts',
  'src/vocabulary/record-of',
  'src/vocabulary/uuid',
  'src/control/admin/access-words',
  'src/control/log/run-tree',
  'src/control/log/span-path',
  'src/control/store/log-columns',
  'src/control/search/fold-text',
];

export interface Violation {
  readonly file: string;
  readonly imports: string;
}

/** The row that a path below `src/` belongs to, or undefined where no row has it. */
function roomOf(pathInSrc: string): string | undefined {
  const folders = pathInSrc.split('/');
  for (let count = folders.length; count > 0; count -= 1) {
    const room = folders.slice(0, count).join('/');
    if (room in IMPORT_TABLE) return room;
  }
  return undefined;
}

/** Files below `src/` that a source imports, as paths below `src/`. A child process is started by its file's path. */
function listTargets(fileInSrc: string, source: string): string[] {
  return [...source.matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)]
    .map(([, specifier = '']) => relative('/src', resolve('/src', dirname(fileInSrc), specifier)))
    .filter((target) => !target.endsWith('.json'));
}

function isAllowed(file: string, target: string): boolean {
  const [from, to] = [roomOf(file), roomOf(target)];
  if (from === undefined || to === undefined) return false;
  if (from !== to) return (to === 'vocabulary' && from !== 'providers') || (IMPORT_TABLE[from] ?? []).includes(to);
  const part = dirname(file);
  const ofRest = PARTS[part];
  return ofRest === undefined || dirname(target) === part || ofRest.includes(target);
}

/** Checks one file's relative imports. `fileInSrc` is its path below `src/`. */
export function readViolations(fileInSrc: string, source: string): Violation[] {
  return listTargets(fileInSrc, source)
    .filter((target) => !isAllowed(fileInSrc, target))
    .map((target) => ({ file: fileInSrc, imports: target }));
}

/** Checks one file of the dashboard. `file` is its path below the project. */
export function readDashboardViolations(file: string, source: string): Violation[] {
  const violations: Violation[] = [];
  for (const [, words = '', specifier = ''] of source.matchAll(
    /(?:import|export)([^;'"]*?)from\s*'(\.{1,2}\/[^']+)'/g,
  )) {
    const target = relative('/', resolve('/', dirname(file), specifier)).replace(/\.tsx?$/, '');
    const isType = /^\s*type\s/.test(words);
    if (!target.startsWith('src/') || isType || DASHBOARD_VALUES.includes(target)) continue;
    violations.push({ file, imports: target });
  }
  return violations;
}

export function listSourceFiles(srcDir: string): string[] {
  return readdirSync(srcDir, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
}

function listCode(srcDir: string): (readonly [file: string, source: string])[] {
  return listSourceFiles(srcDir)
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => [file, readFileSync(join(srcDir, file), 'utf8')] as const);
}

export function checkTree(srcDir: string): Violation[] {
  return listCode(srcDir).flatMap(([file, source]) => readViolations(file, source));
}

/** What the table allows and nobody does, and rows without a folder: each as "row → permission". */
export function listUnused(srcDir: string): string[] {
  const used = new Set<string>();
  for (const [file, source] of listCode(srcDir))
    for (const target of listTargets(file, source)) {
      used.add(`${roomOf(file)} → ${roomOf(target)}`);
      used.add(`${dirname(file)} → ${target}`);
    }
  const allowed = [...Object.entries(IMPORT_TABLE), ...Object.entries(PARTS)];
  return [
    ...allowed.flatMap(([row, others]) => others.map((other) => `${row} → ${other}`)).filter((way) => !used.has(way)),
    ...allowed.filter(([row]) => !existsSync(join(srcDir, row))).map(([row]) => `${row} is not there`),
  ];
}

/** Permissions that point at a row below their own: ways back up, from which circles are made. */
export function listUpward(): string[] {
  const rows = Object.keys(IMPORT_TABLE);
  return Object.entries(IMPORT_TABLE).flatMap(([row, others]) =>
    others.filter((other) => rows.indexOf(other) >= rows.indexOf(row)).map((other) => `${row} → ${other}`),
  );
}

export function checkDashboard(projectDir: string): Violation[] {
  return listSourceFiles(join(projectDir, 'dashboard/src'))
    .map((file) => join('dashboard/src', file))
    .flatMap((file) => readDashboardViolations(file, readFileSync(join(projectDir, file), 'utf8')));
}

if (import.meta.main) {
  const project = join(import.meta.dirname, '../..');
  const src = join(project, 'src');
  const faults = [
    ...[...checkTree(src), ...checkDashboard(project)].map(({ file, imports }) => `${file} may not import ${imports}`),
    ...listUnused(src).map((way) => `the table allows what nobody does: ${way}`),
    ...listUpward().map((way) => `the table has a way back up: ${way}`),
  ];
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
