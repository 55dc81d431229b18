/**
 * Whether a token opens the admin port, and how many wrong ones are taken from one client. A token of at least 32
 * characters cannot be found by trying, so the right one always counts, and a program that floods the port with wrong
 * ones keeps nobody out. With a shorter one, which a person may have thought up, a client that was wrong too often is
 * not heard at all until its minute is over.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { AdminAccess } from './admin-access.ts';

const WINDOW_MS = 60_000;
const MAX_FAILURES = 10;
/** Clients whose failures are remembered; the one that failed last the longest ago is forgotten. */
const MAX_CLIENTS = 1_000;
const STRONG_TOKEN_LENGTH = 32;

export type TokenVerdict =
  | { readonly kind: 'right' }
  | { readonly kind: 'wrong' }
  /** Wrong too often; further ones are taken after `waitMs`. */
  | { readonly kind: 'limited'; readonly waitMs: number };

export interface TokenCheck {
  /**
   * `expected`: the tokens that count here. `client`: its address; null when there is no connection (in-process tests).
   */
  readonly judge: (token: string, expected: readonly string[], client: string | null) => TokenVerdict;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Compares digests, so that neither content nor length shows in the time it takes. */
function isSame(token: string, expected: string): boolean {
  return timingSafeEqual(sha256(token), sha256(expected));
}

export function createTokenCheck(access: AdminAccess, nowMs: () => number = Date.now): TokenCheck {
  /** By client: times of its latest failures, the oldest first, never more than the limit. */
  const failures = new Map<string, readonly number[]>();

  function waitMsOf(client: string): number {
    const times = failures.get(client) ?? [];
    const [oldest] = times;
    if (oldest === undefined || times.length < MAX_FAILURES) return 0;
    return Math.max(0, oldest + WINDOW_MS - nowMs());
  }

  function noteFailure(client: string): void {
    const times = [...(failures.get(client) ?? []), nowMs()].slice(-MAX_FAILURES);
    failures.delete(client);
    failures.set(client, times);
    const [first] = failures.keys();
    if (failures.size > MAX_CLIENTS && first !== undefined) failures.delete(first);
  }

  return {
    judge: (token, expected, client) => {
      const waitMs = client === null ? 0 : waitMsOf(client);
      const mayHear = waitMs === 0 || expected.every(({ length }) => length >= STRONG_TOKEN_LENGTH);
      if (mayHear && expected.some((one) => isSame(token, one))) return { kind: 'right' };
      access.noteWrongToken(client ?? 'unknown');
      if (waitMs > 0) return { kind: 'limited', waitMs };
      if (client !== null) noteFailure(client);
      return { kind: 'wrong' };
    },
  };
}
