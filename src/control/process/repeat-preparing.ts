/** Keeps process directories ready for proxies that start on a full disk, made one at a time to spare the disk. */
import type { Logger } from 'pino';
import { prepareDirectory } from '../../spool/prepared-directory.ts';
import { type Repeating, repeat } from './repeat.ts';

/** A start has enough to write. */
const FIRST_PAUSE_MS = 5_000;
const PAUSE_MS = 1_000;

export function repeatPreparing(preparedDir: string, log: Logger): Repeating {
  let lastReason = '';
  return repeat(async () => {
    try {
      await prepareDirectory(preparedDir);
      lastReason = '';
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== lastReason) log.warn({ reason }, 'nothing was laid out for proxies that start on a full disk');
      lastReason = reason;
    }
    return PAUSE_MS;
  }, FIRST_PAUSE_MS);
}
