/** What a start hands to whoever started it: the first key and a way into the dashboard. It fails for neither. */
import type { Logger } from 'pino';
import type { NodeRole } from '../config.ts';
import { type AdminAccess, awaitKeys, createFirstKey, createLoginLink } from './admin-access.ts';

export interface FirstAccess {
  /** A link that signs in one browser; just the address when none could be made. Null where there is no dashboard. */
  readonly dashboardUrl: string | null;
  /** At the first start only, and when the database had none. */
  readonly firstKey: string | null;
}

export interface AccessOptions {
  readonly role: NodeRole;
  /** See `SupervisorOptions`. */
  readonly mayShowSecrets: boolean;
  /** It has run before. */
  readonly isSetUp: boolean;
  readonly log: Logger;
}

export function createFirstAccess(dataDir: string, admin: AdminAccess, options: AccessOptions): Promise<FirstAccess> {
  const { role, mayShowSecrets, isSetUp, log } = options;
  // A node that only takes calls makes no key, and nobody can sign in there.
  if (role === 'proxy') return Promise.resolve({ dashboardUrl: null, firstKey: null });
  return mayShowSecrets ? giveFirstAccess(dataDir, admin, log) : withholdFirstAccess(admin, isSetUp, log);
}

async function giveFirstAccess(dataDir: string, admin: AdminAccess, log: Logger): Promise<FirstAccess> {
  const firstKey = await createFirstKey(dataDir, admin).catch((error: unknown) => {
    log.warn({ err: error }, 'the first key could not be made; make one with `tollgate keys create NAME`');
    return null;
  });
  const dashboardUrl = await createLoginLink(admin).catch((error: unknown) => {
    log.warn({ err: error }, 'a login link could not be made; make one with `tollgate login`');
    return admin.url;
  });
  return { dashboardUrl, firstKey };
}

/**
 * Instead of all that, where what a start prints is kept for others to read: neither key nor link. A first start has
 * ended when a key can be made; a later one waits for no database.
 */
async function withholdFirstAccess(admin: AdminAccess, isSetUp: boolean, log: Logger): Promise<FirstAccess> {
  if (!isSetUp) {
    await awaitKeys(admin).catch((error: unknown) => {
      log.warn({ err: error }, 'keys cannot be made yet; calls are proxied with the keys that there are');
    });
  }
  return { dashboardUrl: admin.url, firstKey: null };
}
