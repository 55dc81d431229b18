// What building the dashboard needs, for a clone that has only what running needs: those packages of the lock file that the
// dashboard's files name, with all that they need, installed beside the dashboard until it is built. Runs on the machine's
// own Node, so it uses only what Node 20 has.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countPackages, installLocked } from './install-locked.mjs';

const IMPORT = /(?:from|import)\s*\(?\s*['"]([^.'"/][^'"]*)['"]/g;

/** The packages that the dashboard's sources, styles and settings name; what is no package is not in the lock. */
function listNamed(dashboard, locked) {
  const files = readdirSync(dashboard, { recursive: true }).filter(
    (name) => /\.(?:tsx?|css)$/.test(name) && !/\.test\.tsx?$/.test(name),
  );
  const named = new Set(['vite']);
  for (const file of files)
    for (const [, specifier] of readFileSync(join(dashboard, file), 'utf8').matchAll(IMPORT))
      named.add(/^(?:@[^/]+\/)?[^/]+/.exec(specifier)[0]);
  return [...named].filter((name) => locked[`node_modules/${name}`] !== undefined).sort();
}

/** Where Node would find the package for one at `from`. */
function findPath(locked, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (locked[path] !== undefined) return path;
    if (folder === '') return undefined;
  }
}

function listNeeded(locked, names) {
  const needed = new Set();
  const open = names.map((name) => `node_modules/${name}`);
  for (const path of open) {
    if (needed.has(path)) continue;
    needed.add(path);
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = locked[path];
    const peers = Object.keys(peerDependencies ?? {}).filter((name) => peerDependenciesMeta?.[name]?.optional !== true);
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
      const found = findPath(locked, path, name);
      if (found !== undefined) open.push(found);
    }
  }
  return needed;
}

/** Returns what takes them away again. */
export async function installDashboardTools(root) {
  const dashboard = join(root, 'dashboard');
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const names = listNamed(dashboard, lock.packages);
  const needed = listNeeded(lock.packages, names);
  const dependencies = Object.fromEntries(names.map((name) => [name, lock.packages[`node_modules/${name}`].version]));
  const manifest = { name: 'dashboard-tools', private: true, dependencies };
  const entries = Object.fromEntries(
    [...needed].sort().map((path) => {
      const { dev: _dev, devOptional: _devOptional, ...entry } = lock.packages[path];
      return [path, entry];
    }),
  );
  mkdirSync(join(root, 'dist'), { recursive: true });
  const folder = mkdtempSync(join(root, 'dist', '.dashboard-tools-'));
  const modules = join(dashboard, 'node_modules');
  try {
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(
      join(folder, 'package-lock.json'),
      JSON.stringify({ ...lock, name: manifest.name, packages: { '': manifest, ...entries } }),
    );
    await installLocked(folder, countPackages(entries));
    rmSync(modules, { recursive: true, force: true });
    renameSync(join(folder, 'node_modules'), modules);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return () => rmSync(modules, { recursive: true, force: true });
}
