/** Keeps the corrected time within one boot, so that the next start dates its calls rightly. */
import { rmSync } from 'node:fs';
import type { Logger } from 'pino';
import type { ClockReading } from '../vocabulary/clock.ts';
import { readJsonFile, writePrivateFile } from './private-file.ts';
import { readRealm } from './process-identity.ts';

/** Null when the clock was right or the machine has booted since. */
export function readClockFile(path: string): ClockReading | null {
  const value = readJsonFile(path);
  if (typeof value !== 'object' || value === null || !('bootId' in value) || !('epochMs' in value)) return null;
  if (value.bootId !== readRealm().bootId || typeof value.epochMs !== 'number') return null;
  return { epochMs: value.epochMs, isCorrected: true };
}

/** Logs a failed write: the next start then uses the machine's clock. */
export function keepClockFile(path: string, { epochMs, isCorrected }: ClockReading, log: Logger): void {
  try {
    if (isCorrected) writePrivateFile(path, `${JSON.stringify({ bootId: readRealm().bootId, epochMs })}\n`);
    else rmSync(path, { force: true });
  } catch (error) {
    log.warn({ err: error }, 'the corrected time could not be noted for the next start');
  }
}
