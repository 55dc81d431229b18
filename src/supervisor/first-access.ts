/** What a start hands to whoever started it: the first key and a way into the dashboard. It fails for neither. */
import type { Logger } from 'pino';
import type { NodeRole } from '../config.ts';
import { type AdminAccess, createFirstKey, createLoginLink } from './admin-access.ts';

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
  readonly log: Logger;
}

export async function createFirstAccess(
  dataDir: string,
  admin: AdminAccess,
  { role, mayShowSecrets, log }: AccessOptions,
): Promise<FirstAccess> {
  // A node that only takes calls makes no key, and nobody can sign in there.
  if (role === 'proxy') return { dashboardUrl: null, firstKey: null };
  if (!mayShowSecrets) return { dashboardUrl: admin.url, firstKey: null };
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
