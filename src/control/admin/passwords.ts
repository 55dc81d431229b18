/** Passwords of people, by scrypt. One is computed at a time, since each takes 64 MiB. */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { ApiError } from './api-error.ts';

export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 256;

/** Of OWASP's Password Storage Cheat Sheet (November 2026): N = 2^16, r = 8, p = 2. */
const COST = { ln: 16, r: 8, p: 2 } as const;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const MAX_WAITING = 8;
/** The PHC string format. */
const STORED = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w-]+)\$([\w-]+)$/;

export interface Passwords {
  readonly hash: (password: string) => Promise<string>;
  /** Takes as long for a `stored` of null, so that nobody learns which people there are. */
  readonly verify: (password: string, stored: string | null) => Promise<boolean>;
}

interface Cost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

function derive(password: string, salt: Buffer, { ln, r, p }: Cost): Promise<Buffer> {
  const N = 2 ** ln;
  const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r };
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  scrypt(password.normalize('NFC'), salt, HASH_BYTES, options, (error, key) => (error ? reject(error) : resolve(key)));
  return promise;
}

export function createPasswords(): Passwords {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const nobody = randomBytes(SALT_BYTES);

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (waiting >= MAX_WAITING)
      throw new ApiError(429, 'too_many_attempts', 'Too many sign-ins by password at a time. Try again in a moment.');
    waiting += 1;
    const turn = last.then(work);
    last = turn.catch(() => {}).then(() => (waiting -= 1));
    return turn;
  }

  return {
    hash: async (password) => {
      const salt = randomBytes(SALT_BYTES);
      const key = await inTurn(() => derive(password, salt, COST));
      return `$scrypt$ln=${COST.ln},r=${COST.r},p=${COST.p}$${salt.toString('base64url')}$${key.toString('base64url')}`;
    },
    verify: async (password, stored) => {
      const [, ln, r, p, salt, expected] = STORED.exec(stored ?? '') ?? [];
      if (salt === undefined || expected === undefined) {
        await inTurn(() => derive(password, nobody, COST));
        return false;
      }
      const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
      const key = await inTurn(() => derive(password, Buffer.from(salt, 'base64url'), cost));
      const kept = Buffer.from(expected, 'base64url');
      return kept.length === key.length && timingSafeEqual(kept, key);
    },
  };
}
