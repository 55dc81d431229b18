/** The other end of the connection that a request came over, as the server hands it to the application. */

export interface Peer {
  /** Its address; null for a request that came over no connection. */
  readonly client: string | null;
  /** Its request had a credential that counts: the connection has a place of those that have. */
  readonly prove: () => void;
}

const NO_PEER: Peer = { client: null, prove: () => {} };

/** `bindings`: what the server passed along; anything else is no connection. */
export function readPeer(bindings: unknown): Peer {
  if (typeof bindings !== 'object' || bindings === null || !('peer' in bindings)) return NO_PEER;
  return isPeer(bindings.peer) ? bindings.peer : NO_PEER;
}

function isPeer(value: unknown): value is Peer {
  return typeof value === 'object' && value !== null && 'client' in value && 'prove' in value;
}
