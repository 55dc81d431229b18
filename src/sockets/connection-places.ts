/**
 * Who may hold a connection to a port that has few: so many that have shown a credential, so many that have not, and of
 * those at most so many of one client. Beyond it the one that has been silent longest is closed, so that whoever comes
 * and asks at once is heard, however many others hold their connections and say nothing.
 */
import type { Socket } from 'node:net';
import { readPeerAddress } from './ip-address.ts';

export interface PlaceLimits {
  /** Connections that have shown a credential. */
  readonly proven: number;
  /** Connections that have not, or not yet. */
  readonly unproven: number;
  /** Of those, from one address. */
  readonly unprovenPerClient: number;
}

export class ConnectionPlaces {
  readonly #limits: PlaceLimits;
  readonly #onClosed: (client: string) => void;
  readonly #proven = new Set<Socket>();
  /** With their client's address; the one that said something last is the last. */
  readonly #unproven = new Map<Socket, string>();
  /** Accepted in this turn of the event loop. */
  #arrived = new Set<Socket>();
  /** Accepted a moment ago: what they have sent was perhaps not read yet. */
  readonly #unread = new Set<Socket>();

  /** `onClosed`: a connection of this client was closed for want of a place. */
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
    // Many may be accepted in one turn of the event loop, and are read in the next: those who speak have spoken before
    // anyone of their turn is judged.
    setImmediate(() => {
      const judged = this.#arrived;
      this.#arrived = new Set();
      setImmediate(() => this.#closeSilent(judged));
    });
  }

  /**
   * It has sent a whole head of a request. `client`: whose request that is, on the connection of a trusted proxy, which
   * carries one client's after another's; each shows a credential of its own. Null: the other end's.
   */
  touch(socket: Socket, client: string | null): void {
    const wasProven = client !== null && this.#proven.delete(socket);
    const owner = client ?? this.#unproven.get(socket);
    if (owner === undefined || !(wasProven || this.#unproven.delete(socket))) return;
    this.#unproven.set(socket, owner);
  }

  /** Its request had a credential that counts. */
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
      // For want of room at all, those who hold most give way first.
      if (!isGreedy && !(excess > 0 && held >= Math.max(...clients.values()))) continue;
      clients.set(client, held - 1);
      excess -= 1;
      socket.destroy();
      this.#onClosed(client);
    }
  }
}
