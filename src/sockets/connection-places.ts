/**
 * Bounds the connections to a port with few places. Beyond the bound the one silent for longest is closed, so that new
 * requests are heard however many idle connections are held.
 */
import type { Socket } from 'node:net';
import { readPeerAddress } from './ip-address.ts';

export interface PlaceLimits {
  readonly proven: number;
  readonly unproven: number;
  /** Unproven connections of one address. */
  readonly unprovenPerClient: number;
}

export class ConnectionPlaces {
  readonly #limits: PlaceLimits;
  readonly #onClosed: (client: string) => void;
  readonly #proven = new Set<Socket>();
  /** With the client's address, in order of last activity. */
  readonly #unproven = new Map<Socket, string>();
  #arrived = new Set<Socket>();
  /** Just accepted: what they sent may be unread. */
  readonly #unread = new Set<Socket>();

  /** `onClosed` is told whose connection was closed for want of a place. */
  constructor(limits: PlaceLimits, onClosed: (client: string) => void) {
    this.#limits = limits;
    this.#onClosed = onClosed;
  }

  add(socket: Socket): void {
    this.#unproven.set(socket, readPeerAddress(socket.remoteAddress) ?? 'unknown');
    socket.once('close', () => {
      this.#unproven.delete(socket);
      this.#unread.delete(socket);
      this.#proven.delete(socket);
    });
    this.#unread.add(socket);
    this.#arrived.add(socket);
    if (this.#arrived.size > 1) return;
    // What was accepted in this turn is read in the next one, so judging waits until then.
    setImmediate(() => {
      const judged = this.#arrived;
      this.#arrived = new Set();
      setImmediate(() => this.#closeSilent(judged));
    });
  }

  /** Call at a request's head. `client`: who sent it through a trusted proxy's connection; null for the peer. */
  touch(socket: Socket, client: string | null): void {
    const wasProven = client !== null && this.#proven.delete(socket);
    const owner = client ?? this.#unproven.get(socket);
    if (owner === undefined || !(wasProven || this.#unproven.delete(socket))) return;
    this.#unproven.set(socket, owner);
  }

  prove(socket: Socket): void {
    if (!this.#unproven.has(socket) || this.#proven.size >= this.#limits.proven) return;
    this.#unproven.delete(socket);
    this.#proven.add(socket);
  }

  #closeSilent(judged: ReadonlySet<Socket>): void {
    for (const socket of judged) this.#unread.delete(socket);
    const candidates = [...this.#unproven].filter(([socket]) => !this.#unread.has(socket));
    const clients = new Map<string, number>();
    for (const [, client] of candidates) clients.set(client, (clients.get(client) ?? 0) + 1);
    let excess = candidates.length - this.#limits.unproven;
    for (const [socket, client] of candidates) {
      const held = clients.get(client) ?? 0;
      const isGreedy = held > this.#limits.unprovenPerClient;
      // Without any room, clients that hold most lose first.
      if (!isGreedy && !(excess > 0 && held >= Math.max(...clients.values()))) continue;
      clients.set(client, held - 1);
      excess -= 1;
      socket.destroy();
      this.#onClosed(client);
    }
  }
}
