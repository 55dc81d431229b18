/**
 * A browser's session: a signed cookie that says until when it holds. Nothing is stored, so it outlives restarts; it is
 * signed with a key made from the admin token, so another token ends every session.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';

export const SESSION_COOKIE = 'tollgate_session';
const LIFETIME_SECONDS = 30 * 86_400;
const VALUE = /^(\d{1,12})\.[\w-]+$/;

export interface Sessions {
  /** Puts the cookie into the answer. `isSecure`: the browser is to send it over TLS only. */
  readonly begin: (c: Context, isSecure: boolean) => Promise<void>;
  readonly isValid: (c: Context) => Promise<boolean>;
  readonly end: (c: Context, isSecure: boolean) => void;
}

export function createSessions(adminToken: string, nowMs: () => number = Date.now): Sessions {
  const key = createHmac('sha256', adminToken).update('tollgate session cookie, version 1').digest();
  const attributes = (secure: boolean) => ({ path: '/', httpOnly: true, sameSite: 'Strict', secure }) as const;
  return {
    begin: async (c, isSecure) => {
      const expiresAt = Math.floor(nowMs() / 1_000) + LIFETIME_SECONDS;
      const value = `${expiresAt}.${randomBytes(16).toString('base64url')}`;
      await setSignedCookie(c, SESSION_COOKIE, value, key, { ...attributes(isSecure), maxAge: LIFETIME_SECONDS });
    },
    isValid: async (c) => {
      const value = await getSignedCookie(c, key, SESSION_COOKIE);
      const expiresAt = VALUE.exec(value === false ? '' : (value ?? ''))?.[1];
      return expiresAt !== undefined && nowMs() < Number(expiresAt) * 1_000;
    },
    end: (c, isSecure) => {
      deleteCookie(c, SESSION_COOKIE, attributes(isSecure));
    },
  };
}
