/** The codes of one-time login links: in memory only, so a restart of the control process ends them all. */
import { createHash, randomBytes } from 'node:crypto';

const CODE_LIFETIME_MS = 600_000;
/** More links than anyone opens; the oldest give way. */
const MAX_CODES = 100;

export interface LoginCodes {
  readonly create: () => { readonly code: string; readonly expiresAtMs: number };
  /** True once for each code, in time. */
  readonly redeem: (code: string) => boolean;
}

function digestOf(code: string): string {
  return createHash('sha256').update(code).digest('base64');
}

export function createLoginCodes(nowMs: () => number = Date.now): LoginCodes {
  /** By digest, the oldest first: what is compared tells nothing of a code by the time that it takes. */
  const codes = new Map<string, number>();
  return {
    create: () => {
      const code = randomBytes(32).toString('base64url');
      const expiresAtMs = nowMs() + CODE_LIFETIME_MS;
      codes.set(digestOf(code), expiresAtMs);
      const [oldest] = codes.keys();
      if (codes.size > MAX_CODES && oldest !== undefined) codes.delete(oldest);
      return { code, expiresAtMs };
    },
    redeem: (code) => {
      const digest = digestOf(code);
      const expiresAtMs = codes.get(digest);
      codes.delete(digest);
      return expiresAtMs !== undefined && nowMs() < expiresAtMs;
    },
  };
}
