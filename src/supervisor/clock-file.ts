/**
 * What time it is by the last word of the control process, when the machine's clock is wrong: so that the calls of the
 * next start are dated rightly before the database has answered. It counts within one boot of the machine, whose monotonic
 * clock it refers to.
 */
import { rmSync } from 'node:fs';
import type { Logger } from 'pino';
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

/** A full disk must not end the gateway: then the next start dates its first calls by the machine's clock. */
export function keepClockFile(path: string, { epochMs, isCorrected }: ClockReading, log: Logger): void {
  try {
    if (isCorrected) writePrivateFile(path, `${JSON.stringify({ bootId: readRealm().bootId, epochMs })}\n`);
    else rmSync(path, { force: true });
  } catch (error) {
    log.warn({ err: error }, 'the corrected time could not be noted for the next start');
  }
}
