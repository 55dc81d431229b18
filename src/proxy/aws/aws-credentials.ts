/** AWS credentials for signing, from the settings or AWS's own chain, refreshed before they expire. Never logged. */
import type { Logger } from 'pino';
import type { AwsKeys, AwsSigning } from '../../vocabulary/config.ts';
import { GatewayError } from '../../vocabulary/errors.ts';

interface FoundKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  readonly expiration?: Date | undefined;
}

/** Fetches anew each time. */
type Chain = () => Promise<FoundKeys>;

export interface AwsCredentials {
  /** A promise only where no valid credentials are held; rejects with `aws_credentials_unavailable`. */
  readonly read: (signing: AwsSigning) => AwsKeys | Promise<AwsKeys>;
}

export interface AwsCredentialsOptions {
  readonly log: Logger;
  readonly loadChain?: () => Promise<Chain>;
  readonly nowMs?: () => number;
}

const FETCH_TIMEOUT_MS = 10_000;
/** The chain cannot be cancelled: a hanging request is shared, and repeated only after this. */
const HANGING_MS = 60_000;
/** New credentials are fetched this long before the old ones expire. */
const REFRESH_BEFORE_MS = 5 * 60_000;
/** Credentials must outlast the call's way to AWS. */
const MARGIN_MS = 30_000;
/** After a failure, calls are refused without a new attempt for this long. */
const RETRY_MS = 1_000;
/** After a failure, a refresh of credentials that still hold waits this long. */
const REFRESH_RETRY_MS = 30_000;

export function createAwsCredentials(options: AwsCredentialsOptions): AwsCredentials {
  const { log, loadChain = loadDefaultChain, nowMs = Date.now } = options;
  let chain: Promise<Chain> | null = null;
  let current: { readonly keys: AwsKeys; readonly expiresAtMs: number } | null = null;
  let fetching: Promise<AwsKeys> | null = null;
  let failedAtMs = Number.NEGATIVE_INFINITY;
  /** The request in progress; calls may have timed out on it. */
  let asking: { readonly found: Promise<FoundKeys>; readonly sinceMs: number } | null = null;

  /** At most one in `HANGING_MS`, since a hanging one may hold a thread, a connection or a process. */
  function askOnce(): Promise<FoundKeys> {
    if (asking !== null && nowMs() - asking.sinceMs < HANGING_MS) return asking.found;
    chain ??= loadChain();
    const found = chain.then((ask) => ask());
    const own = { found, sinceMs: nowMs() };
    const settle = (): void => {
      if (asking === own) asking = null;
    };
    found.then(settle, settle);
    asking = own;
    return found;
  }

  async function fetchKeys(): Promise<AwsKeys> {
    try {
      const found = await within(FETCH_TIMEOUT_MS, askOnce());
      const { accessKeyId, secretAccessKey, sessionToken = null } = found;
      const keys = { accessKeyId, secretAccessKey, sessionToken };
      current = { keys, expiresAtMs: found.expiration?.getTime() ?? Number.POSITIVE_INFINITY };
      return keys;
    } catch (error) {
      failedAtMs = nowMs();
      log.error({ reason: describe(error) }, 'no AWS credentials: calls to upstreams that are signed here are refused');
      throw new GatewayError('aws_credentials_unavailable', { cause: error });
    } finally {
      fetching = null;
    }
  }

  function readAmbient(): AwsKeys | Promise<AwsKeys> {
    const now = nowMs();
    if (current !== null && current.expiresAtMs - now > MARGIN_MS) {
      const isDue = current.expiresAtMs - now <= REFRESH_BEFORE_MS;
      if (isDue && fetching === null && now - failedAtMs >= REFRESH_RETRY_MS) {
        fetching = fetchKeys();
        fetching.catch(() => {}); // It is logged; the call goes on with what it has.
      }
      return current.keys;
    }
    if (fetching !== null) return fetching;
    if (now - failedAtMs < RETRY_MS) return Promise.reject(new GatewayError('aws_credentials_unavailable'));
    fetching = fetchKeys();
    return fetching;
  }

  return { read: ({ credentials }) => (credentials === 'ambient' ? readAmbient() : credentials) };
}

async function loadDefaultChain(): Promise<Chain> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
  const provider = defaultProvider();
  return () => provider({ forceRefresh: true });
}

function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`nothing was found within ${timeoutMs / 1000} s`)), timeoutMs);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

/** The command line of a failed credential process may hold a secret. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const [line = ''] = error.message.split('\n', 1);
  return /^Command failed/i.test(line) ? 'the credential process failed' : line.slice(0, 200);
}
