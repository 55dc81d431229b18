/**
 * One handshake in memory, whoever vouches for the certificate. OpenSSL takes pairs that it then cannot use: a key on a curve that
 * no client offers, or a certificate whose first line it does not see, so that it shows the next one of the chain.
 */
import { duplexPair } from 'node:stream';
import { connect, type SecureContext, TLSSocket } from 'node:tls';

interface TlsError extends Error {
  /** OpenSSL's, without what its message has around it: numbers and lines of its source. */
  readonly reason?: string;
}

/** Rejects in OpenSSL's words. Nothing here waits for anybody. */
export function tryHandshake(secureContext: SecureContext): Promise<void> {
  const [left, right] = duplexPair();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const server = new TLSSocket(left, { isServer: true, secureContext });
  const client = connect({ socket: right });
  // The server knows why; its client only hears that it failed, or that all is at an end.
  server.on('error', (cause: TlsError) => reject(new Error(cause.reason ?? cause.message, { cause })));
  client.on('error', (error) => setImmediate(reject, error));
  // The end of the handshake: that this client does not trust the certificate, which it says next, is of no interest.
  client.once('secure', () => resolve());
  return promise.finally(() => {
    client.destroy();
    server.destroy();
  });
}
