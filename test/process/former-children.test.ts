/** The wait for the processes of a killed gateway, with a real one that ends in good order. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { endFormerChildren, writeChildren } from '../../src/supervisor/former-children.ts';
import { readStartTime } from '../../src/supervisor/process-identity.ts';
import { createLog } from '../../src/vocabulary/log.ts';

const DAY_MS = 86_400_000;
const dir = mkdtempSync(join(tmpdir(), 'tollgate-children-'));

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(dir, { recursive: true, force: true });
});

it('a process of a killed gateway is let end by itself, also when the wall clock is put a day ahead meanwhile', async () => {
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => process.exit(7), 400)']);
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  const pid = child.pid ?? -1;
  const file = join(dir, 'children.json');
  writeChildren(file, [{ pid, startTime: readStartTime(pid) ?? 'gone' }]);
  const realNow = Date.now();
  let looks = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => realNow + DAY_MS * looks++);
  await endFormerChildren(file, createLog({ level: 'error', role: 'test' }));
  expect(await ended).toEqual({ code: 7, signal: null });
});
