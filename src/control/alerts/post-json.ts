/**
 * Posts to an address that a user gave: to public addresses only, unless the operator names the host. A name is judged by
 * the addresses that it leads to at the moment of connecting, so it cannot lead elsewhere afterwards. No redirect is followed.
 */
import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { createPublicTest, lookUpPublic, PrivateAddressError } from '../../sockets/public-addresses.ts';
import { chooseProxy, type EgressProxies } from '../../vocabulary/egress-proxy.ts';
import { readErrorCode } from '../../vocabulary/errors.ts';
import type { SendResult } from './alert-events.ts';

const LIMIT_MS = 15_000;
const isPublic = createPublicTest();

export interface Outgoing {
  readonly egress: EgressProxies;
  /** In lower case. */
  readonly allowedHosts: readonly string[];
}

const PRIVATE = 'it leads to an address that is not public; the operator may allow its host (TOLLGATE_ALERT_HOSTS)';

/** A sentence, or null when webhooks may be sent there as far as the address itself tells. */
export function findBadAddress(text: string, { allowedHosts }: Pick<Outgoing, 'allowedHosts'>): string | null {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return 'it must begin with https://';
  if (url.username !== '' || url.password !== '') return 'it may have no user name or password';
  if (allowedHosts.includes(url.hostname)) return null;
  if (url.protocol === 'http:')
    return 'it must begin with https://, unless the operator allows its host (TOLLGATE_ALERT_HOSTS)';
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) !== 0 && !isPublic(host)) return PRIVATE;
  if (host === 'localhost' || host.endsWith('.localhost')) return PRIVATE;
  return null;
}

export async function postJson(
  text: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  outgoing: Outgoing,
): Promise<SendResult> {
  const fault = findBadAddress(text, outgoing);
  if (fault !== null) return { isSent: false, status: null, error: `not sent: ${fault}` };
  const url = new URL(text);
  const proxy = chooseProxy(outgoing.egress, url.origin)?.href;
  const options = proxy === undefined ? {} : { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } };
  const isTls = url.protocol === 'https:';
  const agent = isTls ? new HttpsAgent(options) : new HttpAgent(options);
  const lookup = outgoing.allowedHosts.includes(url.hostname) ? {} : { lookup: lookUpPublic() };
  try {
    const status = await new Promise<number>((resolve, reject) => {
      const request = (isTls ? requestHttps : requestHttp)(
        url,
        {
          method: 'POST',
          agent,
          signal: AbortSignal.timeout(LIMIT_MS),
          headers: {
            'content-type': 'application/json',
            'user-agent': 'tollgate',
            'content-length': Buffer.byteLength(body),
            ...headers,
          },
          ...lookup,
        },
        (answer) => {
          // Nothing of the answer is kept or shown: it may be of a service that the user may not read.
          answer.on('error', () => {});
          answer.destroy();
          resolve(answer.statusCode ?? 0);
        },
      );
      request.on('error', reject);
      request.end(body);
    });
    const isSent = status >= 200 && status < 300;
    return { isSent, status, error: isSent ? null : `the receiver answered with status ${status}` };
  } catch (error) {
    if (error instanceof PrivateAddressError) return { isSent: false, status: null, error: `not sent: ${PRIVATE}` };
    const isLate = error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError');
    const reason = isLate ? `no answer within ${LIMIT_MS / 1_000} s` : (readErrorCode(error) ?? 'no connection');
    return { isSent: false, status: null, error: `the receiver could not be reached (${reason})` };
  } finally {
    agent.destroy();
  }
}
