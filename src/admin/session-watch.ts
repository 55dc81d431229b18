/**
 * Answers that may stay open for long (live streams, exports, backups) end with the session that asked for them,
 * wherever that was ended. They are broken off: what was not sent must not look like the end of it.
 */
import { ServerResponse } from 'node:http';
import type { Context } from 'hono';
import type { Sessions } from './session.ts';

/** How often open answers are looked over. */
const SWEEP_MS = 500;

export interface SessionWatch {
  /** `c`: a request whose session holds. */
  readonly follow: (c: Context) => void;
}

export function createSessionWatch(sessions: Pick<Sessions, 'isValid'>): SessionWatch {
  const open = new Map<ServerResponse, Context>();
  let sweep: NodeJS.Timeout | null = null;

  async function endOver(): Promise<void> {
    for (const [outgoing, c] of open) if (!(await sessions.isValid(c))) outgoing.destroy();
  }

  function forget(outgoing: ServerResponse): void {
    open.delete(outgoing);
    if (open.size > 0 || sweep === null) return;
    clearInterval(sweep);
    sweep = null;
  }

  return {
    follow: (c) => {
      // A change is made or not; its answer is short.
      if (c.req.method !== 'GET') return;
      const outgoing = readOutgoing(c.env);
      if (outgoing === null || outgoing.closed) return;
      open.set(outgoing, c);
      outgoing.once('close', () => forget(outgoing));
      sweep ??= setInterval(() => void endOver(), SWEEP_MS).unref(); // It never rejects.
    },
  };
}

/**
 * The answer's own stream, which the server gives with each request; null for a request that came over no connection.
 */
function readOutgoing(bindings: unknown): ServerResponse | null {
  if (typeof bindings !== 'object' || bindings === null || !('outgoing' in bindings)) return null;
  return bindings.outgoing instanceof ServerResponse ? bindings.outgoing : null;
}
