/**
 * Relays the bytes of a websocket in both directions with back-pressure, each chunk to the tap first. A chunk of the
 * provider's waits until the turns that it ends are recorded, with the provider paused meanwhile. Ends exactly once, as a `RelayEnding`, then waits for `release`, so that the record comes first.
 */
import type { Duplex } from 'node:stream';
import type { KeyEnd } from '../key-end.ts';
import type { PauseSubject } from '../pauses.ts';
import { FramePosition, writeCloseFrame, writeTextFrame } from './frame-position.ts';
import type { ClientGuard, ClientRefusal } from './model-guard.ts';
import { closeGently } from './pending-client.ts';

/** Without a byte in either direction; pings come far more often. */
const IDLE_MS = 15 * 60_000;
/** Time for the provider to close after the client's end. */
const HALF_CLOSED_MS = 10_000;
/** Time for the rest of a provider's frame, after which the client is told why it ends. */
const LAST_FRAME_MS = 1_000;
/** "Policy violation" (RFC 6455 7.4.1). */
const POLICY_CODE = 1_008;
const KEY_REASONS: Readonly<Record<KeyEnd, string>> = {
  key_revoked: 'the gateway key was revoked',
  key_expired: 'the gateway key has expired',
  run_token_ended: 'the run token has ended',
  rate_limit_exceeded: 'a limit of the gateway is reached, try again later',
  model_not_allowed: 'the gateway key does not allow this model',
  paused: 'calls of this run or key are paused',
  budget_exceeded: 'a budget refuses this turn',
};

export type RelayEnding =
  /** `isSecond`: the client had ended its side before. */
  | { readonly kind: 'provider-ended'; readonly isSecond: boolean }
  | { readonly kind: 'provider-cut'; readonly isSecond: boolean; readonly error: Error | null }
  | { readonly kind: 'client-gone' }
  | { readonly kind: 'idle' }
  | { readonly kind: 'shutdown' }
  /** `isTold`: the client can be told, since no provider frame is half sent. */
  | { readonly kind: 'key-ended'; readonly code: KeyEnd; readonly isTold: boolean };

export interface RelayTaps {
  /** Called just before the chunk is written to the provider, and for no other. */
  readonly fromClient: (chunk: Buffer) => void;
  /** Resolves when the chunk may be passed on, since what it ends is recorded; null: at once. Never rejects. */
  readonly fromProvider: (chunk: Buffer) => Promise<void> | null;
  /** False when the client surely sent no close frame, so its end is not passed on. */
  readonly mayHaveClosed: () => boolean;
}

export class WebsocketRelay {
  readonly ended: Promise<RelayEnding>;
  readonly keyDigest: string;
  readonly subject: PauseSubject;
  readonly #client: Duplex;
  readonly #provider: Duplex;
  readonly #taps: RelayTaps;
  /** Null where the client may say anything. */
  readonly #guard: ClientGuard | null;
  #refusal: ClientRefusal | null = null;
  #resolveEnded: (ending: RelayEnding) => void = () => {};
  #ending: RelayEnding | null = null;
  #error: Error | null = null;
  #halfClosed: NodeJS.Timeout | null = null;
  readonly #toClient = new FramePosition();
  /** The key has ended: only the rest of the current provider frame is still passed on. */
  #keyEnd: KeyEnd | null = null;
  /** It has ended, and what is held goes out first. */
  #endDue: KeyEnd | null = null;
  #lastFrame: NodeJS.Timeout | null = null;
  /** Chunks of the provider's that may not be passed on yet. The provider is paused, so that they are few. */
  #held: Buffer[] = [];
  /** Chunks of the client's whose first is being judged. The client is paused, so that they are few. */
  #unjudged: Buffer[] | null = null;
  #unrecorded = 0;
  readonly #idle: NodeJS.Timeout;

  constructor(
    client: Duplex,
    provider: Duplex,
    taps: RelayTaps,
    keyDigest: string,
    subject: PauseSubject,
    guard: ClientGuard | null = null,
  ) {
    this.keyDigest = keyDigest;
    this.subject = subject;
    this.#client = client;
    this.#provider = provider;
    this.#taps = taps;
    this.#guard = guard;
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

  /** Passes what each side sent early, then starts relaying. */
  start(fromClient: readonly Buffer[], fromProvider: Buffer): void {
    if (fromProvider.length > 0) this.#passToClient(fromProvider);
    for (const chunk of fromClient) this.#passToProvider(chunk);
    this.#client.on('data', (chunk: Buffer) => this.#passToProvider(chunk));
    this.#provider.on('drain', () => this.#resumeClient());
    this.#provider.on('data', (chunk: Buffer) => this.#passToClient(chunk));
    this.#client.on('drain', () => this.#resumeProvider());
    this.#resumeClient();
    this.#resumeProvider();
  }

  shutDown(): void {
    this.#end({ kind: 'shutdown' });
  }

  /** Closes with the reason once no provider frame is half sent. */
  endKey(code: KeyEnd): void {
    if (this.#ending !== null || this.#keyEnd !== null) return;
    if (this.#held.length > 0) {
      this.#endDue ??= code;
      return;
    }
    this.#keyEnd = code;
    if (this.#toClient.isBetweenFrames) this.#end({ kind: 'key-ended', code, isTold: true });
    else this.#lastFrame = setTimeout(() => this.#end({ kind: 'key-ended', code, isTold: false }), LAST_FRAME_MS);
  }

  /** Call after the record was written. Passes on the provider's end; any other ending breaks the connection. */
  release(): void {
    this.#writeHeld();
    const ending = this.#ending ?? { kind: 'shutdown' };
    const { kind } = ending;
    if (ending.kind === 'key-ended' && ending.isTold && this.#client.writable) {
      const lastWords = this.#refusal?.lastWords ?? null;
      if (lastWords !== null) this.#client.write(writeTextFrame(lastWords));
      this.#client.write(writeCloseFrame(POLICY_CODE, KEY_REASONS[ending.code]));
      closeGently(this.#client);
    } else if (kind === 'provider-ended') {
      this.#provider.end();
      this.#client.once('close', () => this.#provider.destroy());
      closeGently(this.#client);
    } else if (kind === 'provider-cut' && this.#client.writableLength > 0 && !this.#client.destroyed) {
      // Bytes from before the cut still arrive.
      closeGently(this.#client);
    } else {
      this.#client.destroy();
    }
  }

  /** Nothing of the client's is passed on any more. */
  get #isClientCut(): boolean {
    return this.#ending !== null || this.#keyEnd !== null || this.#endDue !== null;
  }

  #passToProvider(chunk: Buffer): void {
    if (this.#isClientCut) return;
    this.#idle.refresh();
    if (this.#unjudged !== null) {
      this.#unjudged.push(chunk);
      return;
    }
    const verdict = this.#refusal ?? this.#guard?.(chunk) ?? null;
    if (!(verdict instanceof Promise)) {
      this.#passJudged(chunk, verdict);
      return;
    }
    this.#unjudged = [];
    this.#client.pause();
    // It never rejects.
    void verdict.then((late) => {
      const later = this.#unjudged ?? [];
      this.#unjudged = null;
      if (this.#isClientCut) return;
      this.#passJudged(chunk, late);
      for (const next of later) this.#passToProvider(next);
      this.#resumeClient();
    });
  }

  #passJudged(chunk: Buffer, refusal: ClientRefusal | null): void {
    this.#refusal ??= refusal;
    if (this.#refusal !== null) {
      this.endKey(this.#refusal.code);
      return;
    }
    // What cannot be sent any more is no turn that could cost something.
    if (!this.#provider.writable) return;
    this.#taps.fromClient(chunk);
    if (!this.#provider.write(chunk)) this.#client.pause();
  }

  #resumeClient(): void {
    if (this.#unjudged === null && !this.#provider.writableNeedDrain) this.#client.resume();
  }

  #passToClient(chunk: Buffer): void {
    if (this.#ending !== null) return;
    if (this.#keyEnd !== null) {
      this.#passLastFrame(chunk, this.#keyEnd);
      return;
    }
    this.#idle.refresh();
    const recorded = this.#taps.fromProvider(chunk);
    this.#held.push(chunk);
    if (recorded !== null) {
      this.#unrecorded += 1;
      this.#provider.pause();
      // It never rejects.
      void recorded.then(() => {
        this.#unrecorded -= 1;
        this.#passHeld();
      });
    }
    this.#passHeld();
  }

  #passHeld(): void {
    if (this.#unrecorded > 0 || this.#ending !== null) return;
    this.#writeHeld();
    if (this.#endDue !== null) this.endKey(this.#endDue);
    this.#resumeProvider();
  }

  #writeHeld(): void {
    for (const chunk of this.#held.splice(0)) {
      this.#toClient.advance(chunk);
      if (this.#client.writable) this.#client.write(chunk);
    }
  }

  #resumeProvider(): void {
    if (this.#held.length > 0 || this.#client.writableNeedDrain) this.#provider.pause();
    else this.#provider.resume();
  }

  /** The connection is over with this frame, so that it does not wait. */
  #passLastFrame(chunk: Buffer, code: KeyEnd): void {
    const rest = chunk.subarray(0, this.#toClient.finishFrame(chunk));
    void this.#taps.fromProvider(rest);
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
