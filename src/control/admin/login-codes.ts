/** One-time login links. Their codes are in the database for all nodes; while that is away, in this process only. */
import { createHash, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { redeemLoginCode, storeLoginCode } from '../store/sign-ins.ts';

const CODE_LIFETIME_MS = 600_000;
const MAX_CODES = 100;

export interface LoginCodes {
  readonly create: () => Promise<{ readonly code: string; readonly expiresAtMs: number }>;
  /** True once for each valid code. Throws for a foreign code when the database does not answer. */
  readonly redeem: (code: string) => Promise<boolean>;
}

function digestOf(code: string): string {
  return createHash('sha256').update(code).digest('base64url');
}

/** `database` is null while away; `isDown` recognises its errors. */
export function createLoginCodes(
  database: () => pg.Pool | null,
  isDown: (error: unknown) => boolean,
  nowMs: () => number = Date.now,
): LoginCodes {
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
