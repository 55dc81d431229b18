import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { removeLeftStartFiles, writeStartFile } from './start-files.ts';

test('a file of a start is the user’s alone; what a killed one has left goes at the next, and that of a living one stays', () => {
  const ownDir = mkdtempSync(join(tmpdir(), 'tollgate-starts-'));
  try {
    removeLeftStartFiles(ownDir);
    const own = writeStartFile(ownDir, 'claude-1.json', '{}');
    expect([statSync(own).mode & 0o777, statSync(dirname(own)).mode & 0o777]).toEqual([0o600, 0o700]);
    const { pid } = spawnSync('true');
    const left = join(dirname(own), `${pid}-cline-1.json`);
    const foreign = join(dirname(own), 'notes.txt');
    writeFileSync(left, '{}');
    writeFileSync(foreign, '');
    removeLeftStartFiles(ownDir);
    expect([own, left, foreign].map((path) => existsSync(path))).toEqual([true, false, true]);
  } finally {
    rmSync(ownDir, { recursive: true });
  }
});
