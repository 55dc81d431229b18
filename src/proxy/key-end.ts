/**
 * What becomes of calls that are open when their key is revoked or expires. Websockets and streams end: they could go
 * on for hours. Other answers end only where the operator has said so, since their call is paid for and about to be
 * over. New calls are `authenticate.ts`'s business.
 */
import { GatewayError } from '../errors.ts';
import type { AnswerHead } from './answer-head.ts';
import { findKey, type KeyHolder } from './authenticate.ts';
import type { Gateway } from './gateway.ts';
import type { Route } from './route.ts';

/** How often open calls are looked over for keys that have expired meanwhile; a revocation is acted on at once. */
const SWEEP_MS = 500;
/** Besides those that are streams by their endpoint. */
const STREAM_TYPES = /^(?:text\/event-stream|application\/(?:vnd\.amazon\.eventstream|x-ndjson|jsonl|stream\+json))/i;

export type KeyEnd = 'key_revoked' | 'key_expired';

/** Null while the key is good. */
function readKeyEnd(digest: string, keys: KeyHolder, nowMs: number): KeyEnd | null {
  try {
    findKey(digest, keys, nowMs);
    return null;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    // Without a snapshot nothing is known; a key that is in none any more was there once.
    if (error.code === 'not_ready') return null;
    return error.code === 'key_expired' ? 'key_expired' : 'key_revoked';
  }
}

export function isStream({ endpoint }: Route, head: AnswerHead): boolean {
  return endpoint.streamed === true || STREAM_TYPES.test(head.header('content-type')?.trim() ?? '');
}

/** Ends the calls that are to end with their key. To be called when keys have changed. */
export function endCallsOfEndedKeys({ openCalls, keys, clock }: Gateway): void {
  if (openCalls.size === 0) return;
  const nowMs = clock.nowMs();
  for (const call of openCalls) {
    const end = readKeyEnd(call.keyDigest, keys, nowMs);
    if (end !== null) call.endKey(end);
  }
}

/** Looks for keys that expire. Returns what ends the looking. */
export function watchKeys(gateway: Gateway): () => void {
  const sweep = setInterval(() => endCallsOfEndedKeys(gateway), SWEEP_MS);
  sweep.unref();
  return () => clearInterval(sweep);
}
