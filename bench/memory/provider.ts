/** A provider that answers with what the scenario in force says and keeps a digest of what it was sent. */
import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Writable } from 'node:stream';
import { lengthOf, type Pieces } from './bodies.ts';
import type { Message } from './scenarios.ts';

export interface Seen {
  readonly bytes: number;
  readonly digest: string;
}

export interface Provider {
  readonly port: number;
  /** For the next call. */
  readonly setAnswer: (answer: Message) => void;
  /** The body of the last request; null when none came since `setAnswer`. */
  readonly seen: () => Seen | null;
  readonly close: () => Promise<void>;
}

/** Sends the pieces as fast as they are taken. */
export async function sendPieces(pieces: Pieces, target: Writable): Promise<void> {
  for (const piece of pieces()) {
    if (target.destroyed) return;
    if (!target.write(piece)) await drained(target);
  }
  target.end();
}

function drained(target: Writable): Promise<void> {
  return new Promise((resolve) => {
    function settle(): void {
      target.off('drain', settle);
      target.off('close', settle);
      resolve();
    }
    target.on('drain', settle);
    target.on('close', settle);
  });
}

export function digestOf(pieces: Pieces): Seen {
  const hash = createHash('sha256');
  let bytes = 0;
  for (const piece of pieces()) {
    hash.update(piece);
    bytes += piece.length;
  }
  return { bytes, digest: hash.digest('hex') };
}

export function headersOf({ headers, framing, pieces }: Message): string[] {
  const length = framing === 'length' ? ['content-length', String(lengthOf(pieces))] : ['transfer-encoding', 'chunked'];
  return [...headers.flat(), ...length];
}

/** Digests what passes. */
export function createDigest(): { readonly update: (piece: Buffer) => void; readonly done: () => Seen } {
  const hash: Hash = createHash('sha256');
  let bytes = 0;
  return {
    update: (piece) => {
      hash.update(piece);
      bytes += piece.length;
    },
    done: () => ({ bytes, digest: hash.digest('hex') }),
  };
}

export async function startProvider(): Promise<Provider> {
  let answer: Message | null = null;
  let seen: Seen | null = null;
  const server = createServer({ maxHeaderSize: 128 * 1024 }, (incoming, outgoing) => {
    const digest = createDigest();
    incoming.on('data', digest.update);
    incoming.once('end', () => {
      seen = digest.done();
      if (answer === null) return;
      outgoing.writeHead(200, headersOf(answer));
      void sendPieces(answer.pieces, outgoing); // It ends with the connection at the latest.
    });
  });
  server.requestTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    setAnswer: (next) => {
      answer = next;
      seen = null;
    },
    seen: () => seen,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
