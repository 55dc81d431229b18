// `npm run check`: types, lint and format, unused code, and the import table, one after another; every one runs even
// when an earlier one failed, so that one call shows all there is to mend.
import { spawnSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const bin = (name) => join(root, 'node_modules', '.bin', name);

const CHECKS = [
  ['types', bin('tsc'), ['-p', '.']],
  ['types of the dashboard', bin('tsc'), ['-p', 'dashboard']],
  ['lint', bin('biome'), ['check', '--error-on-warnings', '.']],
  ['unused', bin('knip'), []],
  [
    'imports',
    process.execPath,
    [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project', 'unit', 'test/import-table.test.ts'],
  ],
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
