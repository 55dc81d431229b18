/** Keeps process directories laid out for proxies that start on a full disk. One at a time: it is no hurry for the disk. */
import type { Logger } from 'pino';
import { layOutStandby } from '../spool/standby.ts';
import { type Repeating, repeat } from './repeat.ts';

/** A start has enough to write. */
const FIRST_PAUSE_MS = 5_000;
const PAUSE_MS = 1_000;

export function repeatStandbys(standbyDir: string, log: Logger): Repeating {
  let isFirst = true;
  let lastReason = '';
  return repeat(async () => {
    if (isFirst) {
      isFirst = false;
      return FIRST_PAUSE_MS;
    }
    try {
      await layOutStandby(standbyDir);
      lastReason = '';
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== lastReason) log.warn({ reason }, 'nothing was laid out for proxies that start on a full disk');
      lastReason = reason;
    }
    return PAUSE_MS;
  });
}
