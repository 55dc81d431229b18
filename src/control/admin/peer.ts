/** The sender of a request, as the server passes it to the application. */

export interface Peer {
  /** The client's address, behind trusted proxies too; null without a connection. */
  readonly client: string | null;
  readonly isTls: boolean;
  /** Moves the connection to the places of those with a credential. */
  readonly prove: () => void;
}

const NO_PEER: Peer = { client: null, isTls: false, prove: () => {} };

/** Other `bindings` mean no connection. */
export function readPeer(bindings: unknown): Peer {
  if (typeof bindings !== 'object' || bindings === null || !('peer' in bindings)) return NO_PEER;
  return isPeer(bindings.peer) ? bindings.peer : NO_PEER;
}

function isPeer(value: unknown): value is Peer {
  return typeof value === 'object' && value !== null && 'client' in value && 'isTls' in value && 'prove' in value;
}
