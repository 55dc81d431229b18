/** Ends open websockets and streams whose key was revoked or expired, and other answers where so configured. */
import { GatewayError } from '../vocabulary/errors.ts';
import type { AnswerHead } from './answer-head.ts';
import { type KeyHolder, requireGoodKey } from './authenticate.ts';
import type { Gateway } from './gateway.ts';
import { endPausedConnections } from './pauses.ts';
import type { Route } from './route.ts';

/** How often keys of open calls are checked for expiry; revocations act at once. */
const SWEEP_MS = 500;
/** In addition to endpoints that always stream. */
const STREAM_TYPES = /^(?:text\/event-stream|application\/(?:vnd\.amazon\.eventstream|x-ndjson|jsonl|stream\+json))/i;

/**
 * Why an open call is ended before its time. The last four end websockets only: their client asks for what the key does
 * not allow, or its next turn must not be sent.
 */
export type KeyEnd =
  | 'key_revoked'
  | 'key_expired'
  | 'run_token_ended'
  | 'model_not_allowed'
  | 'paused'
  | 'budget_exceeded'
  | 'rate_limit_exceeded';

function readKeyEnd(digest: string, keys: KeyHolder, nowMs: number): KeyEnd | null {
  try {
    requireGoodKey(digest, keys, nowMs);
    return null;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    // A missing snapshot says nothing; a key that is no longer listed was revoked.
    if (error.code === 'not_ready') return null;
    return error.code === 'key_expired' || error.code === 'run_token_ended' ? error.code : 'key_revoked';
  }
}

export function isStream({ endpoint }: Route, head: AnswerHead): boolean {
  return endpoint.streamed === true || STREAM_TYPES.test(head.header('content-type')?.trim() ?? '');
}

/** Call whenever keys have changed. */
export function endCallsOfEndedKeys({ openCalls, keys, clock }: Gateway): void {
  if (openCalls.size === 0) return;
  const nowMs = clock.nowMs();
  for (const call of openCalls) {
    const end = readKeyEnd(call.keyDigest, keys, nowMs);
    if (end !== null) call.endKey(end);
  }
}

/** Starts checking for expired keys and paused connections. Returns the function that stops it. */
export function watchKeys(gateway: Gateway): () => void {
  const sweep = setInterval(() => {
    endCallsOfEndedKeys(gateway);
    endPausedConnections(gateway);
  }, SWEEP_MS);
  sweep.unref();
  return () => clearInterval(sweep);
}
