/** The first key and the login link of a start. A failure of either is logged only. */
import type { Logger } from 'pino';
import type { NodeRole } from '../vocabulary/config.ts';
import { type AdminAccess, awaitKeys, createFirstKey, createLoginLink } from './admin-access.ts';

export interface FirstAccess {
  readonly dashboardUrl: string | null;
  /** Null but at the first start, when the database had no key. */
  readonly firstKey: string | null;
}

export interface AccessOptions {
  readonly role: NodeRole;
  readonly mayShowSecrets: boolean;
  readonly isSetUp: boolean;
  readonly log: Logger;
}

export function createFirstAccess(dataDir: string, admin: AdminAccess, options: AccessOptions): Promise<FirstAccess> {
  const { role, mayShowSecrets, isSetUp, log } = options;
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

/** For a start whose output others can read. A first start waits until keys can be made. */
async function withholdFirstAccess(admin: AdminAccess, isSetUp: boolean, log: Logger): Promise<FirstAccess> {
  if (!isSetUp) {
    await awaitKeys(admin).catch((error: unknown) => {
      log.warn({ err: error }, 'keys cannot be made yet; calls are proxied with the keys that there are');
    });
  }
  return { dashboardUrl: admin.url, firstKey: null };
}
