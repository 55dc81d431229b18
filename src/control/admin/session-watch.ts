/** Breaks off long answers (streams, exports, backups) when their session, membership or token ends, on any node. */
import { ServerResponse } from 'node:http';
import type { Context } from 'hono';

const SWEEP_MS = 500;

export interface SessionWatch {
  readonly follow: (c: Context) => void;
}

/** `stillHolds` may reject while the database is away; an answer goes on then. */
export function createSessionWatch(stillHolds: (c: Context) => Promise<boolean>): SessionWatch {
  const open = new Map<ServerResponse, Context>();
  let sweep: NodeJS.Timeout | null = null;

  async function endOver(): Promise<void> {
    for (const [outgoing, c] of open) if (!(await stillHolds(c).catch(() => true))) outgoing.destroy();
  }

  function forget(outgoing: ServerResponse): void {
    open.delete(outgoing);
    if (open.size > 0 || sweep === null) return;
    clearInterval(sweep);
    sweep = null;
  }

  return {
    follow: (c) => {
      // The answer to a change is short.
      if (c.req.method !== 'GET') return;
      const outgoing = readOutgoing(c.env);
      if (outgoing === null || outgoing.closed) return;
      open.set(outgoing, c);
      outgoing.once('close', () => forget(outgoing));
      sweep ??= setInterval(() => void endOver(), SWEEP_MS).unref(); // It never rejects.
    },
  };
}

/** Null without a connection. */
function readOutgoing(bindings: unknown): ServerResponse | null {
  if (typeof bindings !== 'object' || bindings === null || !('outgoing' in bindings)) return null;
  return bindings.outgoing instanceof ServerResponse ? bindings.outgoing : null;
}
