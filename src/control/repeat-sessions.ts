/** Exchanges with the other nodes which dashboard sessions were ended. A database that is away is no news. */
import type pg from 'pg';
import type { Logger } from 'pino';
import { isDatabaseDown } from '../admin/api-error.ts';
import type { EndedSessions } from '../admin/ended-sessions.ts';
import { type Repeating, repeat } from './repeat.ts';

const SESSION_POLL_MS = 500;

export function repeatSessions(sessions: EndedSessions, pool: pg.Pool, log: Logger): Repeating {
  return repeat(async () => {
    try {
      await sessions.exchange(pool);
    } catch (error) {
      if (!isDatabaseDown(error)) log.error({ err: error }, 'the ended sessions could not be exchanged');
    }
    return SESSION_POLL_MS;
  });
}
