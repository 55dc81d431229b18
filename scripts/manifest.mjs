// `manifest.mjs publish` makes package.json what a user of the package needs, `restore` brings the clone's back: the
// published one has no tools and no scripts, and beside it stands what the lock file says of the rest, so that whoever installs
// the package gets the versions that it was tested with. The original is kept in a file until then (npm runs
// `postpack` from the manifest that it read first), so an interrupted `npm pack` is mended by the next one, or by `restore`.
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const manifest = join(root, 'package.json');
const backup = join(root, '.package.json.clone');
const locked = join(root, 'npm-shrinkwrap.json');

function restore() {
  rmSync(locked, { force: true });
  if (existsSync(backup)) renameSync(backup, manifest);
}

function publish() {
  restore();
  const { devDependencies: _tools, scripts: _scripts, ...published } = JSON.parse(readFileSync(manifest, 'utf8'));
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const { devDependencies: _lockedTools, ...itself } = lock.packages[''];
  const rest = Object.entries(lock.packages).filter(([path, entry]) => path !== '' && entry.dev !== true);
  const packages = { '': itself, ...Object.fromEntries(rest) };
  writeFileSync(locked, `${JSON.stringify({ ...lock, packages }, null, 2)}\n`);
  const temporary = `${manifest}.new`;
  copyFileSync(manifest, `${backup}.new`);
  renameSync(`${backup}.new`, backup);
  writeFileSync(temporary, `${JSON.stringify(published, null, 2)}\n`);
  renameSync(temporary, manifest);
}

const command = process.argv[2];
if (command === 'publish') publish();
else if (command === 'restore') restore();
else {
  process.stderr.write('usage: node scripts/manifest.mjs publish|restore\n');
  process.exit(1);
}
