/**
 * One TLS handshake in memory. OpenSSL loads pairs that it cannot use: a key on a curve that no client offers, or a
 * certificate whose first line it misses, so that it shows the next one of the chain.
 */
import { duplexPair } from 'node:stream';
import { connect, type SecureContext, TLSSocket } from 'node:tls';

interface TlsError extends Error {
  /** OpenSSL's reason, without the line numbers of its source. */
  readonly reason?: string;
}

export function tryHandshake(secureContext: SecureContext): Promise<void> {
  const [left, right] = duplexPair();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const server = new TLSSocket(left, { isServer: true, secureContext });
  const client = connect({ socket: right });
  // The server's error has the reason; its client's may have none.
  server.on('error', (cause: TlsError) => reject(new Error(cause.reason ?? cause.message, { cause })));
  client.on('error', (error) => setImmediate(reject, error));
  // The handshake is over; whether this client trusts the certificate does not matter.
  client.once('secure', () => resolve());
  return promise.finally(() => {
    client.destroy();
    server.destroy();
  });
}
