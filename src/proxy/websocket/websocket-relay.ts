/**
 * Relays the bytes of a websocket in both directions, blind, each with its own back-pressure: who does not read makes
 * the other side wait, and nobody else. It looks at no frame; whoever taps it gets every chunk before it is passed on.
 * It ends exactly once, in one of the ways of `RelayEnding`, and then waits for `release`: the record comes first.
 */
import type { Duplex } from 'node:stream';
import type { KeyEnd } from '../key-end.ts';
import { FramePosition, writeCloseFrame } from './frame-position.ts';
import { closeGently } from './held-client.ts';

/** Without a byte in either direction. Providers and clients send pings far more often. */
const IDLE_MS = 15 * 60_000;
/** For the provider to close after the client has ended its side. */
const HALF_CLOSED_MS = 10_000;
/** For the rest of a frame of the provider, behind which the client is told why it ends. */
const LAST_FRAME_MS = 1_000;
/** "Policy violation" (RFC 6455 7.4.1). */
const POLICY_CODE = 1_008;
const KEY_REASONS: Readonly<Record<KeyEnd, string>> = {
  key_revoked: 'the gateway key was revoked',
  key_expired: 'the gateway key has expired',
};

export type RelayEnding =
  /** The provider ended its side properly. `isSecond`: after the client had ended its own, which was passed on. */
  | { readonly kind: 'provider-ended'; readonly isSecond: boolean }
  | { readonly kind: 'provider-cut'; readonly isSecond: boolean; readonly error: Error | null }
  | { readonly kind: 'client-gone' }
  | { readonly kind: 'idle' }
  | { readonly kind: 'shutdown' }
  /** `isTold`: the client can be told, since no frame of the provider is half sent. */
  | { readonly kind: 'key-ended'; readonly code: KeyEnd; readonly isTold: boolean };

export interface RelayTaps {
  readonly fromClient: (chunk: Buffer) => void;
  readonly fromProvider: (chunk: Buffer) => void;
  /** False when the client has certainly not said goodbye: then its end is not one to be passed on. */
  readonly mayHaveClosed: () => boolean;
}

export class WebsocketRelay {
  readonly ended: Promise<RelayEnding>;
  readonly keyDigest: string;
  readonly #client: Duplex;
  readonly #provider: Duplex;
  readonly #taps: RelayTaps;
  #resolveEnded: (ending: RelayEnding) => void = () => {};
  #ending: RelayEnding | null = null;
  #error: Error | null = null;
  #halfClosed: NodeJS.Timeout | null = null;
  /** Of what the client gets. */
  readonly #toClient = new FramePosition();
  /** The key has ended: nothing goes to the provider any more, and to the client only the frame that is under way. */
  #keyEnd: KeyEnd | null = null;
  #lastFrame: NodeJS.Timeout | null = null;
  readonly #idle: NodeJS.Timeout;

  constructor(client: Duplex, provider: Duplex, taps: RelayTaps, keyDigest: string) {
    this.keyDigest = keyDigest;
    this.#client = client;
    this.#provider = provider;
    this.#taps = taps;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#idle = setTimeout(() => this.#end({ kind: 'idle' }), IDLE_MS);
    provider.on('error', (error) => {
      this.#error = error;
    });
    provider.on('end', () => this.#end({ kind: 'provider-ended', isSecond: this.#halfClosed !== null }));
    provider.on('close', () => {
      this.#end({ kind: 'provider-cut', isSecond: this.#halfClosed !== null, error: this.#error });
    });
    client.on('end', () => this.#onClientEnd());
    client.on('close', () => this.#end({ kind: 'client-gone' }));
  }

  /** What each side has sent already goes first. */
  start(fromClient: readonly Buffer[], fromProvider: Buffer): void {
    if (fromProvider.length > 0) this.#pass(fromProvider, this.#provider, this.#client, this.#taps.fromProvider);
    for (const chunk of fromClient) this.#pass(chunk, this.#client, this.#provider, this.#taps.fromClient);
    this.#pump(this.#provider, this.#client, this.#taps.fromProvider);
    this.#pump(this.#client, this.#provider, this.#taps.fromClient);
  }

  /** The gateway stops: cuts the connection. */
  shutDown(): void {
    this.#end({ kind: 'shutdown' });
  }

  /** Tells the client why, once no frame of the provider is half sent. */
  endKey(code: KeyEnd): void {
    if (this.#ending !== null || this.#keyEnd !== null) return;
    this.#keyEnd = code;
    if (this.#toClient.isBetweenFrames) this.#end({ kind: 'key-ended', code, isTold: true });
    else this.#lastFrame = setTimeout(() => this.#end({ kind: 'key-ended', code, isTold: false }), LAST_FRAME_MS);
  }

  /** After the record was written. The provider's end is passed on; anything else breaks the client's connection. */
  release(): void {
    const ending = this.#ending ?? { kind: 'shutdown' };
    const { kind } = ending;
    if (ending.kind === 'key-ended' && ending.isTold && this.#client.writable) {
      this.#client.write(writeCloseFrame(POLICY_CODE, KEY_REASONS[ending.code]));
      closeGently(this.#client);
    } else if (kind === 'provider-ended') {
      this.#provider.end();
      this.#client.once('close', () => this.#provider.destroy());
      closeGently(this.#client);
    } else if (kind === 'provider-cut' && this.#client.writableLength > 0 && !this.#client.destroyed) {
      // What had come before the cut still arrives.
      closeGently(this.#client);
    } else {
      this.#client.destroy();
    }
  }

  #pump(from: Duplex, to: Duplex, tap: (chunk: Buffer) => void): void {
    from.on('data', (chunk: Buffer) => this.#pass(chunk, from, to, tap));
    to.on('drain', () => from.resume());
    if (!from.isPaused() || !to.writableNeedDrain) from.resume();
  }

  #pass(chunk: Buffer, from: Duplex, to: Duplex, tap: (chunk: Buffer) => void): void {
    if (this.#ending !== null) return;
    if (this.#keyEnd !== null) {
      if (to === this.#client) this.#passLastFrame(chunk, tap, this.#keyEnd);
      return;
    }
    this.#idle.refresh();
    if (to === this.#client) this.#toClient.advance(chunk);
    tap(chunk);
    if (to.writable && !to.write(chunk)) from.pause();
  }

  #passLastFrame(chunk: Buffer, tap: (chunk: Buffer) => void, code: KeyEnd): void {
    const rest = chunk.subarray(0, this.#toClient.finishFrame(chunk));
    tap(rest);
    if (this.#client.writable) this.#client.write(rest);
    if (this.#toClient.isBetweenFrames) this.#end({ kind: 'key-ended', code, isTold: true });
  }

  #onClientEnd(): void {
    if (this.#ending !== null) return;
    if (!this.#taps.mayHaveClosed()) {
      this.#end({ kind: 'client-gone' });
      return;
    }
    this.#provider.end();
    this.#halfClosed = setTimeout(() => this.#end({ kind: 'client-gone' }), HALF_CLOSED_MS);
  }

  #end(ending: RelayEnding): void {
    if (this.#ending !== null) return;
    this.#ending = ending;
    clearTimeout(this.#idle);
    if (this.#halfClosed !== null) clearTimeout(this.#halfClosed);
    if (this.#lastFrame !== null) clearTimeout(this.#lastFrame);
    if (ending.kind !== 'provider-ended') this.#provider.destroy();
    this.#resolveEnded(ending);
  }
}
