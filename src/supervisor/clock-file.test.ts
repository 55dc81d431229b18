import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { keepClockFile, readClockFile } from './clock-file.ts';

const log = pino({ level: 'silent' });

test('a corrected time is read again within one boot, and a right clock leaves nothing', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tg-'));
  const path = join(dir, 'clock.json');
  keepClockFile(path, { epochMs: 1_700_000_000_000, isCorrected: true }, log);
  expect(readClockFile(path)).toEqual({ epochMs: 1_700_000_000_000, isCorrected: true });
  keepClockFile(path, { epochMs: 1_700_000_000_000, isCorrected: false }, log);
  expect([readClockFile(path), readdirSync(dir)]).toEqual([null, []]);
  rmSync(dir, { recursive: true });
});

test('a time that cannot be written ends nothing, and leaves nothing', () => {
  // A device that is always full, by whose name a temporary file cannot be made either.
  const path = '/dev/full/clock.json';
  keepClockFile(path, { epochMs: 1, isCorrected: true }, log);
  expect([existsSync(path), readClockFile(path)]).toEqual([false, null]);
});
