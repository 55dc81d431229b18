/**
 * The codes of one-time login links. They stand in the database, so that a link which one node has printed opens any
 * other; while the database is away a link is this process's own, and opens it alone.
 */
import { createHash, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { redeemLoginCode, storeLoginCode } from '../store/sign-ins.ts';

const CODE_LIFETIME_MS = 600_000;
/** More links than anyone opens; the oldest give way. */
const MAX_CODES = 100;

export interface LoginCodes {
  readonly create: () => Promise<{ readonly code: string; readonly expiresAtMs: number }>;
  /** True once for each code, in time. Throws when the code is not one of ours and the database does not answer. */
  readonly redeem: (code: string) => Promise<boolean>;
}

function digestOf(code: string): string {
  return createHash('sha256').update(code).digest('base64url');
}

/** `database`: null while it is not known to answer. `isDown`: whether an error says that it does not answer now. */
export function createLoginCodes(
  database: () => pg.Pool | null,
  isDown: (error: unknown) => boolean,
  nowMs: () => number = Date.now,
): LoginCodes {
  /** Those of this process alone, by digest, the oldest first. */
  const own = new Map<string, number>();

  function keep(digest: string): number {
    const expiresAtMs = nowMs() + CODE_LIFETIME_MS;
    own.set(digest, expiresAtMs);
    const [oldest] = own.keys();
    if (own.size > MAX_CODES && oldest !== undefined) own.delete(oldest);
    return expiresAtMs;
  }

  async function store(digest: string): Promise<number> {
    const pool = database();
    if (pool === null) return keep(digest);
    try {
      return await storeLoginCode(pool, { digest, lifetimeMs: CODE_LIFETIME_MS, limit: MAX_CODES });
    } catch (error) {
      if (isDown(error)) return keep(digest);
      throw error;
    }
  }

  return {
    create: async () => {
      const code = randomBytes(32).toString('base64url');
      return { code, expiresAtMs: await store(digestOf(code)) };
    },
    redeem: async (code) => {
      const digest = digestOf(code);
      const expiresAtMs = own.get(digest);
      own.delete(digest);
      if (expiresAtMs !== undefined) return nowMs() < expiresAtMs;
      const pool = database();
      return pool !== null && redeemLoginCode(pool, digest);
    },
  };
}
