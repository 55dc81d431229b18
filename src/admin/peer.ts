/** Who sent a request, as the server hands it to the application. */

export interface Peer {
  /** Its address, behind trusted proxies too; null for a request that came over no connection. */
  readonly client: string | null;
  /** It reached a trusted proxy over TLS. */
  readonly isTls: boolean;
  /** Its request had a credential that counts: the connection has a place of those that have. */
  readonly prove: () => void;
}

const NO_PEER: Peer = { client: null, isTls: false, prove: () => {} };

/** `bindings`: what the server passed along; anything else is no connection. */
export function readPeer(bindings: unknown): Peer {
  if (typeof bindings !== 'object' || bindings === null || !('peer' in bindings)) return NO_PEER;
  return isPeer(bindings.peer) ? bindings.peer : NO_PEER;
}

function isPeer(value: unknown): value is Peer {
  return typeof value === 'object' && value !== null && 'client' in value && 'isTls' in value && 'prove' in value;
}
