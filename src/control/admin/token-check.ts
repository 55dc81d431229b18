/**
 * Checks tokens of the admin port and limits wrong ones. A token of at least 32 characters cannot be guessed, so it
 * always counts, even in a flood. With a shorter one, a client that was wrong too often must wait a minute.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { AdminAccess } from './admin-access.ts';

const WINDOW_MS = 60_000;
const MAX_FAILURES = 10;
/** The longest past failure is forgotten first. */
const MAX_CLIENTS = 1_000;
const STRONG_TOKEN_LENGTH = 32;

export type TokenVerdict =
  | { readonly kind: 'right' }
  | { readonly kind: 'wrong' }
  /** Was wrong too often; the next token counts after `waitMs`. */
  | { readonly kind: 'limited'; readonly waitMs: number };

export interface TokenCheck {
  /** `expected` are the valid tokens; `client` is null without a connection. */
  readonly judge: (token: string, expected: readonly string[], client: string | null) => TokenVerdict;
  /** How long `client` must wait; 0: it may try. For what is not a token but guessed at, too. */
  readonly waitMsOf: (client: string) => number;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Compares digests, so that the duration shows neither content nor length. */
function isSame(token: string, expected: string): boolean {
  return timingSafeEqual(sha256(token), sha256(expected));
}

export function createTokenCheck(access: AdminAccess, nowMs: () => number = Date.now): TokenCheck {
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
    waitMsOf,
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
