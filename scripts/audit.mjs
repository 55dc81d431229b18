// `npm run audit`: known holes in what the published package depends on. Fails on findings of level high or above. A
// registry that offers no audit, or none that can be reached, is said in one line and is no failure: the lock is the same
// everywhere, so one place that can ask is enough.
import { spawnSync } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const LEVELS = ['high', 'critical'];
const LIMIT_MS = 120_000;

const { stdout, error } = spawnSync('npm', ['audit', '--omit=dev', '--audit-level=high', '--json'], {
  cwd: root,
  encoding: 'utf8',
  timeout: LIMIT_MS,
});

function readReport() {
  try {
    return JSON.parse(stdout);
  } catch {
    return null;
  }
}

const report = error === undefined ? readReport() : null;
const counts = report?.metadata?.vulnerabilities;
if (counts === undefined) {
  const why = report?.message ?? report?.error?.summary ?? error?.message ?? 'no answer that can be read';
  process.stdout.write(
    `not audited: the package registry gave no report (${String(why).replace(/\s+/g, ' ').trim()})\n`,
  );
} else {
  const found = LEVELS.map((level) => `${counts[level] ?? 0} ${level}`).join(', ');
  process.stdout.write(`audited ${report.metadata.dependencies?.prod ?? 'all'} runtime packages: ${found}\n`);
  for (const { name, severity, range } of Object.values(report.vulnerabilities ?? {}))
    if (LEVELS.includes(severity)) process.stdout.write(`  ${severity}: ${name} ${range}\n`);
  if (LEVELS.some((level) => counts[level] > 0)) process.exitCode = 1;
}
