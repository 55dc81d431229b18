/** What promtool says of the alerts: they can be read, and fire on what they are for. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const cwd = join(import.meta.dirname, '..', '..', 'deploy', 'prometheus');
const isMissing = spawnSync('promtool', ['--version'], { stdio: 'ignore' }).error !== undefined;
if (isMissing)
  process.stderr.write('NOT TRIED: promtool is not installed. On Debian or Ubuntu: apt-get install -y prometheus\n');

test.skipIf(isMissing).each([
  ['the alerts can be read', ['check', 'rules', 'rules.yaml']],
  ['each alert fires on what it is for, and not on a node that is well', ['test', 'rules', 'rules.test.yaml']],
])('%s', (_, command) => {
  const { status, stdout, stderr } = spawnSync('promtool', command, { cwd, encoding: 'utf8' });
  expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
});
