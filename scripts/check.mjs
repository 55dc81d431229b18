// `npm run check`: the import table, types, lint and format, and unused code, one after another; every one runs even
// when an earlier one failed, so that one call shows all there is to mend.
import { spawnSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const bin = (name) => join(root, 'node_modules', '.bin', name);

const CHECKS = [
  ['imports', process.execPath, [join(root, 'test/rules/import-table.ts')]],
  ['types', bin('tsc'), ['-p', '.']],
  ['types of the dashboard', bin('tsc'), ['-p', 'dashboard']],
  ['lint', bin('biome'), ['check', '--error-on-warnings', '.']],
  ['unused', bin('knip'), []],
];

let failed = 0;
for (const [name, command, args] of CHECKS) {
  const started = Date.now();
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  process.stdout.write(
    `${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)\n`,
  );
  if (status !== 0) failed += 1;
}
process.exit(failed === 0 ? 0 : 1);
