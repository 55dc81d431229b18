// Builds the dashboard into dist/dashboard when what it is made of has changed since the last time, so that `npm start`
// may call it every time. `--force` builds anyway; `--optional` lets a start go on when the build fails. Runs on the
// machine's own Node, so it uses only what Node 20 has.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { installDashboardTools } from './dashboard-tools.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'dashboard');
const target = join(root, 'dist', 'dashboard');
const note = '.inputs';
const vitePath = join('node_modules', 'vite', 'bin', 'vite.js');
const isForced = process.argv.includes('--force');
const isOptional = process.argv.includes('--optional');

const COMPRESSED = ['.html', '.js', '.css', '.svg', '.json'];
/** Below it a compressed answer saves nothing. */
const MIN_BYTES = 512;

function listFiles(dir) {
  return readdirSync(dir, { recursive: true })
    .filter((name) => !name.startsWith('node_modules'))
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile())
    .sort();
}

/** The files that a source file takes code from; types leave no trace in the build. */
function readImports(path) {
  const text = readFileSync(path, 'utf8');
  const found = [...text.matchAll(/(?:import|export)\s+(?!type\b)[^;'"]*?from\s*'(\.{1,2}\/[^']+)'/g)];
  return found.map(([, specifier]) => resolve(dirname(path), specifier)).filter((file) => existsSync(file));
}

/** Everything that the build depends on: the dashboard, what it imports from `src`, the tools' versions and settings. */
function listInputs() {
  const inputs = new Set(listFiles(source).filter((path) => !/\.test\.tsx?$/.test(path)));
  for (const path of inputs) if (/\.tsx?$/.test(path)) for (const imported of readImports(path)) inputs.add(imported);
  const tools = ['package-lock.json', 'scripts/build-dashboard.mjs'];
  return [...inputs, ...tools.map((path) => join(root, path))].sort();
}

function hashInputs() {
  const hash = createHash('sha256');
  for (const path of listInputs()) {
    const content = readFileSync(path);
    hash.update(`${relative(root, path)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

function readNote() {
  const path = join(target, note);
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
}

async function compress(dir) {
  const settings = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  const files = listFiles(dir).filter(
    (path) => COMPRESSED.includes(extname(path)) && !relative(dir, path).startsWith('.'),
  );
  await Promise.all(
    files.map(async (path) => {
      const content = readFileSync(path);
      if (content.length < MIN_BYTES) return;
      const [br, gz] = await Promise.all([
        promisify(brotliCompress)(content, settings),
        promisify(gzip)(content, { level: 9 }),
      ]);
      writeFileSync(`${path}.br`, br);
      writeFileSync(`${path}.gz`, gz);
    }),
  );
}

function fail(text) {
  process.stderr.write(`Tollgate: ${text}\n`);
  process.exitCode = isOptional ? 0 : 1;
}

/** The finished build takes the place of the old one. Another start may have done the same just now. */
function takePlace(built) {
  rmSync(target, { recursive: true, force: true });
  try {
    renameSync(built, target);
  } catch (error) {
    if (!existsSync(join(target, note))) throw error;
  }
}

async function build(inputs) {
  const startedMs = Date.now();
  process.stderr.write(
    'Tollgate: building the dashboard (once, or when it changed; about half a minute, and as long to fetch the tools where they are missing) ...\n',
  );
  const built = join(root, 'dist', `.dashboard-${process.pid}`);
  // The Node that the clone brings is newer than some that this script runs on.
  const ownNode = join(root, 'node_modules', '.bin', 'node');
  const node = existsSync(ownNode) ? ownNode : process.execPath;
  mkdirSync(join(root, 'dist'), { recursive: true });
  const hasTools = existsSync(join(root, vitePath));
  const removeTools = hasTools ? () => {} : await installDashboardTools(root);
  try {
    const args = [
      join(hasTools ? root : source, vitePath),
      'build',
      'dashboard',
      '--logLevel',
      'warn',
      '--outDir',
      built,
    ];
    // Test runners set it to `test`, and then the libraries' slow development forms would be built in.
    const env = { ...process.env, NODE_ENV: 'production' };
    const { status } = spawnSync(node, args, { cwd: root, env, stdio: ['ignore', 2, 2] });
    if (status !== 0) throw new Error('the lines above say why');
    await compress(built);
    writeFileSync(join(built, note), `${inputs}\n`);
    takePlace(built);
    process.stderr.write(`Tollgate: the dashboard is built, ${Math.round((Date.now() - startedMs) / 1000)} s.\n`);
  } catch (error) {
    fail(`the dashboard could not be built: ${error.message}.`);
  } finally {
    removeTools();
    rmSync(built, { recursive: true, force: true });
  }
}

if (!existsSync(source)) {
  if (!existsSync(target)) fail('the dashboard is not built, and its sources are not here.');
} else {
  const inputs = hashInputs();
  if (isForced || inputs !== readNote()) await build(inputs);
}
