/** Counts wrong tokens and connections closed for want of places; a flood does not flood the log. */
import type { Logger } from 'pino';

const LOG_INTERVAL_MS = 60_000;

export interface AccessFigures {
  readonly wrongTokens: number;
  readonly latestWrongToken: { readonly atMs: number; readonly from: string } | null;
  readonly closedConnections: number;
}

export interface AdminAccess {
  readonly noteWrongToken: (from: string) => void;
  readonly noteClosedConnection: (from: string) => void;
  readonly figures: () => AccessFigures;
}

export function watchAdminAccess(log: Logger, nowMs: () => number = Date.now): AdminAccess {
  let wrongTokens = 0;
  let latestWrongToken: AccessFigures['latestWrongToken'] = null;
  let closedConnections = 0;
  const warnOfTokens = atMostOnceAMinute(nowMs);
  const warnOfConnections = atMostOnceAMinute(nowMs);
  return {
    noteWrongToken: (from) => {
      wrongTokens += 1;
      latestWrongToken = { atMs: nowMs(), from };
      warnOfTokens(() =>
        log.warn(
          { from, wrongTokens },
          'a wrong token was sent to the admin port; further ones within a minute are counted only',
        ),
      );
    },
    noteClosedConnection: (from) => {
      closedConnections += 1;
      warnOfConnections(() =>
        log.warn(
          { from, closedConnections },
          'the admin port has too many connections that showed no credential; the longest silent ones are closed',
        ),
      );
    },
    figures: () => ({ wrongTokens, latestWrongToken, closedConnections }),
  };
}

function atMostOnceAMinute(nowMs: () => number): (say: () => void) => void {
  let saidMs = Number.NEGATIVE_INFINITY;
  return (say) => {
    if (nowMs() - saidMs < LOG_INTERVAL_MS) return;
    saidMs = nowMs();
    say();
  };
}
