import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLog } from '../vocabulary/log.ts';
import { createSystemdTeller, isStartedBySystemd } from './tell-systemd.ts';

const log = createLog({ level: 'error', role: 'supervisor' });
let folder: string;
let program: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-systemd-'));
  program = join(folder, 'systemd-notify');
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$NOTIFY_SOCKET" "$@" >> ${folder}/told\n`);
  chmodSync(program, 0o755);
});
afterEach(() => rmSync(folder, { recursive: true }));

test('systemd is told when calls are taken, and how long a stop may last', async () => {
  const teller = createSystemdTeller('/run/systemd/notify', log, program);
  await teller.ready('calls are taken at http://127.0.0.1:4141');
  await teller.stopping(5, 600);
  expect(readFileSync(join(folder, 'told'), 'utf8').split('\n')).toEqual([
    '/run/systemd/notify',
    '--ready',
    '--status=calls are taken at http://127.0.0.1:4141',
    '/run/systemd/notify',
    '--status=stopping',
    'STOPPING=1',
    'EXTEND_TIMEOUT_USEC=630000000',
    '',
  ]);
});

test('without a socket nothing is run, and where the program is missing the gateway goes on', async () => {
  await createSystemdTeller(undefined, log, program).ready('x');
  expect(() => readFileSync(join(folder, 'told'))).toThrow('ENOENT');
  await createSystemdTeller('/run/systemd/notify', createLog({ level: 'error', role: 'supervisor' }), '/nowhere').ready(
    'x',
  );
});

test('only the process that systemd itself has started counts as a service', () => {
  expect(isStartedBySystemd({ SYSTEMD_EXEC_PID: '17' }, 17)).toBe(true);
  expect(isStartedBySystemd({ SYSTEMD_EXEC_PID: '17' }, 18)).toBe(false);
  expect(isStartedBySystemd({}, 17)).toBe(false);
});
