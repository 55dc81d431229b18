/** Brings the sealed credentials to every local proxy, and says when some of them cannot be opened here. */
import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import type { Logger } from 'pino';
import { sealingKeysOf } from '../../keys/envelope.ts';
import { canOpenCredential } from '../../keys/sealed-credential.ts';
import type { SealedCredential } from '../../vocabulary/channel.ts';
import type { Config } from '../../vocabulary/config.ts';
import { listSealed } from '../store/provider-credentials.ts';

export interface CredentialPublisher {
  /** Publishes the database's list if it is another than the last one. */
  readonly poll: () => Promise<void>;
}

export interface CredentialPublisherOptions {
  readonly pool: pg.Pool;
  readonly keys: Config['credentialKeys'];
  readonly send: (credentials: readonly SealedCredential[]) => void;
  readonly log: Pick<Logger, 'warn'>;
}

export function createCredentialPublisher({ pool, keys, send, log }: CredentialPublisherOptions): CredentialPublisher {
  /** Null: whatever the supervisor has of the time before may be old. */
  let held: readonly SealedCredential[] | null = null;
  const opening = sealingKeysOf(keys);

  function warnOfClosed(stored: readonly SealedCredential[]): void {
    const closed = stored.filter((credential) => !canOpenCredential(opening, credential)).length;
    if (closed === 0 && keys.problem === null) return;
    log.warn(
      { credentials: stored.length, unusable: closed },
      keys.problem ??
        'kept credentials cannot be opened: TOLLGATE_CREDENTIALS_KEY is missing or another than the one that they were set with; calls that need them are refused',
    );
  }

  return {
    poll: async () => {
      const stored = await listSealed(pool);
      if (isDeepStrictEqual(stored, held)) return;
      held = stored;
      warnOfClosed(stored);
      send(stored);
    },
  };
}
