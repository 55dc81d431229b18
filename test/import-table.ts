/** Which folder may import which: the structure of the code as a table, and the small reader that checks it. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** Files directly in `src/` that say what things are: everything may import them, they import only each other. */
const VOCABULARY = [
  'usd',
  'token-usage',
  'call-record',
  'errors',
  'channel',
  'clock',
  'quarantined-item',
  'config',
  'aws-host',
  'log',
  'cost-status',
  'version',
  'default-data-dir',
  'format-origin',
  'format-amounts',
];

/** Folder of `src/`, or file directly in it → folders it may import besides itself and the vocabulary. */
export const IMPORT_TABLE: Readonly<Record<string, readonly string[]>> = {
  wire: [],
  shapes: ['wire'],
  providers: ['wire', 'shapes'],
  pricing: [],
  quote: ['pricing', 'providers', 'shapes', 'wire'],
  keys: [],
  settings: [],
  sockets: [],
  spool: [],
  store: [],
  prices: ['pricing', 'store'],
  runs: ['store', 'wire'],
  jobs: ['store'],
  metadata: ['store', 'runs', 'jobs'],
  repricing: ['prices', 'pricing', 'store', 'runs', 'jobs'],
  verify: ['store', 'runs', 'jobs'],
  proxy: ['providers', 'shapes', 'wire', 'spool', 'keys', 'sockets'],
  backup: ['store'],
  estimates: ['pricing', 'prices', 'store', 'runs', 'shapes', 'wire'],
  shipper: ['spool', 'pricing', 'prices', 'store', 'runs', 'metadata'],
  'demo-data': ['shipper', 'providers', 'shapes', 'pricing', 'store', 'keys'],
  admin: [
    'backup',
    'store',
    'runs',
    'metadata',
    'jobs',
    'keys',
    'pricing',
    'prices',
    'quote',
    'repricing',
    'sockets',
    'verify',
  ],
  control: [
    'admin',
    'backup',
    'shipper',
    'sockets',
    'spool',
    'pricing',
    'prices',
    'store',
    'runs',
    'keys',
    'metadata',
    'jobs',
    'demo-data',
    'repricing',
    'estimates',
    'verify',
  ],
  supervisor: ['spool', 'keys', 'store'],
  demo: ['wire'],
  reconcile: ['pricing'],
  cli: ['backup', 'runs', 'reconcile', 'spool'],
};

/** The parts of a folder that stand apart → what they may import of the rest of it. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  'proxy/upstream': [],
  'proxy/http2': ['proxy/client-exchange.ts', 'proxy/idle-sweep.ts'],
  'proxy/aws': ['proxy/accept.ts'],
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
  'src/usd',
  'src/format-amounts',
  'src/runs/run-tree',
  'src/runs/span-path',
  'src/runs/log-columns',
];

export interface Violation {
  readonly file: string;
  readonly imports: string;
}

function folderOf(pathInSrc: string): string {
  const parts = pathInSrc.split('/');
  return parts.length === 1 ? (parts[0] ?? '').replace(/\.ts$/, '') : (parts[0] ?? '');
}

function isAllowed(from: string, to: string): boolean {
  if (VOCABULARY.includes(to)) return true;
  if (VOCABULARY.includes(from)) return false;
  if (from === 'main') return true;
  return from === to || (IMPORT_TABLE[from] ?? []).includes(to);
}

function isAllowedOfPart(file: string, target: string): boolean {
  const part = dirname(file);
  const allowed = PARTS[part];
  if (allowed === undefined || folderOf(target) !== folderOf(file)) return true;
  return dirname(target) === part || allowed.includes(target);
}

/** Checks one file's relative imports. `fileInSrc` is its path below `src/`. */
export function readViolations(fileInSrc: string, source: string): Violation[] {
  const violations: Violation[] = [];
  for (const match of source.matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)) {
    const specifier = match[1] ?? '';
    const target = relative('/src', resolve('/src', dirname(fileInSrc), specifier));
    // A child process is started by the path of its file, and package.json holds the version: neither is code of ours.
    if (specifier.endsWith('.json')) continue;
    const isWithinBounds = isAllowed(folderOf(fileInSrc), folderOf(target)) && isAllowedOfPart(fileInSrc, target);
    if (!isWithinBounds) violations.push({ file: fileInSrc, imports: target });
  }
  return violations;
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

export function checkTree(srcDir: string): Violation[] {
  return listSourceFiles(srcDir)
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => readViolations(file, readFileSync(join(srcDir, file), 'utf8')));
}

export function checkDashboard(projectDir: string): Violation[] {
  return listSourceFiles(join(projectDir, 'dashboard/src'))
    .map((file) => join('dashboard/src', file))
    .flatMap((file) => readDashboardViolations(file, readFileSync(join(projectDir, file), 'utf8')));
}
