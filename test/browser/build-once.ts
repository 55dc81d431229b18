/** Before the browser's tests: the dashboard is built when its sources changed since the last time. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

export function setup(): void {
  const script = join(import.meta.dirname, '..', '..', 'scripts', 'build-dashboard.mjs');
  const { status } = spawnSync(process.execPath, [script], { stdio: 'inherit' });
  if (status !== 0) throw new Error('the dashboard could not be built');
}
