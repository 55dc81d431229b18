/**
 * What time it is by the last word of the control process, when the machine's clock is wrong: so that the calls of the
 * next start are dated rightly before the database has answered. It counts within one boot of the machine, whose monotonic
 * clock it refers to.
 */
import { rmSync } from 'node:fs';
import type { ClockReading } from '../clock.ts';
import { readJsonFile, writePrivateFile } from './private-file.ts';
import { readRealm } from './process-identity.ts';

/** Null when the clock was right, or this is another boot. */
export function readClockFile(path: string): ClockReading | null {
  const value = readJsonFile(path);
  if (typeof value !== 'object' || value === null || !('bootId' in value) || !('epochMs' in value)) return null;
  if (value.bootId !== readRealm().bootId || typeof value.epochMs !== 'number') return null;
  return { epochMs: value.epochMs, isCorrected: true };
}

export function writeClockFile(path: string, { epochMs, isCorrected }: ClockReading): void {
  if (isCorrected) writePrivateFile(path, `${JSON.stringify({ bootId: readRealm().bootId, epochMs })}\n`);
  else rmSync(path, { force: true });
}
