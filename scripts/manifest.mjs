// `manifest.mjs publish` makes package.json what a user of the package needs, `restore` brings the clone's back: the
// published one has no tools and no scripts. The original is kept in a file until then (npm runs
// `postpack` from the manifest that it read first), so an interrupted `npm pack` is mended by the next one, or by `restore`.
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const manifest = join(root, 'package.json');
const backup = join(root, '.package.json.clone');

function restore() {
  if (existsSync(backup)) renameSync(backup, manifest);
}

function publish() {
  restore();
  const { devDependencies: _tools, scripts: _scripts, ...published } = JSON.parse(readFileSync(manifest, 'utf8'));
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
